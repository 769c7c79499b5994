"""What kill switches stop: a run as a whole, or single tools. Where they cannot be read, everything is stopped. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.switching import KillSwitch

NAME = "kill_switch"
EVERY_TOOL = "*"
Switches: TypeAlias = Callable[[], tuple[KillSwitch, ...]]
"""Those that are on now. Cheap enough to be asked before every dispatch. Raises StoreError."""


class Place(NamedTuple):
    """What scopes are compared with: the id of a session, its kind of work, the directories that it works in, and its
    permission mode.
    """

    session: str
    task: str
    directories: tuple[str, ...]
    mode: str = ""


class Killed(NamedTuple):
    """Why nothing of a run is dispatched any more. `since` is seconds since the epoch, 0 where nobody knows.

    `unavailable` says that the switches cannot be read.
    """

    scope: str
    reason: str
    since: float = 0.0
    unavailable: bool = False

    @property
    def how(self) -> str:
        """What lets it go on."""
        if self.unavailable:
            return "make the session database readable, then start again with --continue"
        return f"agent-cli kill-switch off --scope {self.scope}"


def none_on() -> tuple[KillSwitch, ...]:
    """Where there are no switches."""
    return ()


def killed(switches: Switches, place: Place) -> Killed | None:
    """What stops the run as a whole."""
    try:
        on = switches()
    except StoreError as problem:
        return Killed("unavailable", f"the kill switch cannot be read ({problem})", unavailable=True)
    hit = next((switch for switch in on if covers(switch.scope, place)), None)
    return None if hit is None else Killed(hit.scope, reason_of(hit), hit.at)


def closed_tools(switches: Switches, place: Place) -> tuple[tuple[str, str], ...]:
    """Pairs of a tool's name and the reason why it is not run; EVERY_TOOL where the whole run is stopped."""
    on: tuple[KillSwitch, ...] = ()

    def once() -> tuple[KillSwitch, ...]:
        nonlocal on
        on = switches()
        return on

    stopped = killed(once, place)
    if stopped is not None:
        return ((EVERY_TOOL, stopped.reason),)
    tools = [(switch.scope.removeprefix("tool:"), switch) for switch in on]
    return tuple((name, reason_of(switch)) for name, switch in tools if name != switch.scope)


def covers(scope: str, place: Place) -> bool:
    """Whether the switch stops that run as a whole."""
    kind, _, name = scope.partition(":")
    match kind:
        case "all":
            return True
        case "session":
            return name == place.session
        case "task":
            return name == place.task
        case "mode":
            return name == place.mode
        case "project":
            return any(_within(directory, name) for directory in place.directories)
        case _:
            return False


def reason_of(switch: KillSwitch) -> str:
    return f"kill switch {switch.scope} is on, by {switch.by}: {switch.why}"


def _within(directory: str, project: str) -> bool:
    return directory == project or directory.startswith(project.rstrip("/\\") + "/")
