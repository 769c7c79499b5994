"""A task that is done becomes a record: said by the model, by the operator, or by a heuristic."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from agent_cli.context.boundaries import MARK
from agent_cli.context.reduce import PLAN_HEADING, TODO_HEADING
from agent_cli.context.view import SUMMARY_OPENING
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Checkpoint, CheckpointMode
from agent_cli.kernel.messages import Text, ToolCall, ToolResult
from agent_cli.kernel.usage import Usage
from tests.fakes.clock import settle
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

RECORD = "## Task\nThe parser is mended.\n\n## Where we are\nDone."


def opened(provider: Playing, log: ListLog, **changes: Any) -> Session:
    given = {"own_tools": frozenset({MARK}), "record_prompt": "Write the record.", **changes}
    return open_session(provider, FakeTool("read"), log=log, **given)


def performed(log: ListLog) -> list[ev.CheckpointPerformed]:
    return [event for event in log.events if isinstance(event, ev.CheckpointPerformed)]


def told(log: ListLog) -> list[str]:
    return [event.text for event in log.events if isinstance(event, ev.OperatorNote)]


def mark(detail: str) -> tuple[str, dict[str, object]]:
    return MARK, {"detail": detail}


def shown(provider: Playing, at: int = -1) -> str:
    return "\n".join(
        part.text for m in provider.asked[at].messages for part in m.parts if isinstance(part, Text)
    )


async def test_what_the_model_marks_becomes_a_record_at_the_start_of_the_next_turn():
    log = ListLog()
    provider = Playing(
        wants(("read", {"path": "a"}), text="looking"), wants(mark("the parser")), says("mended"),
        says(RECORD, usage=Usage(input=120, output=30)), says("and now this"),
    )  # fmt: skip
    session = opened(provider, log)
    await run(session, say("mend the parser"))
    assert performed(log) == [], "nothing happens at once"
    await run(session, say("the next task"))
    (done,) = performed(log)
    assert (done.note, done.by, done.model) == ("the parser", "model", "fake-1")
    assert done.cost
    asked = shown(provider, 3)
    assert asked.endswith("Write the record.\n\nWhat was said to be done: the parser")
    assert "the next task" not in asked, "the record is of what came before"
    assert provider.asked[3].tool_choice == "none"
    assert provider.asked[3].system == provider.asked[2].system, "on the cached prefix"
    last = shown(provider)
    assert last.startswith(SUMMARY_OPENING + RECORD)
    assert "mend the parser" in last, "the operator's own words stay"
    assert last.endswith("the next task")
    assert not any(isinstance(part, ToolResult) for m in provider.asked[-1].messages for part in m.parts)
    kinds = [type(event) for event in log.events]
    assert (
        kinds.index(ev.CheckpointPerformed) > [n for n, k in enumerate(kinds) if k is ev.OperatorMessage][1]
    )
    assert session.state.answer == "and now this"
    await session.close()


async def test_a_second_mark_in_one_turn_does_nothing_and_says_so():
    log = ListLog()
    provider = Playing(wants(mark("one"), mark("one again")), wants(mark("once more")), says("done"))
    session = opened(provider, log)
    await run(session, say("go"))
    outputs = [event.output for event in log.events if isinstance(event, ev.ToolReturned)]
    assert [(output.ok, output.no_op) for output in outputs] == [(True, False), (True, True), (True, True)]
    assert "marked already" in ev.as_text(outputs[1])
    assert session.state.boundaries.declared == "one"
    await session.close()


async def test_the_mark_outlives_the_process():
    log = ListLog()
    first = opened(Playing(wants(mark("the parser")), says("mended")), log)
    await run(first, say("mend the parser"))
    await first.close()
    again_log = ListLog(entries=list(log.read()))
    provider = Playing(says(RECORD), says("next"))
    again = opened(provider, again_log)
    await run(again, say("the next task"))
    assert [event.note for event in performed(again_log)] == ["the parser"]
    await again.close()
    third_log, third_provider = ListLog(entries=list(again_log.read())), Playing(says("fine"))
    third = opened(third_provider, third_log)
    await run(third, say("and?"))
    assert len(performed(third_log)) == 1, "written once"
    before = provider.asked[-1].messages
    assert third_provider.asked[0].messages[: len(before)] == before, (
        "the view after a reload is the view before"
    )
    await third.close()


async def test_the_operator_writes_one_now_with_a_note():
    log = ListLog()
    provider = Playing(says("mended"), says(RECORD), says("next"))
    session = opened(provider, log)
    await run(session, say("mend the parser"))
    await run(session, Checkpoint("the parser is done"))
    (done,) = performed(log)
    assert (done.note, done.by) == ("the parser is done", "operator")
    assert session.state.context_tokens == done.tokens_after
    assert session.state.context_estimated
    await run(session, Checkpoint())
    assert told(log) == [
        "no checkpoint: there is nothing to record: nothing was said since the last boundary"
    ]
    await run(session, say("next"))
    assert shown(provider).startswith(SUMMARY_OPENING + RECORD)
    assert len(provider.asked[-1].messages) == 1
    await session.close()


async def test_a_checkpoint_is_refused_while_a_turn_runs_and_where_they_are_off():
    log = ListLog()
    provider = Playing(says("one"), says("two"))
    provider.hold = asyncio.Event()
    session = opened(provider, log)
    session.send(say("go"))
    await settle()
    session.send(Checkpoint())
    provider.hold.set()
    await session.idle()
    await session.close()
    off = opened(provider, log, checkpoint="off")
    await run(off, say("again"))
    await run(off, Checkpoint())
    assert told(log) == [
        "no checkpoint: a turn is running; interrupt it or wait",
        "no checkpoint: checkpoints are switched off (checkpoint.mode)",
    ]
    assert performed(log) == []
    await off.close()


async def test_an_automatic_record_that_fails_is_told_once_and_the_turn_goes_on():
    log = ListLog()
    empty = ev.Finished((), Usage(), "fake-1", "safety", "SAFETY")
    provider = Playing(wants(mark("x")), says("done"), empty, says("next"), says("and on"))
    session = opened(provider, log)
    await run(session, say("go"))
    await run(session, say("next"))
    (failed,) = [event for event in log.events if isinstance(event, ev.ContextReductionFailed)]
    assert failed.operation == "checkpoint"
    assert (
        failed.reason == "checkpoint: model returned no summary text (finish_reason=SAFETY) after 1 attempt"
    )
    assert (failed.consecutive_failures, failed.cooldown_turns) == (0, 0)
    assert session.state.answer == "next"
    await run(session, say("on"))
    assert len(provider.asked) == 5, "a lost record is not asked for again"
    await session.close()


async def test_the_operator_is_told_at_once_and_no_failure_is_recorded():
    log = ListLog()
    unexplained = ev.Finished((), Usage(), "fake-1", "other", "")
    provider = Playing(says("one"), unexplained, unexplained)
    session = opened(provider, log)
    await run(session, say("go"))
    await run(session, Checkpoint())
    assert told(log) == [
        "no checkpoint: checkpoint: model returned no summary text (finish_reason=other) after 2 attempts"
    ]
    assert not any(isinstance(event, ev.ContextReductionFailed) for event in log.events)
    await session.close()


class EndsAt:
    """Thinks that a task is done where an answer says so."""

    def feed(self, event: ev.Recorded, /) -> str | None:
        said = isinstance(event, ev.AssistantMessage) and "DONE" in str(event.parts)
        return "by the heuristic" if said else None


@pytest.mark.parametrize(("mode", "expected"), [("operator", 1), ("model", 1), ("off", 0)])
async def test_a_heuristic_declares_a_boundary_unless_they_are_off(mode: CheckpointMode, expected: int):
    log = ListLog()
    replies = [says("DONE"), *[says(RECORD)] * expected, says("next"), says("on")]
    provider = Playing(*replies)
    session = opened(provider, log, heuristic=EndsAt(), checkpoint=mode)
    for word in ("go", "next", "on"):
        await run(session, say(word))
    assert [(event.by, event.note) for event in performed(log)] == [
        ("heuristic", "by the heuristic")
    ] * expected
    await session.close()


async def test_the_plan_and_the_list_of_things_to_do_stand_in_the_record_verbatim():
    log = ListLog()
    items = [{"text": "write it", "status": "done"}, {"text": "test it"}]
    provider = Playing(says("fine"), says(RECORD), says("on"))
    session = opened(provider, log)
    await run(session, say("go"))
    record = session._core.record
    record(ev.PlanRecorded("plan.md", "1. First this\n2. Then that"))
    record(ev.ToolCallProposed(ToolCall("t1", "todo", {"items": items})))
    record(ev.ToolReturned("t1", "todo", ev.Output((Text("ok"),))))
    await run(session, Checkpoint())
    text = performed(log)[0].record
    assert f"{PLAN_HEADING}\n\n1. First this\n2. Then that" in text
    assert f"{TODO_HEADING}\n\n- [x] write it\n- [ ] test it" in text
    await session.close()


async def test_a_model_that_makes_things_up_writes_no_record():
    log = ListLog()
    provider = Playing(wants(("read", {"path": "a"}), text="looking"), says("mended"), says("and now this"))
    card = msgspec.structs.replace(CARD, profile="compact")
    models = OneModel(provider, card)
    session = opened(provider, log, models=models, model=models.open(card.id))
    await run(session, say("mend the parser"))
    await run(session, Checkpoint("the parser"))
    (done,) = performed(log)
    assert done.record.startswith("A task is done: the parser.")
    assert '- read {"path": "a"}' in done.record
    assert "mend the parser" in done.record
    assert (done.model, done.cost) == ("", 0.0)
    await run(session, say("next"))
    assert session.state.answer == "and now this"
    await session.close()
