"""Going back to an earlier message."""

from __future__ import annotations

import itertools
import time

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Rewind
from agent_cli.kernel.messages import Block, Text, text_of
from agent_cli.kernel.rewinding import RewindWhat, Spoken
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.changed import Changed
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered
from agent_cli.talk.door import Door
from agent_cli.talk.stage import Picking, Row

HEAD = 2
"""Lines of a message that are shown above what was changed since."""
WHAT: dict[str, RewindWhat] = {"": "both", "both": "both", "conversation": "conversation", "files": "files"}
CHOICES: tuple[tuple[RewindWhat, str], ...] = (
    ("both", "the conversation and the files"),
    ("conversation", "the conversation alone; files stay as they are"),
    ("files", "the files alone; the conversation goes on"),
)


def _rewind(host: Host, rest: str) -> Answer | None:
    """Without a number, a list to choose from; the text of the message comes back to where one types."""
    if host.session is None:
        return not_yet()
    spoken = host.session.state.spoken
    number, _, what = rest.partition(" ")
    if number:
        if not (number.isascii() and number.isdigit()) or what.strip() not in WHAT:
            return Note("/rewind N [both|conversation|files]; /rewind lists the messages.", "error")
        if not 0 < int(number) <= len(spoken):
            return no_such(number, spoken)
        return _back(host, host.session, spoken[int(number) - 1].seq, WHAT[what.strip()])
    if host.session.state.running:
        return Note("A turn is running: /interrupt it first, or wait.", "warning")
    host.stage.pick(_messages(host, host.session, spoken))
    return None


def _back(host: Host, session: Door, seq: int, what: RewindWhat) -> Answer | None:
    """While a turn runs the session refuses it, and what is being written stays."""
    refuses = session.state.running
    refused = ordered(host, Rewind(seq, what))
    if what != "files" and refused is None and not refuses:
        host.stage.write(message_at(session, seq), files_at(session, seq))
    return refused


def no_such(number: str, spoken: list[Spoken]) -> Note:
    """The answer to a number that no message has."""
    there = f"they go from 1 to {len(spoken)}; /rewind lists them" if spoken else "nothing was said yet"
    return Note(f"There is no message {number}: {there}.", "error")


def _messages(host: Host, session: Door, spoken: list[Spoken]) -> Picking:
    workplace = host.sources.workplace

    def rows() -> list[Row]:
        """The latest first."""
        changed = workplace.moments(session.id) if workplace is not None else dict[int, int]()
        return [_row(at, said, changed.get(said.seq, 0)) for at, said in reversed(list(enumerate(spoken, 1)))]

    def preview(key: str) -> str:
        message = message_at(session, int(key))
        if workplace is None:
            return message
        head, diffs = message.splitlines()[:HEAD], _diffs(workplace.changes(session.id, since=int(key)))
        return "\n".join([*head, *diffs]) if diffs else message

    def chosen(key: str) -> None:
        host.stage.pick(_choice(host, session, int(key)))

    return Picking("Back to before which message?", rows, chosen, "nothing was said yet", preview)


def _diffs(changed: Changed) -> list[str]:
    """What the files hold now that they did not hold before the message: the changed lines alone, since there are few rows."""
    lines = [f"! {told}" for told in changed.unknown]
    for file in changed.files:
        parts = itertools.dropwhile(lambda line: not line.startswith("@@"), file.diff.splitlines())
        body = (line for line in parts if line.startswith(("+", "-")))
        lines += [f"{file.path} +{file.added} -{file.removed}", *(f"  {line}" for line in body)]
    return lines


def _row(at: int, said: Spoken, files: int) -> Row:
    changed = f"{files} file{'s' * (files != 1)} changed" if files else "no files changed"
    return Row(
        str(said.seq),
        f"{at}  {said.text}",
        f"{time.strftime('%H:%M', time.localtime(said.time))} · {changed}",
    )


def _choice(host: Host, session: Door, seq: int) -> Picking:
    def chosen(key: str) -> None:
        _back(host, session, seq, WHAT[key])

    def rows() -> list[Row]:
        return [Row(what, what, says) for what, says in CHOICES]

    return Picking("What goes back?", rows, chosen)


def message_at(session: Door, seq: int) -> str:
    """The whole text of the message at that entry. Raises StoreError."""
    return text_of(tuple(part for part in _said_at(session, seq) if isinstance(part, Text)))


def files_at(session: Door, seq: int) -> tuple[Block, ...]:
    """What went along with it. Raises StoreError."""
    return tuple(part for part in _said_at(session, seq) if not isinstance(part, Text))


def _said_at(session: Door, seq: int) -> tuple[Block, ...]:
    for entry in session.past(seq - 1, seq):
        if isinstance(entry.event, ev.OperatorMessage):
            return entry.event.content
    return ()


COMMANDS: tuple[Command, ...] = (
    Command(
        "rewind",
        "back to an earlier message: the conversation, the files, or both",
        _rewind,
        arguments="[N [both|conversation|files]]",
    ),
)
