"""What hooks are, what they may say, and what comes of it. Pure: the programs are run elsewhere."""
