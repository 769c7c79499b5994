"""Hard budgets: no call is sent that could pass a ceiling."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import SetModel
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Prompt
from agent_cli.kernel.usage import ModelCard, Price, Usage
from agent_cli.ports import OpenModel
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

SMALL = ModelCard("fake-1", "fake", window=100_000, max_output=1_000, prices=(Price(input=1.0, output=10.0),))


def hard(provider: Playing, log: ListLog, card: ModelCard = SMALL, **limits: float):
    return open_session(
        provider,
        FakeTool("read"),
        log=log,
        model=OpenModel(provider, card),
        limits=Limits(reserve=True, **limits),
    )


async def test_a_call_that_could_pass_the_ceiling_is_not_sent():
    log, provider = ListLog(), Playing(wants(("read", {"path": "a"}), usage=Usage(input=100, output=500)))
    session = hard(provider, log, max_session_cost=0.0145)
    await run(session, say("go"))
    assert len(provider.asked) == 1
    trip = next(event for event in log.events if isinstance(event, ev.GuardrailTrip))
    assert "would be exceeded: the next call could cost $0.01" in trip.reason
    assert (trip.signal, trip.scope, trip.halted_turn) == ("session-reserve", "session", True)
    assert session.state.total.cost < 0.0145
    assert session.halted
    await session.close()


async def test_an_unpriced_model_is_refused_under_a_ceiling():
    log, bare = ListLog(), ModelCard("bare", "fake", window=1_000, max_output=10)
    provider = Playing(says("ok"))
    session = open_session(
        provider,
        log=log,
        models=OneModel(provider, CARD, bare),
        limits=Limits(reserve=True, max_session_cost=9.0),
    )
    session.send(SetModel("bare"))
    note = next(event for event in log.events if isinstance(event, ev.OperatorNote))
    assert "hard budgets refuse it" in note.text
    assert session.state.card == CARD
    await session.close()


@pytest.mark.parametrize(
    "told",
    [Usage(input=-10, output=-50), Usage(input=1, output=500), Usage(input=5_000, output=1)],
    ids=["below zero", "without most of the prompt", "without most of the answer"],
)
async def test_where_the_service_cannot_have_counted_all_what_was_set_aside_stays_so(told: Usage):
    """Whatever the call really cost, no more than that is spent; and nobody gives money back."""
    log, text = ListLog(), "word " * 500
    asked = [wants(("read", {"path": f"{number}"}), text=text, usage=told) for number in range(9)]
    provider = Playing(*asked)
    session = hard(provider, log, max_session_cost=0.05)
    await run(session, say("a question " * 200))
    assert 1 <= len(provider.asked) <= 4, "at a cent for each answer, and a little for each prompt"
    assert session.state.total.cost >= 0
    assert "may be for calls whose cost the service did not tell in full" in session.halted
    await session.close()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12), st.floats(0.001, 0.08))
def test_whatever_calls_cost_within_their_bounds_no_ceiling_is_passed(
    shares: list[tuple[float, float]], ceiling: float
):
    """Each answer takes a share of the prompt that was reserved and of the longest answer."""

    async def played() -> None:
        log, number = ListLog(), iter(range(100))

        class Spending(Playing):
            def usage(self, prompt: Prompt) -> Usage:
                share = shares[next(number) % len(shares)]
                size = sum(len(str(message)) for message in prompt.messages) // 8
                return Usage(input=int(size * share[0]), output=int(1_000 * share[1]))

            async def stream(self, prompt: Prompt, /):
                yield wants(("read", {"path": "a"}), usage=self.usage(prompt))

        session = hard(Spending(), log, max_session_cost=ceiling, max_steps=14)
        await run(session, say("go"))
        assert session.state.total.cost <= ceiling
        await session.close()

    asyncio.run(played())
