"""How a summary is asked for, and what becomes of one that does not come."""

from __future__ import annotations

import re
from importlib import resources

import msgspec
import pytest

from agent_cli.context.budget import Compaction
from agent_cli.context.reduce import RESULT_IN_SUMMARY
from agent_cli.engine.session import Session
from agent_cli.engine.summarizer import SHRINK
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Compact
from agent_cli.kernel.errors import ContextOverflow, RequestRefused
from agent_cli.kernel.messages import Message, Text
from agent_cli.kernel.usage import ModelCard, Price, Usage
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing, Reply, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

CARD = ModelCard("fake-1", "fake", window=100_000, max_output=4_000)
WRITTEN = msgspec.structs.replace(CARD, prices=(Price(1.0, 5.0, 0.1, 1.25),))
LARGE = 30_000


async def large(path: str, _: object) -> str:
    return f"{path}: " + "x" * LARGE


def opened(provider: Playing, log: ListLog, *cards: ModelCard, **changes: object) -> Session:
    models = OneModel(provider, *cards)
    return open_session(
        provider, FakeTool("read", large), log=log, models=models, model=models.open(cards[0].id),
        summary_prompt="Write the hand-over.", **changes,
    )  # fmt: skip


async def compacted(card: ModelCard, *replies: Reply) -> tuple[Playing, ListLog]:
    read = wants(("read", {"path": "a"}), usage=Usage(input=8_000, output=20))
    provider, log = Playing(read, says("seen", usage=Usage(input=16_000, output=20)), *replies), ListLog()
    session = opened(provider, log, card)
    await run(session, say("look"))
    session.send(Compact())
    await session.idle()
    await session.close()
    return provider, log


@pytest.mark.parametrize(("card", "choice"), [(CARD, "none"), (WRITTEN, "auto")])
async def test_a_summary_is_asked_for_on_the_prefix_that_is_cached(card: ModelCard, choice: str):
    provider, log = await compacted(card, says("the summary"))
    step, asked = provider.asked[-2:]
    assert (asked.system, asked.tools, asked.tool_choice) == (step.system, step.tools, choice)
    assert asked.messages[: len(step.messages)] == step.messages, "with results as long as they were"
    assert "x" * LARGE in str(asked.messages)
    assert asked.messages[-1] == Message("user", (Text("Write the hand-over."),))
    assert "the summary" in str(log.events)


async def test_a_service_that_refuses_the_conversation_as_it_is_gets_a_transcript():
    provider, log = await compacted(CARD, RequestRefused("tools are not taken"), says("the summary"))
    assert [len(asked.tools) for asked in provider.asked[-2:]] == [1, 0]
    assert "result of read: a: xxx" in str(provider.asked[-1].messages)
    assert summaries(log) == ["the summary\n\n## The operator's messages so far, verbatim\n\nlook"]


async def test_a_summary_that_would_save_next_to_nothing_is_not_asked_for():
    provider, log = Playing(says("hello", usage=Usage(input=9_000, output=2))), ListLog()
    session = opened(provider, log, CARD)
    await run(session, say("look"))
    session.send(Compact())
    await session.idle()
    assert len(provider.asked) == 1
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert note.startswith("not compacted: there is little to compact")
    await session.close()


async def test_a_service_that_refuses_that_too_has_given_no_summary():
    provider, log = await compacted(CARD, RequestRefused("no"), RequestRefused("not this either"))
    assert len(provider.asked) == 4
    assert summaries(log) == []
    assert [event.text for event in log.events if isinstance(event, ev.OperatorNote)] == [
        "not compacted: not this either"
    ]


async def test_a_model_that_calls_a_tool_instead_is_asked_again_without():
    call = wants(("read", {"path": "b"}), text="Let me look.")
    provider, log = await compacted(WRITTEN, call, says("the summary"))
    assert [prompt.tool_choice for prompt in provider.asked[-2:]] == ["auto", "none"]
    (done,) = [event for event in log.events if isinstance(event, ev.CompactionPerformed)]
    assert done.summary.startswith("the summary")
    assert not any(isinstance(event, ev.ToolCallProposed) for event in log.events[-4:])


