"""What an operator changes or asks beside the conversation: effort, and questions that never enter it."""

from __future__ import annotations

from msgspec import structs

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import SetEffort
from agent_cli.ports import OpenModel
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, Playing, says
from tests.fakes.sessions import open_session, run, say


async def test_the_effort_holds_from_the_next_request_on_and_after_a_resume():
    log = ListLog()
    provider = Playing(says("one"), says("two"))
    session = open_session(
        provider, log=log, model=OpenModel(provider, structs.replace(CARD, efforts=("high",)))
    )
    await run(session, say("first"))
    session.send(SetEffort("low"))  # the model does not offer it
    session.send(SetEffort("high"))
    session.send(SetEffort("high"))
    await run(session, say("second"))
    assert [prompt.effort for prompt in provider.asked] == [None, "high"]
    assert [event for event in log.events if isinstance(event, ev.EffortSwitched)] == [
        ev.EffortSwitched("high")
    ]
    assert "fake-1 does not take the effort low: it takes high" in str(log.events)
    assert open_session(Playing(), log=log).state.effort == "high"


async def test_a_side_question_knows_the_conversation_and_is_not_in_it():
    log = ListLog()
    provider = Playing(says("the parser is in a.py"), says("because of the lexer"), says("done"))
    session = open_session(provider, log=log)
    await run(session, say("where is the parser?"))
    answer = await session.subtasks.ask("why is it slow?")
    assert answer == "because of the lexer"
    aside = provider.asked[1]
    assert "the parser is in a.py" in "".join(aside.system)
    assert aside.tools == ()
    await run(session, say("mend it"))
    assert "lexer" not in str(provider.asked[2].messages)
    assert "why is it slow?" not in str(provider.asked[2].messages)
    assert any(isinstance(event, ev.SubtaskCompleted) and event.name == "btw" for event in log.events)
