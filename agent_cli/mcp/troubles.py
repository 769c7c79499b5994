"""What went wrong with a server, in words."""

from __future__ import annotations

from typing import Any

LONGEST = 400
UNREACHED = frozenset({"ConnectError", "ConnectTimeout", "ReadError", "RemoteProtocolError", "ReadTimeout"})
"""Errors of httpx2, which is not imported for them."""


class Ended(Exception):
    """The connection to a server is over; says why."""


def leaf(problem: BaseException) -> BaseException:
    """What is at the bottom of a group: task groups wrap what went wrong in them."""
    inner: tuple[BaseException, ...] = getattr(problem, "exceptions", ())
    return leaf(inner[0]) if inner else problem


def told(problem: BaseException, said: str = "") -> str:
    """One line; `said` is what the server wrote last by itself."""
    found = leaf(problem)
    match found:
        case FileNotFoundError():
            what = f"there is no program {found.filename!r} on its PATH" if found.filename else str(found)
        case PermissionError():
            what = f"{found.filename} may not be run: {found.strerror}"
        case TimeoutError():
            what = "it did not answer in time"
        case Ended():
            what = str(found)
        case ValueError() if type(found).__name__ == "ValidationError":
            what = f"what it sent does not fit the protocol: {_misfit(found)}"
        case _ if type(found).__name__ in UNREACHED:
            what = f"it cannot be reached: {str(found).strip() or type(found).__name__}"
        case _:
            name, text = type(found).__name__, str(found).strip().partition("\n")[0]
            what = text if name == "MCPError" and text else f"{name}: {text}" if text else name
    last = f"; the last it said: {said}" if said else ""
    return f"{what}{last}"[:LONGEST]


def _misfit(problem: Any) -> str:
    """The first thing that is wrong, and where; the SDK reads messages with pydantic."""
    first = problem.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def is_lasting(problem: BaseException) -> bool:
    """Whether trying again cannot help."""
    return isinstance(leaf(problem), FileNotFoundError | PermissionError | NotADirectoryError)
