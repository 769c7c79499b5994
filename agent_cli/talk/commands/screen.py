"""The screen itself: emptying and leaving it, and the turn that runs behind it."""

from __future__ import annotations

from agent_cli.kernel.commands import Interrupt
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host


def _interrupt(host: Host, _rest: str) -> Answer | None:
    if host.session is None or not host.session.state.running:
        return Note("No turn is running.")
    host.order(Interrupt())
    return None


def _clear(host: Host, _rest: str) -> Answer:
    host.wipe()
    return Note("The screen is empty; the session and what the model knows are as before.", tight=True)


def _copy(host: Host, _rest: str) -> Answer | None:
    answer = host.session.state.answer if host.session is not None else ""
    if not answer:
        return Note("There is no answer yet that could be copied.")
    host.stage.copy(answer, "the last answer")
    return None


def _quit(host: Host, _rest: str) -> None:
    host.leave()


COMMANDS: tuple[Command, ...] = (
    Command("interrupt", "stop the running turn", _interrupt),
    Command("copy", "copy the last answer", _copy),
    Command("clear", "empty the screen; the session stays", _clear),
    Command("quit", "leave; the session can be resumed", _quit, ("exit",)),
)
