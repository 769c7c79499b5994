"""`--no-tui`: a conversation line by line, for dumb terminals, screen readers, and pipes with a person at their end."""
