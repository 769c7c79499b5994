"""Values: messages, events, commands, errors, usage. Nothing here awaits, reads or knows the time."""
