"""Tools of the engine's own: what records facts, asks the operator or runs a subtask, which no tool of the world may."""
