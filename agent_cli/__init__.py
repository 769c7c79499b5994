"""agent-cli: an interactive terminal coding agent.

As a library: `from agent_cli import Agent, Session`. Nothing is imported before it is asked for: a front end pays
only for what it uses.
"""

__version__ = "0.1.0"

_PLACES = {
    "Agent": "agent_cli.compose.agent",
    "Reply": "agent_cli.compose.agent",
    "ContextStats": "agent_cli.compose.reductions",
    "Session": "agent_cli.engine.session",
    "SubtaskResult": "agent_cli.engine.subtasks",
    "SubtaskSpec": "agent_cli.engine.subtasks",
    "AgentError": "agent_cli.kernel.errors",
    "TurnInFlightError": "agent_cli.kernel.errors",
}
"""What programs may import from here, and where it is; `__init__.pyi` says the same to type checkers."""


def __getattr__(name: str) -> object:
    """Named as text, so that no room is below this one."""
    if name not in _PLACES:
        raise AttributeError(f"module 'agent_cli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_PLACES]
