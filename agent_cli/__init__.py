"""agent-cli: an interactive terminal coding agent.

Nothing is imported here: a front end pays only for what it uses.
"""

__version__ = "0.1.0"
