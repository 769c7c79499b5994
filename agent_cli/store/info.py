"""What is known of a session without reading its log, and how people name one."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.kernel.errors import NameTaken, SessionNotFound, StoreError
from agent_cli.kernel.values import Plain

NEAR = 3


class SessionInfo(Plain, frozen=True):
    """`created` and `updated` are seconds since the epoch, of the first and the last event.

    `title` is the first line of the first message; `name` is what the operator called the session, or "".
    `model` is the one it used last, with its provider, as `--model` takes it.
    """

    id: str
    title: str = ""
    name: str = ""
    cwd: str = ""
    model: str = ""
    created: float = 0.0
    updated: float = 0.0
    events: int = 0
    turns: int = 0


class Found(Plain, frozen=True):
    """Where something was said: the session, the entry, and the words around it."""

    session: SessionInfo
    seq: int
    around: str


def choose(wanted: str, known: Sequence[SessionInfo]) -> SessionInfo:
    """The session of that id, else of that name, else the only one whose id begins so.

    `known` holds the latest first. Raises SessionNotFound naming the nearest ones.
    """
    for info in known:
        if info.id == wanted:
            return info
    for info in known:
        if info.name and info.name == wanted:
            return info
    fitting = [info for info in known if wanted and info.id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise SessionNotFound(
            f"{len(fitting)} sessions begin with '{wanted}', so it is not clear which one is meant. "
            f"Give more of the id: {_listed(fitting)}."
        )
    raise SessionNotFound(f"There is no session '{wanted}'. {_hint(wanted, known)}")


def not_found(session: str) -> SessionNotFound:
    return SessionNotFound(
        f"There is no session '{session}'. `agent-cli sessions list` shows those there are."
    )


def exists(session: str) -> StoreError:
    return StoreError(f"There is a session '{session}' already. Go on with it, or choose another id.")


def taken(name: str) -> NameTaken:
    return NameTaken(
        f"Another session is called '{name}' already, and the name could not tell them apart. "
        "Choose another name."
    )


def _hint(wanted: str, known: Sequence[SessionInfo]) -> str:
    if not known:
        return "Nothing has been recorded here yet; start without --resume."
    near = _nearest(wanted, known)
    if near:
        return f"Near: {_listed(near)}."
    return f"The latest are {_listed(known)}."


def _nearest(wanted: str, known: Sequence[SessionInfo]) -> list[SessionInfo]:
    import difflib

    labels: dict[str, SessionInfo] = {}
    for info in known:
        for label in (info.id, info.id[: len(wanted)], info.name, info.title):
            if label:
                labels.setdefault(label.lower(), info)
    close = difflib.get_close_matches(wanted.lower(), labels, n=2 * NEAR, cutoff=0.6)
    return list({labels[label].id: labels[label] for label in close}.values())


def _listed(infos: Sequence[SessionInfo]) -> str:
    shown = [f"{info.id} ({info.name or info.title or 'no message yet'})" for info in infos[:NEAR]]
    more = len(infos) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