def nothing(reason: ev.FinishReason, native: str) -> ev.Finished:
    return ev.Finished((), Usage(input=9), "fake-1", reason, native)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([nothing("length", "MAX_TOKENS")], "(finish_reason=MAX_TOKENS) after 1 attempt"),
        ([nothing("safety", "SAFETY")], "(finish_reason=SAFETY) after 1 attempt"),
        ([nothing("other", "MALFORMED_FUNCTION_CALL")], "(finish_reason=MALFORMED_FUNCTION_CALL) after 1 attempt"),
        ([nothing("other", "")] * 2, "(finish_reason=other) after 2 attempts"),
        ([nothing("stop", "")] * 2, "(finish_reason=stop) after 2 attempts"),
    ],
)  # fmt: skip
async def test_no_text_back_is_told_with_the_reason_of_the_service(answers: list[Reply], told: str):
    provider, log = await compacted(CARD, *answers)
    assert provider.replies == []
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert notes == [f"not compacted: compaction: model returned no summary text {told}"]
    assert not any(isinstance(event, ev.ContextReductionFailed) for event in log.events), "the operator asked"


async def test_another_model_may_write_the_summaries_and_is_paid_for_by_the_session():
    small = ModelCard("fake-small", "fake", window=50_000, prices=(Price(1_000_000.0, 0.0),))
    usage = Usage(input=3, output=5)
    provider, log = Playing(says("long " * 4_000), says("short", usage=usage)), ListLog()
    session = opened(provider, log, CARD, small, compaction=Compaction(model="fake-small"))
    await run(session, say("go"))
    session.send(Compact())
    await session.idle()
    (done,) = [event for event in log.events if isinstance(event, ev.CompactionPerformed)]
    assert provider.asked[-1].model == done.model == "fake-small"
    assert (done.cost, session.state.models["fake-small"].cost) == (3.0, 3.0)
    await session.close()


async def test_failures_are_counted_and_the_wait_doubles_up_to_32_turns():
    text = says("a" * 40_000, usage=Usage(input=84_000, output=10_000))
    provider, log = Playing(), ListLog()
    session = opened(provider, log, CARD)
    for turn in range(9):
        session.state.boundaries.cool_until = 0
        session.state.boundaries.probe = True
        failing = [nothing("length", "MAX_TOKENS")] if turn else []
        provider.replies = [*failing, text]
        await run(session, say(f"message {turn}"))
    failed = [event for event in log.events if isinstance(event, ev.ContextReductionFailed)]
    assert [(event.consecutive_failures, event.cooldown_turns) for event in failed[:6]] == [
        (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 32),
    ]  # fmt: skip
    assert all(event.operation == "compaction" for event in failed)
    await session.close()


async def test_the_turn_is_cut_with_what_nobody_measured():
    log = ListLog()
    provider = Playing(
        wants(*[("read", {"path": f"f{n}"}) for n in range(4)], usage=Usage(input=70_000, output=20))
    )
    session = opened(provider, log, CARD, compaction=Compaction(enabled=False))
    await run(session, say("go"))
    (cut,) = [event for event in log.events if isinstance(event, ev.ContextReductionDegraded)]
    assert (cut.operation, cut.window) == ("turn-cut", 100_000)
    assert cut.unmeasured_bytes > 4 * LARGE
    assert cut.estimate >= 95_000
    end = log.events[-1]
    assert isinstance(end, ev.TurnError)
    assert not any(isinstance(event, ev.GuardrailTrip) for event in log.events), "there is nothing to reset"
    await session.close()


async def test_a_reduction_is_due_as_soon_as_a_result_lands_and_told_once():
    log = ListLog()
    calls = [("read", {"path": f"f{n}"}) for n in range(3)]
    provider = Playing(wants(*calls, usage=Usage(input=70_000, output=20)), says("ok"), says("ok"))
    session = opened(provider, log, CARD)
    await run(session, say("go"))
    kinds = log.kinds
    pending = [at for at, kind in enumerate(kinds) if kind == "context-reduction-pending"]
    assert len(pending) == 1
    last = max(at for at, kind in enumerate(kinds) if kind == "tool-result")
    assert pending[0] < last or kinds[pending[0] - 1] == "tool-result", "before the next request is built"
    await session.close()


