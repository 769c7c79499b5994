"""A session of fakes, and how to wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import replace

from agent_cli.engine.parts import Parts, Settings
from agent_cli.engine.session import Session
from agent_cli.kernel.commands import Command, Say
from agent_cli.kernel.events import Entry, Event, SessionStarted
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from agent_cli.ports import Facts, Proposal, Ruling
from tests.fakes.clock import InstantClock
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing
from tests.fakes.tools import FakeTool

STARTED = SessionStarted("/p", "0.1.0", "linux", "2026-11-30", "fake", "fake-1", "ask")


def allow(proposal: Proposal, facts: Facts) -> Ruling:
    return Ruling("allow", "test", "")


def ask_writes(proposal: Proposal, facts: Facts) -> Ruling:
    if proposal.read_only or any(grant == f"{proposal.tool}:*" for grant in facts.grants):
        return Ruling("allow", "test", "")
    return Ruling("ask", "mode-ask", "it writes")


def parts(provider: Playing, *tools: FakeTool, log: ListLog | None = None, **changes: Any) -> Parts:
    """`changes` replace fields of Parts."""
    models = OneModel(provider)
    made = Parts(
        log=log if log is not None else ListLog(),
        clock=InstantClock(),
        models=models,
        model=models.open(CARD.id),
        started=STARTED,
        system=lambda started, card: (f"You work in {started.cwd}.",),
        tools=lambda card: {tool.spec.name: tool for tool in tools},
        judge=allow,
        suggest=lambda proposal, scope: f"{proposal.tool}:*",
        remember=lambda rule, verdict: None,
        facts=Facts("ask", True, (("/p", "rw"),)),
        limits=Limits(),
        settings=Settings(run_status=False),
    )
    return replace(made, **changes)


def open_session(provider: Playing, *tools: FakeTool, **changes: Any) -> Session:
    return Session(parts(provider, *tools, **changes))


def say(text: str, when: str = "steer") -> Say:
    whens: dict[str, Literal["steer", "after", "now"]] = {"after": "after", "now": "now"}
    return Say((Text(text),), whens.get(when, "steer"))


async def run(session: Session, *commands: Command) -> None:
    for command in commands:
        session.send(command)
    await session.idle()


async def until(session: Session, wanted: Callable[[Event], bool], since: int = 0) -> list[Event]:
    """Events up to and with the first wanted one."""
    seen: list[Event] = []
    async for event in session.events(since):
        seen.append(event)
        if wanted(event):
            return seen
    raise AssertionError(f"the session ended without it: {seen}")


def is_fact(kind: type[Any]) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, Entry) and isinstance(event.event, kind)
