"""What stands in the transcript: one kind of item a file. Items make their lines only when they come near the screen."""
