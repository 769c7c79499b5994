"""A session never dies of its own length."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from agent_cli.context.budget import Compaction
from agent_cli.context.reduce import PLAN_HEADING, TODO_HEADING
from agent_cli.context.view import SUMMARY_OPENING
from agent_cli.engine.parts import Settings
from agent_cli.engine.session import Session
from agent_cli.engine.size import context_size
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Compact, Interrupt, Say, SetModel
from agent_cli.kernel.errors import ContextOverflow, Overloaded
from agent_cli.kernel.messages import Document, Text, ToolCall, ToolResult
from agent_cli.kernel.usage import ModelCard, Usage
from tests.fakes.clock import settle
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing, says, wants
from tests.fakes.prompts import accepted
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

SMALL = ModelCard("fake-1", "fake", window=20_000, max_output=1_000)


WIDE = ModelCard("fake-1", "fake", window=40_000, max_output=1_000)


async def large(path: str, _: object) -> str:
    return f"{path}: " + "x" * 12_000


def reads(count: int, *, start: int = 0, tokens: int = 3_000) -> list[ev.Finished]:
    """Steps that read one large file each; the service measures a prompt that grows with them."""
    return [
        wants(("read", {"path": f"f{start + n}"}), usage=Usage(input=500 + tokens * (start + n), output=20))
        for n in range(count)
    ]


def opened(provider: Playing, log: ListLog, card: ModelCard = SMALL, **changes: object) -> Session:
    models = OneModel(provider, card)
    return open_session(
        provider, FakeTool("read", large), log=log, models=models, model=models.open(card.id),
        summary_prompt="Write the hand-over.", **changes,
    )  # fmt: skip


def performed(log: ListLog) -> list[ev.CompactionPerformed]:
    return [event for event in log.events if isinstance(event, ev.CompactionPerformed)]


async def test_old_results_are_cleared_first_and_no_model_is_asked():
    log = ListLog()
    provider = Playing(*reads(6), says("done"))
    session = opened(provider, log)
    await run(session, say("read all"))
    pruned = performed(log)
    assert [event.mode for event in pruned] == ["prune"]
    assert pruned[0].tokens_after < pruned[0].tokens_before
    shown = [part for m in provider.asked[-1].messages for part in m.parts if isinstance(part, ToolResult)]
    assert "cleared to save context" in str(shown[0].content)
    assert "x" * 12_000 in str(shown[-1].content), "the last batch always stays"
    assert session.state.answer == "done"
    accepted(provider.asked)
    await session.close()


async def test_a_summary_replaces_what_pruning_cannot_and_the_operators_words_survive():
    log = ListLog()
    talk = says("a" * 60_000, usage=Usage(input=19_500, output=15_000))
    provider = Playing(talk, says("## Current state\nall is well"), says("going on"))
    session = opened(provider, log, WIDE)
    await run(session, say("the one instruction"))
    await run(session, say("second message"))
    (summary,) = performed(log)
    assert summary.mode == "summary"
    assert "all is well" in summary.summary
    assert summary.model == "fake-1", "what is priced names who was paid"
    first = provider.asked[-1].messages[0].parts[0]
    assert isinstance(first, Text)
    assert first.text.startswith(SUMMARY_OPENING)
    assert "the one instruction" in first.text, "verbatim"
    assert provider.asked[1].tool_choice == "none"
    assert provider.asked[1].system == provider.asked[0].system, "on the cached prefix"
    assert provider.asked[1].messages[:1] == provider.asked[0].messages[:1]
    assert session.state.answer == "going on"
    accepted(provider.asked)
    await session.close()


async def test_the_view_after_a_reload_is_the_view_before():
    log = ListLog()
    provider = Playing(*reads(6), says("done"))
    session = opened(provider, log)
    await run(session, say("read all"))
    await session.close()
    again_provider = Playing(says("still here"))
    again = opened(again_provider, ListLog(entries=list(log.read())))
    await run(again, say("and?"))
    before, after = provider.asked[-1].messages, again_provider.asked[0].messages
    assert after[: len(before)] == before
    await again.close()


async def test_a_summarizer_that_fails_never_ends_the_turn_and_twice_is_enough():
    log = ListLog()
    empty = ev.Finished((), Usage(), "fake-1", "length", "MAX_TOKENS")
    talk = [says("a" * 60_000, usage=Usage(input=19_500 + n, output=15_000)) for n in range(5)]
    provider = Playing(talk[0], empty, talk[1], empty, talk[2])
    session = opened(provider, log, WIDE)
    for n in range(3):
        await run(session, say(f"message {n}"))
        if n == 1:
            session.state.boundaries.cool_until = 0
    failed = [event for event in log.events if isinstance(event, ev.ContextReductionFailed)]
    assert "finish_reason=MAX_TOKENS" in failed[0].reason
    assert [event.consecutive_failures for event in failed] == [1, 2]
    assert [event.mode for event in performed(log)] == ["mechanical"]
    opening = provider.asked[-1].messages[0].parts[0]
    assert isinstance(opening, Text)
    assert "truncated" in opening.text
    assert "message 0" in opening.text
    assert all(isinstance(e, ev.TurnCompleted) for e in log.events if isinstance(e, ev.TERMINAL))
    accepted(provider.asked)
    await session.close()


async def test_a_prompt_that_the_service_refuses_as_too_long_is_reduced_once_and_sent_once_more():
    log = ListLog()
    provider = Playing(
        *reads(3, tokens=100),
        ContextOverflow("prompt is too long", used=9_000, limit=8_000),
        says("summary"),
        says("ok"),
    )
    session = opened(provider, log, ModelCard("fake-1", "fake", window=100_000, max_output=1_000))
    await run(session, say("go"))
    assert session.state.card.window == 8_000, "the figure in the refusal is the window now"
    assert performed(log)
    assert session.state.answer == "ok"
    accepted(provider.asked)
    await session.close()


async def test_a_refusal_although_the_estimate_was_low_clears_what_the_estimate_missed():
    async def dense(path: str, _: object) -> str:
        return "é1" * 6_000

    log = ListLog()
    too_long = ContextOverflow("prompt is too long", used=26_000, limit=20_000)
    provider = Playing(
        wants(("read", {"path": "a"}), ("read", {"path": "b"}), usage=Usage(input=500, output=20)),
        too_long, says("ok"),
    )  # fmt: skip
    models = OneModel(provider, SMALL)
    session = open_session(
        provider, FakeTool("read", dense), log=log, models=models, model=models.open(SMALL.id)
    )
    await run(session, say("go"))
    assert session.state.answer == "ok"
    assert "cleared to save context" in str(provider.asked[-1].messages)
    accepted(provider.asked)
    await session.close()


async def test_what_was_cleared_is_not_saved_again_by_the_truncation_behind_it():
    async def huge(path: str, _: object) -> str:
        return "x" * (31_000 if path == "huge" else 12_000)

    log = ListLog()
    talk = [says("t" * 24_000, usage=Usage(input=6_000 * n, output=6_000)) for n in range(3)]
    last = wants(("read", {"path": "huge"}), ("read", {"path": "huge"}), usage=Usage(input=27_500, output=20))
    provider = Playing(*talk, *reads(3, start=6), last, says("ok"))
    models = OneModel(provider, WIDE)
    session = open_session(
        provider, FakeTool("read", huge), log=log, models=models, model=models.open(WIDE.id)
    )
    for n in range(3):
        await run(session, say(f"message {n}"))
    session.state.boundaries.cool_until = 99
    await run(session, say("go"))
    assert [event.mode for event in performed(log)] == ["prune", "mechanical"]
    assert performed(log)[-1].tokens_after > 20_000, "the last batch is still there"
    assert session.state.answer == "ok"
    accepted(provider.asked)
    await session.close()


async def test_a_second_refusal_ends_the_turn_with_its_own_outcome():
    log = ListLog()
    too_long = ContextOverflow("prompt is too long", limit=20_000)
    provider = Playing(*reads(3, tokens=100), too_long, says("summary"), too_long)
    session = opened(provider, log)
    await run(session, say("go"))
    end = log.events[-1]
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.outcome) == ("overflow", "context-overflow")
    size = context_size(session._core)
    assert f"The window of fake-1 is 20,000 tokens, the prompt has about {size:,} tokens" in end.message
    await session.close()


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (ContextOverflow("too long", used=26_000, limit=24_000), "is 24,000 tokens, the prompt has 26,000"),
        (ContextOverflow("too long"), "is a size that nobody knows, the prompt has about 120 tokens"),
    ],
)
async def test_a_refusal_ends_the_turn_where_nothing_is_reduced(refusal: ContextOverflow, told: str):
    log, card = ListLog(), ModelCard("fake-1", "fake")
    provider = Playing(says("fine", usage=Usage(input=90, output=10)), refusal)
    session = opened(provider, log, card, compaction=Compaction(enabled=False))
    await run(session, say("one"))
    await run(session, say("two " * 20))
    end = log.events[-1]
    assert isinstance(end, ev.TurnError)
    assert end.outcome == "context-overflow"
    assert told in end.message
    assert performed(log) == []
    assert len(provider.asked) == 2, "it was not sent again"
    await session.close()


async def test_the_operator_compacts_also_where_nothing_is_reduced_by_itself():
    log = ListLog()
    provider = Playing(says("long " * 4_000), says("the summary"))
    session = opened(provider, log, compaction=Compaction(enabled=False))
    await run(session, say("one"))
    await run(session, Compact())
    assert [event.mode for event in performed(log)] == ["summary"]
    await session.close()


@pytest.mark.parametrize(("used", "most"), [(20_000, 60_000), (60_000, 35_000), (94_800, 1_024)])
async def test_an_answer_is_never_allowed_more_than_the_window_leaves(used: int, most: int):
    card = ModelCard("fake-1", "fake", window=100_000, max_output=60_000)
    provider = Playing(says("one", usage=Usage(input=used, output=0)), says("two"))
    session = opened(provider, ListLog(), card, compaction=Compaction(enabled=False))
    await run(session, say("one"))
    await run(session, say("two"))
    allowed = provider.asked[1].max_output or card.max_output or 0
    assert most - 100 <= allowed <= most
    assert session.state.context_tokens < card.window
    await session.close()


async def test_switched_off_nothing_is_reduced_and_the_full_window_still_cuts_the_turn():
    log = ListLog()
    provider = Playing(*reads(8))
    session = opened(provider, log, compaction=Compaction(enabled=False))
    await run(session, say("read all"))
    end = log.events[-1]
    assert performed(log) == []
    assert isinstance(end, ev.TurnError)
    assert end.outcome == "context-overflow"
    await session.close()


async def test_an_unknown_window_is_assumed_by_the_compactor_alone_and_told_once():
    log = ListLog()
    provider = Playing(says("a"), says("b"))
    session = opened(provider, log, ModelCard("fake-1", "fake"))
    await run(session, say("one"))
    await run(session, say("two"))
    told = [event for event in log.events if isinstance(event, ev.ContextReductionDegraded)]
    assert [(event.operation, event.window) for event in told] == [("assumed-window", 128_000)]
    assert session.state.card.window is None
    await session.close()
    again = opened(Playing(says("c")), log, ModelCard("fake-1", "fake"))
    await run(again, say("three"))
    await again.close()
    assert len([event for event in log.events if isinstance(event, ev.ContextReductionDegraded)]) == 1


async def test_a_window_is_assumed_for_each_model_that_nobody_knows():
    log = ListLog()
    provider = Playing(says("a"), says("b"), says("c"))
    models = OneModel(provider, ModelCard("fake-1", "fake"), ModelCard("fake-2", "fake"))
    session = open_session(provider, log=log, models=models, model=models.open("fake-1"))
    for model in ("fake-2", "fake-1"):
        await run(session, say("go"))
        session.send(SetModel(model))
    await run(session, say("go"))
    told = [event.model for event in log.events if isinstance(event, ev.ContextReductionDegraded)]
    assert told == ["fake-1", "fake-2"]
    await session.close()


async def test_what_an_answer_made_due_waits_for_the_next_turn():
    """Nobody waits for a summary after an answer."""
    log = ListLog()
    talk = says("a" * 60_000, usage=Usage(input=19_500, output=15_000))
    provider = Playing(talk, says("## Current state\nfine"), says("going on"))
    session = opened(provider, log, WIDE)
    await run(session, say("one"))
    assert len(provider.asked) == 1
    assert performed(log) == []
    await run(session, say("two"))
    kinds = [kind for kind in log.kinds if kind in {"turn-started", "compaction-performed", "step-started"}]
    assert kinds[-3:] == ["turn-started", "compaction-performed", "step-started"]
    await session.close()


async def test_a_message_larger_than_the_window_is_sent_with_head_and_tail_and_kept_whole():
    log, kept = ListLog(), dict[str, str]()

    def spill(name: str, text: str) -> str:
        kept[name] = text
        return f"/results/{name}.txt"

    provider = Playing(says("fine"), says("as I said"))
    session = opened(provider, log, spill=spill)
    whole = "begin " + "w" * 90_000 + " end"
    await run(session, say(whole))
    assert session.state.answer == "fine"
    (reduced,) = performed(log)
    assert reduced.mode == "mechanical"
    (name,) = kept
    assert kept[name] == whole
    (shown,) = provider.asked[0].messages[0].parts
    assert isinstance(shown, Text)
    assert shown.text.startswith("begin www")
    assert shown.text.endswith("www end")
    assert f"of 90,010 bytes left out here; all of it is in /results/{name}.txt" in shown.text
    left = len(shown.text.encode())
    assert left // 4 < 20_000 * 0.95
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert "90,010 bytes" in note
    assert f"/results/{name}.txt" in note
    await run(session, say("what did I say?"))
    assert session.state.answer == "as I said"
    assert provider.asked[1].messages[0] == provider.asked[0].messages[0], "the same bytes again"
    accepted(provider.asked)
    again = opened(Playing(says("still")), ListLog(entries=list(log.read())))
    await run(again, say("and?"))
    assert again.state.answer == "still"
    await again.close()
    await session.close()


async def test_what_was_shortened_for_one_window_is_shortened_again_for_a_smaller_one():
    log, kept = ListLog(), list[str]()

    def spill(name: str, text: str) -> str:
        kept.append(text)
        return f"/kept/{name}"

    down = [Overloaded("down") for _ in range(3)]
    provider = Playing(*down, ContextOverflow("too long", used=39_000, limit=20_000), says("fine"))
    models = OneModel(provider, WIDE, msgspec.structs.replace(SMALL, id="small"))
    session = open_session(
        provider, log=log, models=models, model=models.open("fake-1"), fallbacks=("small",), spill=spill
    )
    await run(session, say("x" * 400_000 + "!"))
    assert session.state.answer == "fine"
    sizes = [len(part.text) for asked in provider.asked for part in asked.messages[0].parts]
    assert sizes[0] == sizes[3] > sizes[4] * 1.5
    (shown,) = provider.asked[-1].messages[0].parts
    assert (
        f"{400_001 - (shown.text.index('[') - 1) - len(shown.text.rpartition(']')[2]) + 1:,} of 400,001"
        in shown.text
    )
    assert shown.text.count("left out here; all of it is in /kept/") == 1
    assert kept == ["x" * 400_000 + "!"], "kept once, and whole"
    await session.close()


async def test_pictures_and_documents_that_fill_the_window_are_left_out_and_the_words_stay():
    log = ListLog()
    provider = Playing(says("fine"))
    session = opened(provider, log)
    parts = (Text("what is this?"), Document("application/pdf", "A" * 200_000, "big.pdf"))
    await run(session, Say(parts))
    assert session.state.answer == "fine"
    shown = provider.asked[0].messages[0].parts
    assert shown[0] == Text("what is this?")
    assert shown[1] == Text("[big.pdf of 150,000 bytes, left out here: it does not fit the context window]")
    await session.close()


async def test_where_nothing_is_reduced_by_itself_the_operator_can_have_a_huge_message_shortened():
    log = ListLog()
    session = opened(Playing(says("fine")), log, compaction=Compaction(enabled=False))
    await run(session, say("w" * 90_000))
    end = session.state.ending
    assert isinstance(end, ev.TurnError)
    assert "/compact" in end.message
    await run(session, Compact())
    assert [event.mode for event in performed(log)] == ["mechanical"]
    await run(session, say("and now?"))
    assert session.state.answer == "fine"
    await session.close()


async def test_a_window_that_the_tools_alone_fill_cuts_the_turn():
    log = ListLog()
    session = opened(Playing(), log, system=lambda started, card: ("s" * 100_000,))
    await run(session, say("hi"))
    cut = log.events[-2]
    assert isinstance(cut, ev.ContextReductionDegraded)
    assert (cut.operation, cut.window) == ("turn-cut", 20_000)
    end = log.events[-1]
    assert isinstance(end, ev.TurnError)
    assert end.outcome == "context-overflow"
    assert "of 20,000 tokens" in end.message
    await session.close()


async def test_the_plan_and_the_list_of_things_to_do_survive_word_for_word():
    log = ListLog()
    items = [{"text": "write it", "status": "done"}, {"text": "test it"}]
    provider = Playing(says("long " * 4_000), says("the summary"))
    session = opened(provider, log)
    await run(session, say("one"))
    record = session._core.record
    record(ev.PlanRecorded("plan.md", "1. First this\n2. Then that"))
    record(ev.ToolCallProposed(ToolCall("t1", "todo", {"items": items})))
    record(ev.ToolReturned("t1", "todo", ev.Output((Text("ok"),))))
    await run(session, Compact())
    text = performed(log)[0].summary
    assert f"{PLAN_HEADING}\n\n1. First this\n2. Then that" in text
    assert f"{TODO_HEADING}\n\n- [x] write it\n- [ ] test it" in text
    await session.close()


async def test_what_a_service_did_itself_is_not_bounded():
    log = ListLog()
    call = ToolCall("s1", "web_search", {"query": "x"})
    result = ToolResult("s1", "web_search", (Text("y" * 90_000),))
    done = ev.Finished((call,), Usage(input=10), "fake-1", "tool-calls", answered=(result,))
    provider = Playing(done, says("ok"))
    session = opened(provider, log, ModelCard("fake-1", "fake", window=200_000))
    await run(session, say("go"))
    (returned,) = [event.output for event in log.events if isinstance(event, ev.ToolReturned)]
    assert returned.for_model == result.content
    await session.close()


async def test_the_operator_compacts_between_turns_with_a_focus():
    log = ListLog()
    provider = Playing(says("long " * 4_000), says("the summary"), says("next"))
    session = opened(provider, log)
    await run(session, say("one"))
    session.send(Compact("the tests"))
    session.send(say("meanwhile typed"))
    await session.idle()
    (done,) = performed(log)
    assert (done.mode, done.focus) == ("summary", "the tests")
    asked = provider.asked[1].messages[-1].parts[-1]
    assert isinstance(asked, Text)
    assert "Dwell on: the tests" in asked.text
    assert session.state.answer == "next"
    await session.close()


async def test_a_compaction_can_be_interrupted_and_is_refused_during_a_turn():
    log = ListLog()
    provider = Playing(says("long " * 4_000), says("never"), says("fine"))
    session = opened(provider, log)
    await run(session, say("one"))
    provider.hold = asyncio.Event()
    session.send(Compact())
    await settle()
    session.send(Interrupt())
    await session.idle()
    assert performed(log) == []
    session.send(say("two"))
    await settle()
    session.send(Compact())
    provider.hold.set()
    await session.idle()
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert notes == ["not compacted: interrupted", "not compacted: a turn is running; interrupt it or wait"]
    await session.close()


async def test_a_prune_goes_deep_or_a_summary_takes_its_place():
    """Each reduction costs the cached prefix, so that one which is soon repeated is the dearest."""
    log = ListLog()
    text = "t" * 24_000
    talk = [says(text, usage=Usage(input=6_000 * n, output=6_000)) for n in range(1, 4)]
    provider = Playing(
        *talk, *reads(3, start=8), says("## Current state\nfine"), *reads(1, start=1), says("done")
    )
    session = opened(provider, log, WIDE)
    for n in range(3):
        await run(session, say(f"message {n}"))
    await run(session, say("read"))
    assert [event.mode for event in performed(log)] == ["summary"]
    assert performed(log)[0].tokens_after < 0.7 * session.state.context_limit
    accepted(provider.asked)
    await session.close()


class Measuring(Playing):
    """Counts what it is sent, as a service does."""

    async def stream(self, prompt, /):
        size = sum(len(str(part)) for message in prompt.messages for part in message.parts) // 4
        helper = prompt.tool_choice == "none" or not prompt.tools
        reply = says("short summary") if helper else self.replies.pop(0)
        self.asked.append(prompt)
        yield ev.Finished(reply.parts, Usage(input=size, output=100), "fake-1", reply.finish_reason)


@pytest.mark.parametrize(
    ("talk", "size", "mode"),
    [
        pytest.param(24_000, 12_000, "prune", id="what is left is about half of the threshold"),
        pytest.param(56_000, 12_000, "summary", id="what is left is soon at the threshold again"),
        pytest.param(6_000, 60_000, "prune", id="it is as much, and a summary would leave no less"),
    ],
)
async def test_a_prune_does_where_it_goes_deep_or_a_summary_goes_no_deeper(talk: int, size: int, mode: str):
    async def of_that_size(path: str, _: object) -> str:
        return f"{path}: " + "x" * size

    log = ListLog()
    steps = [wants(("read", {"path": f"f{n}"})) for n in range(40)]
    provider = Measuring(says("t" * talk), *steps, says("done"))
    models = OneModel(provider, WIDE)
    session = open_session(
        provider, FakeTool("read", of_that_size, bounded=True), log=log, models=models, model=models.open(WIDE.id),
        summary_prompt="Write the hand-over.",
    )  # fmt: skip
    await run(session, say("talk"))
    session.send(say("read"))
    await session.idle()
    assert performed(log)[0].mode == mode
    assert session.state.answer == "done"
    await session.close()


async def test_results_of_one_batch_that_fill_the_window_go_and_the_session_lives():
    async def huge(path: str, _: object) -> str:
        session.send(SetModel("fake-2"))
        return f"{path}: " + "x" * 31_000

    log = ListLog()
    calls = [("read", {"path": f"f{n}"}) for n in range(4)]
    provider = Playing(wants(*calls, usage=Usage(input=500, output=20)), says("done"))
    small = msgspec.structs.replace(SMALL, id="fake-2")
    models = OneModel(provider, ModelCard("fake-1", "fake", window=200_000), small)
    session = open_session(
        provider, FakeTool("read", huge), log=log, models=models, model=models.open("fake-1"),
        compaction=Compaction(mode="summarize-only"), summary_prompt="Write the hand-over.",
    )  # fmt: skip
    await run(session, say("read all"))
    assert session.state.answer == "done"
    assert "cleared to save context" in str(provider.asked[-1].messages)
    accepted(provider.asked)
    await session.close()


async def test_a_long_turn_is_summarized_as_often_as_it_fills_up():
    """Only a conversation that is full again at once is truncated without a model."""
    log = ListLog()
    steps = [
        wants(("read", {"path": f"f{n}"}), text="t" * 9_000, usage=Usage(input=5_000, output=2_000))
        for n in range(60)
    ]

    class Measuring(Playing):
        async def stream(self, prompt, /):
            size = sum(len(str(part)) for message in prompt.messages for part in message.parts) // 4
            reply = says("short summary") if prompt.tool_choice == "none" else self.replies.pop(0)
            self.asked.append(prompt)
            yield ev.Finished(reply.parts, Usage(input=size, output=2_300), "fake-1", reply.finish_reason)

    provider = Measuring(*steps, says("done"))
    session = opened(provider, log, ModelCard("fake-1", "fake", window=60_000, max_output=1_000))
    await run(session, say("go"))
    modes = [event.mode for event in performed(log)]
    assert modes.count("summary") > 3
    assert "mechanical" not in modes
    await session.close()


async def test_a_service_that_reports_no_usage_is_estimated_whole():
    log = ListLog()
    nothing = [says("a" * 46_000, usage=Usage()) for _ in range(3)]
    provider = Playing(*nothing, says("## Current state\nfine", usage=Usage()), says("ok", usage=Usage()))
    session = opened(provider, log, WIDE)
    for n in range(4):
        await run(session, say(f"message {n}"))
    assert [event.mode for event in performed(log)] == ["summary"], "the answers count, too"
    assert session.state.answer == "ok"
    await session.close()


async def test_the_first_request_leaves_room_for_what_the_estimate_missed():
    provider = Playing(says("ok"))
    session = opened(provider, ListLog(), ModelCard("fake-1", "fake", window=20_000, max_output=20_000))
    await run(session, say("hello"))
    assert provider.asked[0].max_output is not None
    assert provider.asked[0].max_output <= 19_000
    await session.close()


@pytest.mark.parametrize("window", [8_192, 32_000])
async def test_two_hundred_steps_of_large_results_fit(window: int):
    log = ListLog()
    card = ModelCard("fake-1", "fake", window=window, max_output=1_000)

    class Measuring(Playing):
        """Counts what it is sent, as a service does, and refuses what does not fit."""

        async def stream(self, prompt, /):
            size = sum(len(str(part)) for message in prompt.messages for part in message.parts) // 4 + 200
            assert size < window, "a request that the service would refuse"
            reply = (
                says("short summary")
                if prompt.tool_choice == "none" or not prompt.tools
                else self.replies.pop(0)
            )
            self.asked.append(prompt)
            yield ev.Finished(reply.parts, Usage(input=size, output=20), "fake-1", reply.finish_reason)

    provider = Measuring(*reads(200), says("done"))
    session = opened(provider, log, card)
    await run(session, say("the instruction"))
    assert session.state.answer == "done"
    assert len(performed(log)) > 5
    assert "the instruction" in str(provider.asked[-1].messages[0])
    accepted(provider.asked)
    await session.close()


async def test_a_tool_may_have_a_bound_of_its_own_also_one_that_pages_by_itself():
    async def long(path: str, _: object) -> str:
        return "x" * 9_000

    log = ListLog()
    provider = Playing(
        wants(("one", {"path": "a"}), ("two", {"path": "b"}), ("own", {"path": "c"})), says("ok")
    )
    session = open_session(
        provider,
        FakeTool("one", long),
        FakeTool("two", long),
        FakeTool("own", long, bounded=True),
        log=log,
        settings=Settings(max_result_bytes=8_000, result_bytes={"two": 2_000, "own": 3_000}),
    )
    await run(session, say("go"))
    returned = {event.tool: event.output for event in log.events if isinstance(event, ev.ToolReturned)}
    sizes = {name: len(ev.as_text(output)) for name, output in returned.items()}
    assert 8_000 < sizes["one"] < 8_200
    assert 2_000 < sizes["two"] < 2_200
    assert 3_000 < sizes["own"] < 3_200
    await session.close()


@pytest.mark.parametrize("fails", [False, True])
async def test_a_long_request_stays_as_it_was_said_over_many_reductions(fails: bool):
    """Longer than what all the operator's words may take together."""
    request = "begin " + " ".join(f"line {n} of the log" for n in range(1_200)) + " end"
    empty = ev.Finished((), Usage(), "fake-1", "length", "MAX_TOKENS")

    class Service(Measuring):
        async def stream(self, prompt, /):
            if fails and (prompt.tool_choice == "none" or not prompt.tools):
                yield empty
                return
            async for piece in super().stream(prompt):
                yield piece

    log = ListLog()
    steps = [wants(("read", {"path": f"f{n}"}), text="t" * 6_000) for n in range(40)]
    provider = Service(*steps, says("done"))
    session = opened(provider, log, compaction=Compaction(mode="summarize-only"))
    await run(session, say("never touch main.py"), say(request))
    session.state.boundaries.cool_until = 0
    await session.idle()
    assert len(performed(log)) > 5
    for prompt in provider.asked[-20:]:
        shown = "".join(part.text for part in prompt.messages[0].parts if isinstance(part, Text))
        assert request in shown
        assert "never touch main.py" in shown
    accepted(provider.asked)
    await session.close()
