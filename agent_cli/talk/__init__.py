"""What front ends with a person have in common: slash commands, and the words for what happens. It draws nothing."""
