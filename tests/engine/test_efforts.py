"""An effort that the model does not take stops no turn that it was not named for."""

from __future__ import annotations

from msgspec import structs

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import SetEffort
from agent_cli.ports import OpenModel
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, Playing, says
from tests.fakes.sessions import open_session, run, say


async def test_a_resumed_effort_is_left_out_for_a_model_without_one():
    log = ListLog()
    provider = Playing(says("one"), says("two"), says("three"))
    thinking = OpenModel(provider, structs.replace(CARD, efforts=("high",)))
    session = open_session(provider, log=log, model=thinking)
    session.send(SetEffort("high"))
    await run(session, say("first"))
    await session.close()
    session = open_session(provider, log=log, model=OpenModel(provider, structs.replace(CARD, efforts=())))
    await run(session, say("second"))
    await run(session, say("third"))
    assert [prompt.effort for prompt in provider.asked] == ["high", None, None]
    told = [
        event.text for event in log.events if isinstance(event, ev.OperatorNote) and "effort" in event.text
    ]
    assert told == ["fake-1 does not take the effort high, so it thinks as it does by itself"]