class Small(Playing):
    """Writes summaries in a window of its own, and refuses what does not fit, unless it counts dearly."""

    def __init__(self, window: int, *, bytes_a_token: float = 4) -> None:
        super().__init__()
        self.window, self.bytes_a_token = window, bytes_a_token
        self.refused: list[int] = []

    async def stream(self, prompt, /):
        size = int(
            sum(len(str(part)) for message in prompt.messages for part in message.parts) / self.bytes_a_token
        )
        if prompt.model == "fake-small" and size + (prompt.max_output or 0) > self.window:
            self.refused.append(size)
            raise ContextOverflow("prompt is too long", used=size, limit=self.window)
        self.asked.append(prompt)
        text = f"fold {len(self.asked)}" if prompt.model == "fake-small" else "talk " * 8_000
        yield ev.Finished((Text(text),), Usage(input=size, output=10), "fake-1", "stop")


async def folded(window: int, *, bytes_a_token: float = 4) -> tuple[Small, ListLog]:
    small = ModelCard("fake-small", "fake", window=window, max_output=2_000)
    provider, log = Small(window, bytes_a_token=bytes_a_token), ListLog()
    session = opened(provider, log, CARD, small, compaction=Compaction(model="fake-small"))
    for turn in range(4):
        await run(session, say(f"message {turn}"))
    session.send(Compact())
    await session.idle()
    await session.close()
    return provider, log


def summaries(log: ListLog) -> list[str]:
    return [event.summary for event in log.events if isinstance(event, ev.CompactionPerformed)]


async def test_what_the_summarizer_cannot_read_at_once_is_folded_in_chunks():
    provider, log = await folded(20_000)
    asked = [prompt for prompt in provider.asked if prompt.model == "fake-small"]
    assert len(asked) > 3
    assert provider.refused == []
    for number, prompt in enumerate(asked):
        assert prompt.tools == ()
        text = str(prompt.messages)
        assert "Write the hand-over." in text[-60:]
        assert (number > 0) == ("The hand-over so far" in text), "each holds the text before it"
    (summary,) = summaries(log)
    assert summary.startswith(f"fold {len(provider.asked)}")
    told = "".join(str(prompt.messages) for prompt in asked)
    assert told.index("message 0") < told.index("message 2"), "in the order of the talk"


async def test_a_summarizer_that_refuses_is_given_less_and_less_of_it():
    """Its service counts twice as much as we guessed."""
    provider, log = await folded(20_000, bytes_a_token=1.4)
    assert provider.refused, "the first size was refused"
    assert provider.refused == sorted(provider.refused, reverse=True)
    assert len(summaries(log)) == 1


async def test_a_summarizer_that_refuses_every_size_is_a_failed_summary():
    provider, log = await folded(20_000, bytes_a_token=0.4)
    assert len(provider.refused) == len(SHRINK)
    assert {event.mode for event in log.events if isinstance(event, ev.CompactionPerformed)} <= {"mechanical"}
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert "too long for the model to read" in note


async def test_in_what_is_folded_each_result_has_four_thousand_bytes():
    small = ModelCard("fake-small", "fake", window=50_000, max_output=2_000)
    read = wants(("read", {"path": "a"}), usage=Usage(input=8_000, output=20))
    provider, log = Playing(read, says("seen " * 4_000), says("short")), ListLog()
    session = opened(provider, log, CARD, small, compaction=Compaction(model="fake-small"))
    await run(session, say("go"))
    session.send(Compact())
    await session.idle()
    asked = str(provider.asked[-1].messages)
    assert "result of read: a: xxx" in asked
    assert RESULT_IN_SUMMARY - 20 <= asked.count("x") <= RESULT_IN_SUMMARY + 20
    await session.close()


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        ("summary", ["Current state", "Files & changes", "Technical context", "Strategy & approach", "Exact next steps"]),
        ("record", ["Task", "Files & changes", "Technical context", "Strategy & approach", "Verification & next steps", "Where we are"]),
    ],
)  # fmt: skip
def test_what_is_asked_for_has_these_headings(name: str, headings: list[str]):
    text = (resources.files("agent_cli.context") / f"{name}.md").read_text("utf-8")
    assert re.findall("^## (.+)$", text, re.MULTILINE) == headings
