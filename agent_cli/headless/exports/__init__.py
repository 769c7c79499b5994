"""A recorded session as a file: JSONL that can be imported again, Markdown and HTML to read, a run's trajectory."""
