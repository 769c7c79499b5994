"""What an answer that was cut off cost, and whether that is known."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from agent_cli.engine.state import ModelRow
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConnectionFailed, ModelNotFound, Overloaded, StreamCut
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import ModelCard, Price, Usage
from agent_cli.talk.amounts import money
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says
from tests.fakes.sessions import open_session, run, say


def reports(log: ListLog) -> list[ev.UsageReported]:
    return [event for event in log.events if isinstance(event, ev.UsageReported)]


def breaking(*pieces: ev.Piece):
    async def cut(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        for piece in pieces:
            yield piece
        raise StreamCut("gone")

    return cut


async def test_what_a_service_did_not_count_of_a_cut_answer_is_estimated_and_marked():
    log = ListLog()
    words = ev.TextDelta("w" * 400), ev.ArgumentsDelta("c", "read", "a" * 40)
    provider = Playing(breaking(*words), says("ok", usage=Usage(input=30, output=1)))
    session = open_session(provider, log=log)
    await run(session, say("x" * 4_000))
    cut, whole = reports(log)
    assert cut.estimated
    assert not whole.estimated
    assert cut.usage.input >= 1_000, "the prompt that was sent"
    assert cut.usage.output == 110
    assert cut.cost == pytest.approx((cut.usage.input * 1.0 + 110 * 2.0) / 1e6)
    assert money(session.state.total).startswith("~$")
    assert session.state.context_tokens == 31, "what a service counted, not what we guessed"
    assert money(ModelRow("m", cost=0.5)) == "$0.500"
    await session.close()


async def test_the_text_that_came_is_paid_although_the_figures_so_far_are_from_before_it():
    log = ListLog()
    so_far = ev.UsageSoFar(Usage(input=900, cache_read=100, output=1))
    provider = Playing(breaking(so_far, ev.TextDelta("w" * 400)), says("ok"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    cut = reports(log)[0]
    assert (cut.usage, cut.estimated) == (Usage(input=900, cache_read=100, output=100), True)
    await session.close()


async def test_a_request_that_nobody_answered_cost_nothing():
    log = ListLog()
    session = open_session(Playing(ConnectionFailed("down"), says("ok")), log=log)
    await run(session, say("go"))
    assert len(reports(log)) == 1
    assert money(session.state.total).startswith("$")
    await session.close()


async def test_where_a_service_never_counts_nothing_is_made_up_for_a_cut_answer():
    log = ListLog()

    async def uncounted(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("ok")
        yield ev.Finished((Text("ok"),), Usage(), "fake-1")

    provider = Playing(uncounted, breaking(ev.TextDelta("tw")), uncounted)
    session = open_session(provider, log=log)
    await run(session, say("go"))
    await run(session, say("on"))
    assert session.state.answer == "ok"
    assert reports(log) == []
    await session.close()


OTHER = ModelCard("fake-2", "fake", window=100_000, prices=(Price(1.0, 2.0),))


async def test_a_fallback_that_does_not_exist_hides_nothing_of_why_the_first_was_left():
    log = ListLog()
    provider = Playing(
        *[Overloaded("529: overloaded") for _ in range(3)], ModelNotFound("no such model"), says("back")
    )
    models = OneModel(provider, CARD, OTHER)
    session = open_session(
        provider, log=log, models=models, model=models.open("fake-1"), fallbacks=("fake-2",)
    )
    await run(session, say("go"))
    end = session.state.ending
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.exit_code, end.message) == ("provider", 75, "529: overloaded")
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert notes == ["fallback model fake-2: no such model"]
    assert session.state.card.id == "fake-1", "the next turn begins where this one did"
    await run(session, say("again"))
    assert session.state.answer == "back"
    await session.close()


async def test_the_next_fallback_is_asked_where_one_cannot_be_used():
    provider = Playing(*[Overloaded("down") for _ in range(3)], ModelNotFound("no such model"), says("here"))
    models = OneModel(provider, CARD, OTHER, ModelCard("fake-3", "fake"))
    session = open_session(
        provider, models=models, model=models.open("fake-1"), fallbacks=("fake-2", "fake-3")
    )
    await run(session, say("go"))
    assert (session.state.answer, session.state.card.id) == ("here", "fake-3")
    await session.close()
