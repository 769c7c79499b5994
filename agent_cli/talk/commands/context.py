"""What fills the window, and making it less."""

from __future__ import annotations

from agent_cli.kernel.commands import Checkpoint, Compact
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered


def _context(host: Host, _rest: str) -> Answer:
    session = host.session
    if session is None:
        return not_yet()
    return views.context(session.state, session.shares(), elsewhere=bool(host.sources.elsewhere))


def _btw(host: Host, rest: str) -> Answer | None:
    """The answer comes as the result of a subtask, also while a turn runs."""
    session = host.session
    if session is None:
        return not_yet()
    if not rest:
        return Note("/btw QUESTION", "error")

    async def work() -> None:
        await session.subtasks.ask(rest)

    host.stage.meanwhile("asks beside the conversation", work)
    return None


def _compact(host: Host, rest: str) -> Answer | None:
    if host.compacting:
        return Note("It is being compacted already; Esc stops that.", "warning")
    return ordered(host, Compact(rest))


def _done(host: Host, rest: str) -> Answer | None:
    if host.compacting:
        return Note("It is being reduced already; Esc stops that.", "warning")
    if _is_off(host):
        return Note("Checkpoints are switched off: --checkpoint, or checkpoint.mode in config.", "warning")
    return ordered(host, Checkpoint(rest))


def _is_off(host: Host) -> bool:
    return host.session is not None and host.session.state.checkpoint == "off"


def _active(host: Host) -> str:
    """Who else may say that a task is done."""
    if host.session is None:
        return ""
    said = {"model": " (the model may, too)", "operator": "", "off": " (off: checkpoint.mode)"}
    return said[host.session.state.checkpoint]


COMMANDS: tuple[Command, ...] = (
    Command("context", "what fills the window", _context, ("boundaries",)),
    Command("btw", "a side question that the conversation never learns of", _btw, arguments="QUESTION"),
    Command("compact", "reduce the conversation now", _compact, ("summarize",), arguments="[focus]"),
    Command(
        "done",
        "the task is done: a record takes the place of what was said",
        _done,
        ("checkpoint",),
        arguments="[note]",
        now=_active,
    ),
)
