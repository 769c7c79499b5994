"""What one model request tells and costs while it waits, falls back, or is answered by another model."""

from __future__ import annotations

import asyncio

import pytest

from agent_cli.engine.parts import Settings
from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Interrupt
from agent_cli.kernel.errors import ConnectionFailed, RateLimited
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import ModelCard, Price, Usage
from agent_cli.ports import OpenModel
from tests.fakes.clock import FakeClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says
from tests.fakes.sessions import open_session, run, say


async def test_a_wait_counts_down_and_an_interrupt_ends_it():
    log, clock = ListLog(), FakeClock()
    provider = Playing(RateLimited("slow down", retry_after=40.0), says("after it"))
    session = open_session(provider, log=log, clock=clock)
    told: list[ev.Waiting] = []

    async def listen() -> None:
        async for event in session.events():
            told.extend([event] if isinstance(event, ev.Waiting) else [])

    listening = asyncio.create_task(listen())
    session.send(say("go"))
    await settle()
    await clock.advance(1)
    assert [(wait.seconds, wait.reason) for wait in told] == [(40.0, "slow down"), (39.0, "slow down")]
    session.send(Interrupt())
    await session.idle()
    end = next(event for event in log.events if isinstance(event, ev.TurnError))
    assert (end.outcome, end.exit_code, len(provider.asked)) == ("interrupted", 130, 1)
    await run(session, say("go on"))
    assert session.state.answer == "after it"
    await session.close()
    await listening


async def test_an_open_breaker_falls_back_to_a_model_of_another_service():
    clock, log = FakeClock(), ListLog()
    down, other = Playing(ConnectionFailed("down")), Playing(says("from there"), says("and again"))

    class Two:
        def open(self, name: str, /) -> OpenModel:
            return OpenModel(other, ModelCard(name, "other"), "http://other")

    session = open_session(
        down,
        log=log,
        clock=clock,
        breakers=Breakers(threshold=1),
        models=Two(),
        settings=Settings(run_status=False, attempts=1),
    )
    await run(session, say("one"))
    assert len(down.asked) == 1
    again = open_session(
        down,
        log=ListLog(),
        clock=clock,
        breakers=session._core.parts.breakers,
        models=Two(),
        fallbacks=("b",),
    )
    await run(again, say("two"))
    assert (len(down.asked), len(other.asked)) == (1, 1), "the service that is down was not asked"
    assert again.state.answer == "from there"
    await session.close()
    await again.close()


@pytest.mark.parametrize(
    ("served", "model", "cost"),
    [("fake/fake-2", "fake-2", 10.0), ("fake/fake-3", "fake-1", 1.0), ("", "fake-1", 1.0)],
    ids=["known and priced", "known without a price", "unknown"],
)
async def test_an_answer_costs_what_the_model_takes_that_gave_it(served: str, model: str, cost: float):
    log = ListLog()
    answer = ev.Finished(
        (Text("hi"),), Usage(input=1_000_000), "fake-2" if served == "" else served[5:], "stop"
    )
    provider = Playing(answer)
    cards = {
        "fake/fake-2": ModelCard("fake-2", "fake", prices=(Price(input=10.0, output=20.0, cache_read=1.0),)),
        "fake/fake-3": ModelCard("fake-3", "fake"),
    }
    models = OneModel(provider, CARD)
    models.cards |= {served: cards[served]} if served else {}
    session = open_session(provider, log=log, models=models)
    await run(session, say("go"))
    (spent,) = [event for event in log.events if isinstance(event, ev.UsageReported)]
    assert (spent.model, spent.cost) == (model, cost)
    await session.close()


async def test_an_answer_that_breaks_off_again_is_an_error_with_its_reason():
    log = ListLog()
    broken = ev.Finished((Text("I will call"),), Usage(), "fake-1", "other", "MALFORMED_FUNCTION_CALL")
    provider = Playing(broken, broken, says("never"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    (end,) = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert isinstance(end, ev.TurnError)
    assert (end.outcome, end.exit_code, len(provider.asked)) == ("error", 1, 2)
    assert "MALFORMED_FUNCTION_CALL" in end.message
    await session.close()


async def test_an_answer_that_is_cut_again_is_given_with_a_warning():
    log = ListLog()
    provider = Playing(*(ev.Finished((Text("a"),), Usage(), "fake-1", "length", "max_tokens"),) * 2)
    session = open_session(provider, log=log)
    await run(session, say("go"))
    warnings = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert len(provider.asked) == 2
    assert ["cut off by its output limit" in text for text in warnings] == [True]
    assert isinstance(session.state.ending, ev.TurnCompleted)
    await session.close()
