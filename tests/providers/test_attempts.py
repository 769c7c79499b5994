"""N attempts are N requests, for every way in which a request can fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_cli.kernel import events as ev
from tests.fakes.http_server import Raw, Say
from tests.fakes.log import ListLog
from tests.fakes.models import Playing
from tests.fakes.sessions import open_session, run, say
from tests.providers.families import every, serving

BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "busy", "status": "UNAVAILABLE"}}
AGAIN: dict[str, Callable[[], Say | Raw]] = {
    **{
        str(status): lambda status=status: Raw(status, BUSY)
        for status in (408, 409, 429, 500, 502, 503, 504, 529)
    },
    "an error in the stream": lambda: Say("Half", fail=(1, BUSY)),
    "a stream without its end": lambda: Say("Half of it", cut=1),
}
"""What can help to be asked again."""
NEVER = (400, 401, 403, 404, 422)


@every
@pytest.mark.parametrize("fault", list(AGAIN))
async def test_what_may_pass_is_asked_three_times(family: str, fault: str) -> None:
    replies = [AGAIN[fault]() for _ in range(4)]
    log = ListLog()
    async with serving(family, *replies) as (service, model):
        await run(open_session(Playing(), log=log, model=model), say("go"))
        assert len(service.requests) == 3
    retries = [entry.event for entry in log.read() if isinstance(entry.event, ev.Retry)]
    ended = [entry.event for entry in log.read() if isinstance(entry.event, ev.TERMINAL)]
    assert [retry.attempt for retry in retries] == [1, 2]
    assert [(end.outcome, end.exit_code) for end in ended] == [("error", 75)]


@every
@pytest.mark.parametrize("fault", list(AGAIN))
async def test_the_second_answer_ends_it(family: str, fault: str) -> None:
    async with serving(family, AGAIN[fault](), Say("Good.")) as (service, model):
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
