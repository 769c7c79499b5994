"""agent-cli: an interactive terminal coding agent.

Nothing is imported here: a front end pays only for what it uses.
"""
