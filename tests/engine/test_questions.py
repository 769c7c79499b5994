"""Questions of the model: asked where approvals are, answered in words, and never a hang where nobody is."""

from __future__ import annotations

import asyncio

from agent_cli.engine.own_tools.ask_user import NAME, NOBODY
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until

CALL: tuple[str, dict[str, object]] = (NAME, {"question": "Which name?", "options": ["alpha", "beta"]})


def opened(log: ListLog, *, attended: bool = True) -> Session:
    facts = Facts("yolo", attended, (("/p", "rw"),))
    return open_session(
        Playing(wants(CALL), says("done")), log=log, judge=judge, facts=facts, own_tools=frozenset({NAME})
    )


async def asked() -> tuple[ListLog, Session, asyncio.Task[None], ev.ApprovalRequested]:
    log = ListLog()
    session = opened(log)
    running = asyncio.create_task(run(session, say("go")))
    seen = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    assert isinstance(seen, ev.Entry)
    assert isinstance(seen.event, ev.ApprovalRequested)
    return log, session, running, seen.event


def result(log: ListLog) -> ev.Output:
    return next(event.output for event in log.events if isinstance(event, ev.ToolReturned))


async def test_the_answer_is_the_result():
    log, session, running, question = await asked()
    assert question.options == ("alpha", "beta")
    assert question.preview == ev.Shown("Which name?\n1  alpha\n2  beta")
    session.send(Answer(question.call_id, allowed=True, edit="gamma, please"))
    await running
    await session.close()
    assert ev.as_text(result(log)) == "The operator answered: gamma, please"


async def test_a_question_may_stay_without_an_answer():
    log, session, running, question = await asked()
    session.send(Answer(question.call_id, allowed=False))
    await running
    await session.close()
    assert ev.as_text(result(log)).startswith(
        "The operator does not answer this question; decide by yourself"
    )


async def test_an_interrupt_ends_it():
    log, session, running, _ = await asked()
    session.send(Interrupt())
    await running
    await session.close()
    decided = next(event for event in log.events if isinstance(event, ev.ApprovalDecided))
    assert decided.by == "interrupt"
    assert not result(log).ok


async def test_where_nobody_is_there_it_says_so_at_once():
    log = ListLog()
    session = opened(log, attended=False)
    await run(session, say("go"))
    await session.close()
    assert not any(isinstance(event, ev.ApprovalRequested) for event in log.events)
    assert ev.as_text(result(log)) == NOBODY
