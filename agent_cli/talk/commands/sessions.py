"""Other sessions: going on with one, beginning one, naming and writing out this one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from agent_cli.kernel import events as ev
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet
from agent_cli.talk.commands.rewind import files_at, message_at, no_such
from agent_cli.talk.door import Door, Form, Known, Sessions
from agent_cli.talk.stage import Picking, Row, Wish

NOWHERE = Note("No sessions are kept here.", "warning")
BUSY = "A turn is running, and it would be stopped: /interrupt it first, or wait."
FORK = (
    "/fork [N|@ENTRY]: as it was before your message N, numbered as /rewind lists them; or up to an entry, numbered as "
    "`sessions search` does."
)
FORMS: dict[str, Form] = {
    "md": "markdown", "markdown": "markdown", "html": "html", "jsonl": "jsonl",
}  # fmt: skip
ENDINGS: dict[Form, str] = {"markdown": "md", "html": "html", "jsonl": "jsonl"}


def picking(
    sessions: Sessions,
    here: str,
    chosen: Callable[[str], None],
    left: Callable[[], None] | None = None,
    cwd: str = "",
) -> Picking:
    """The list of sessions without the one that is open; a directory that is not `cwd` is shown."""
    place = os.path.realpath(cwd) if cwd else ""

    def rows() -> list[Row]:
        return [row_of(known, time.time(), place) for known in sessions.listed() if known.id != here]

    return Picking(
        "Go on with which session?", rows, chosen, "there is no other session", sessions.preview, left=left
    )


def row_of(known: Known, now: float, cwd: str) -> Row:
    turns = f"{known.turns} turn{'s' * (known.turns != 1)}"
    elsewhere = f"in {known.cwd}" if known.cwd and known.cwd != cwd else ""
    facts = (age(now - known.updated), turns, known.model.rpartition("/")[2], elsewhere)
    note = " · ".join(filter(None, facts))
    label = known.name or known.title or "(nothing said yet)"
    return Row(known.id, label, note, f"{known.id} {known.title} {known.cwd}")


def age(seconds: float) -> str:
    """As one number and its unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def _resume(host: Host, rest: str) -> Answer | None:
    if host.sources.sessions is None:
        return NOWHERE
    if _busy(host):
        return Note(BUSY, "warning")
    if rest:
        return _switch(host, Wish(resume=rest))

    def chosen(key: str) -> None:
        _switch(host, Wish(resume=key))

    here = host.session.id if host.session is not None else ""
    host.stage.pick(picking(host.sources.sessions, here, chosen, cwd=host.welcome.cwd))
    return None


def _new(host: Host, _rest: str) -> Answer | None:
    return _switch(host, Wish())


def _fork(host: Host, rest: str) -> Answer | None:
    """With all of it, as it was before a message (numbered as /rewind does), or up to an entry."""
    session = host.session
    if session is None:
        return not_yet()
    state, number = session.state, rest.removeprefix("@")
    if rest and not (number.isascii() and number.isdigit()):
        return Note(FORK, "error")
    if not state.started:
        return Note("Nothing was said yet, so there is nothing to fork.", "warning")
    if not rest or rest.startswith("@"):
        return _switch(host, Wish(fork=f"{session.id}@{number or state.seq}"))
    if not 0 < int(number) <= len(state.spoken):
        return no_such(number, state.spoken)
    message = state.spoken[int(number) - 1].seq
    refused = _switch(host, Wish(fork=f"{session.id}@{_before(session, message)}"))
    if refused is None:
        host.stage.write(message_at(session, message), files_at(session, message))
    return refused


def _before(session: Door, message: int) -> int:
    """The last entry before that message and the turn that it began."""
    began = [
        entry.seq
        for entry in session.past(message - 2, message - 1)
        if isinstance(entry.event, ev.TurnStarted)
    ]
    return began[0] - 1 if began else message - 1


def _switch(host: Host, wish: Wish) -> Answer | None:
    if host.sources.sessions is None:
        return NOWHERE
    if _busy(host):
        return Note(BUSY, "warning")
    if host.session is not None and wish.resume == host.session.id:
        return Note("That session is open here already.")
    host.stage.switch(wish)
    return None


def _busy(host: Host) -> bool:
    return host.session is not None and (host.session.state.running or host.compacting > 0)


def _rename(host: Host, rest: str) -> Answer | None:
    session, sessions = host.session, host.sources.sessions
    if session is None:
        return not_yet()
    if sessions is None:
        return NOWHERE
    if not rest:
        return Note("/rename NAME; --resume NAME finds the session then.", "error")

    def work() -> Answer:
        sessions.rename(session.id, rest)
        return Note(f"This session is called {rest}; agent-cli --resume '{rest}' goes on with it.")

    host.stage.later("names the session", work)
    return None


def _export(host: Host, rest: str) -> Answer | None:
    """The form may be told by the file's ending."""
    session, sessions = host.session, host.sources.sessions
    if session is None:
        return not_yet()
    if sessions is None:
        return NOWHERE
    first, _, more = rest.partition(" ")
    form, file = (FORMS[first], more.strip()) if first in FORMS else (None, rest)
    if form is None:
        form = FORMS.get(file.rpartition(".")[2], "markdown")
    path = _below(host, file or f"session-{session.id}.{ENDINGS[form]}")
    host.stage.later("writes the session", lambda: _exported(sessions, session, form, path))
    return None


def _exported(sessions: Sessions, session: Door, form: Form, path: Path) -> Answer:
    sessions.export(session, form, path)
    return Note(f"The session is in {path}.")


def _below(host: Host, file: str) -> Path:
    cwd = (host.session.state.cwd if host.session is not None else "") or host.welcome.cwd
    return Path(cwd).expanduser() / Path(file).expanduser()


COMMANDS: tuple[Command, ...] = (
    Command("resume", "go on with another session", _resume, ("continue",), arguments="[ID or name]"),
    Command("new", "begin a new session; this one can be resumed", _new),
    Command("fork", "a new session that begins as this one did", _fork, arguments="[N|@ENTRY]"),
    Command("rename", "give this session a name", _rename, arguments="NAME"),
    Command("export", "write this session to a file", _export, arguments="[md|html|jsonl] [FILE]"),
)
