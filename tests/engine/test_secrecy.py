"""No secret of a result, a message or an answer is in the log, in a preview, in the prompt, or in what is kept on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from agent_cli.engine.session import Session
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.secrets import scrub
from agent_cli.guardrails.secrets.scan import Redacted
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Say
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import ask_writes, is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool
from tests.guardrails.made_up import made_up

SECRET, (BODY,) = made_up("ghp_«:36»")


async def seen_by_listener(session: Session) -> tuple[list[ev.Event], asyncio.Task[None]]:
    seen: list[ev.Event] = []
    stream: AsyncIterator[ev.Event] = session.events()

    async def listen() -> None:
        seen.extend([event async for event in stream])

    return seen, asyncio.create_task(listen())


def findings(log: ListLog) -> list[ev.GuardrailFinding]:
    return [event for event in log.events if isinstance(event, ev.GuardrailFinding)]


async def leaks(path: str, say: Say) -> str:
    for at in range(0, len(SECRET), 5):
        say(SECRET[at : at + 5])
    say("\n")
    return f"TOKEN={SECRET}\nmore"


async def test_a_secret_in_a_result_reaches_nobody():
    log, tool, kept = ListLog(), FakeTool("read", leaks), dict[str, str]()
    provider = Playing(wants(("read", {"path": ".env"})), says("done"))

    def keep(call_id: str, text: str) -> str:
        kept[call_id] = text
        return "there"

    session = open_session(provider, tool, log=log, spill=keep)
    seen, listening = await seen_by_listener(session)
    await run(session, say("go"))
    await session.close()
    await listening
    assert BODY not in "".join(text for _, text in log.rows)
    assert BODY not in repr(seen)
    assert BODY[:8] not in "".join(event.text for event in seen if isinstance(event, ev.ToolProgress))
    assert BODY not in repr(provider.asked)
    assert "TOKEN=[REDACTED:github-token]\nmore" in repr(provider.asked[1].messages).replace("\\n", "\n")
    assert BODY not in repr(kept)
    (found,) = findings(log)
    assert (found.check, found.surface, found.severity) == ("secrets", "input", "warn")
    assert found.message == "1 secret (github-token) in the result of read replaced"


async def test_a_call_runs_with_what_the_model_said_and_its_record_does_not_tell_it():
    log, tool = ListLog(), FakeTool("write", read_only=False)
    session = open_session(
        Playing(wants(("write", {"path": SECRET})), says("ok")), tool, log=log, judge=ask_writes
    )
    seen, listening = await seen_by_listener(session)
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    session.send(_yes(session))
    await session.idle()
    await session.close()
    await listening
    assert tool.ran == [SECRET]
    assert BODY not in "".join(text for _, text in log.rows)
    assert BODY not in repr(seen)


def _yes(session: Session) -> Answer:
    return Answer(next(iter(session.state.pending)), allowed=True)


async def test_a_secret_in_the_answer_is_replaced_before_a_word_of_it_is_shown():
    log = ListLog()

    async def in_pieces(playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        text = f"It is {SECRET}, as you see."
        for at in range(0, len(text), 3):
            yield ev.TextDelta(text[at : at + 3])
        yield ev.Finished((Text(text),), Usage(1, 1), "fake-1", "stop", "stop")

    session = open_session(Playing(in_pieces), log=log)
    seen, listening = await seen_by_listener(session)
    await run(session, say("what is it?"))
    assert session.state.answer == "It is [REDACTED:github-token], as you see."
    await session.close()
    await listening
    shown = "".join(event.text for event in seen if isinstance(event, ev.TextDelta))
    assert shown == "It is [REDACTED:github-token], as you see."
    assert BODY not in "".join(text for _, text in log.rows)
    assert [found.surface for found in findings(log)] == ["output"]


async def test_the_text_of_an_answer_that_was_cut_is_kept_without_its_secrets():
    log = ListLog()

    async def breaks(playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta(f"It is {SECRET[:30]}")
        yield ev.TextDelta(SECRET[30:])
        raise RuntimeError("gone")

    session = open_session(Playing(breaks), log=log)
    await run(session, say("what is it?"))
    await session.close()
    assert BODY not in "".join(text for _, text in log.rows)


async def test_a_secret_that_the_operator_types_is_replaced_and_he_is_told_what_to_do():
    log, provider = ListLog(), Playing(says("ok"))
    session = open_session(provider, log=log)
    await run(session, say(f"use {SECRET} for it"))
    await session.close()
    assert BODY not in "".join(text for _, text in log.rows)
    assert BODY not in repr(provider.asked)
    (found,) = findings(log)
    assert "in your message replaced; the model does not see them" in found.message
    assert "guardrails.redact" in found.message


async def test_with_redact_off_everything_stays_as_it_is():
    log, provider = ListLog(), Playing(wants(("read", {"path": ".env"})), says(SECRET))
    session = open_session(provider, FakeTool("read", leaks), log=log, armed=Armed(redact=False))
    await run(session, say("go"))
    await session.close()
    assert SECRET in repr(provider.asked[1])
    assert session.state.answer == SECRET
    assert findings(log) == []


async def test_a_fact_that_cannot_be_looked_through_is_recorded_without_its_texts(
    monkeypatch: pytest.MonkeyPatch,
):
    def broken(text: str) -> None:
        raise RuntimeError("no table")

    monkeypatch.setattr(scrub, "redact", broken)
    log = ListLog()
    session = open_session(Playing(says(f"the key is {SECRET}")), log=log)
    await run(session, say("tell me something long"))
    await session.close()
    assert BODY not in "".join(text for _, text in log.rows)
    assert scrub.WITHHELD in "".join(text for _, text in log.rows)


async def test_a_result_that_cannot_be_looked_through_ends_the_turn_with_a_way_on_that_there_is(
    monkeypatch: pytest.MonkeyPatch,
):
    whole = scrub.redact

    def broken(text: str) -> Redacted:
        if BODY in text:
            raise RuntimeError("no table")
        return whole(text)

    monkeypatch.setattr(scrub, "redact", broken)
    log = ListLog()
    session = open_session(Playing(wants(("read", {"path": ".env"}))), FakeTool("read", leaks), log=log)
    await run(session, say("go"))
    await session.close()
    assert BODY not in "".join(text for _, text in log.rows)
    end = next(event for event in log.events if isinstance(event, ev.TurnError))
    assert end.outcome == "guardrail-unavailable"
    assert "guardrails.redact: false" in end.message
    assert "[[bypass]]" not in end.message, "there is none for this check"
