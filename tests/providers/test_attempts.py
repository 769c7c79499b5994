"""N attempts are N requests, for every way in which a request can fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from agent_cli.kernel import events as ev
from tests.fakes.clock import InstantClock
from tests.fakes.http_server import Raw, Say
from tests.fakes.log import ListLog
from tests.fakes.models import Playing
from tests.fakes.sessions import open_session, run, say
from tests.providers.families import MODELS, every, serving

BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "busy", "status": "UNAVAILABLE"}}
AGAIN: dict[str, Callable[[], Say | Raw]] = {
    **{
        str(status): lambda status=status: Raw(status, BUSY)
        for status in (408, 409, 429, 500, 502, 503, 504, 529)
    },
    "an error in the stream": lambda: Say("Half", fail=(1, BUSY)),
    "a stream without its end": lambda: Say("Half of it", cut=1),
    "a reset": lambda: Raw(reset=True),
    "no first byte": lambda: Raw(delay=60),
    "a head and no more": lambda: Say("Half of it", stall=0),
    "silence in the stream": lambda: Say("Half of it", size=2, stall=4),
}
"""What can help to be asked again."""
SILENT = {
    "no first byte": "first_byte_timeout",
    "a head and no more": "first_byte_timeout",
    "silence in the stream": "stall_timeout",
}
NEVER = (400, 401, 403, 404, 422)


def patience(fault: str, seconds: float) -> dict[str, float]:
    return {SILENT[fault]: seconds} if fault in SILENT else {}


def assert_given_up(log: ListLog) -> str:
    """Two retries were told and one error, which is returned."""
    assert [event.attempt for event in log.events if isinstance(event, ev.Retry)] == [1, 2]
    (ended,) = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert isinstance(ended, ev.TurnError)
    assert (ended.outcome, ended.exit_code) == ("error", 75)
    return ended.message


@every
@pytest.mark.parametrize("fault", list(AGAIN))
async def test_what_may_pass_is_asked_three_times(family: str, fault: str) -> None:
    replies = [AGAIN[fault]() for _ in range(4)]
    log = ListLog()
    async with serving(family, *replies, **patience(fault, 0.3)) as (service, model):
        await run(open_session(Playing(), log=log, model=model), say("go"))
        assert len(service.requests) == 3
    assert_given_up(log)


@every
async def test_nobody_listening_is_tried_three_times(family: str) -> None:
    log = ListLog()
    async with serving(family) as (service, model):
        service.stop_listening()
        await run(open_session(Playing(), log=log, model=model), say("go"))
    assert "Connection refused" in assert_given_up(log)


@every
@pytest.mark.parametrize("fault", list(AGAIN))
async def test_the_second_answer_ends_it(family: str, fault: str) -> None:
    async with serving(family, AGAIN[fault](), Say("Good."), **patience(fault, 0.6)) as (service, model):
        session = open_session(Playing(), model=model)
        await run(session, say("go"))
        assert len(service.requests) == 2
        assert session.state.answer == "Good."


@every
@pytest.mark.parametrize("status", NEVER)
async def test_what_would_be_refused_again_is_asked_once(family: str, status: int) -> None:
    refusal = {"error": {"message": "no", "type": "other"}}
    async with serving(family, Raw(status, refusal), Say("Good.")) as (service, model):
        await run(open_session(Playing(), model=model), say("go"))
        assert len(service.requests) == 1


ASKED_TO_WAIT: dict[str, tuple[Callable[[], dict[str, str]], float]] = {
    "seconds": (lambda: {"retry-after": "7"}, 7),
    "a date": (lambda: {"retry-after": formatdate(time.time() + 30, usegmt=True)}, 30),
    "milliseconds": (lambda: {"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    "too long": (lambda: {"retry-after": "600"}, 60),
}


@pytest.mark.parametrize(
    ("family", "transport"),
    [*((family, "http") for family in MODELS), ("anthropic", "sdk"), ("gemini", "sdk")],
)
@pytest.mark.parametrize("form", list(ASKED_TO_WAIT))
async def test_the_wait_is_the_one_that_was_asked_for(family: str, transport: str, form: str) -> None:
    headers, seconds = ASKED_TO_WAIT[form]
    log, clock = ListLog(), InstantClock()
    busy = Raw(503 if form == "a date" else 429, BUSY, {"content-type": "application/json", **headers()})
    async with serving(family, busy, Say("Good."), transport=transport) as (service, model):
        await run(open_session(Playing(), log=log, model=model, clock=clock), say("go"))
        assert len(service.requests) == 2
    (retry,) = [event for event in log.events if isinstance(event, ev.Retry)]
    around = pytest.approx(seconds, abs=10 if form == "a date" else 0)
    assert retry.delay_s == around
    assert sum(clock.slept) == around
