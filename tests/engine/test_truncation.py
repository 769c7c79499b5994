"""Mechanical truncation: what is left where no summary is to be had."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec
import pytest

from agent_cli.context import reduce
from agent_cli.context.budget import Compaction
from agent_cli.context.reduce import OPERATOR_HEADING, TRUNCATED
from agent_cli.context.view import Item, View
from agent_cli.engine.reduction import BOTH_DOWN
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Compact
from agent_cli.kernel.usage import ModelCard, Usage
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing, says, wants
from tests.fakes.prompts import accepted
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

CARD = ModelCard("fake-1", "fake", window=60_000, max_output=1_000, tier="frontier")
WORDS = "walnut " * 4_000
Found = TypeVar("Found")


class Service(Playing):
    """Counts what it is sent as services do. `summaries` say what each request for one is answered."""

    def __init__(self, *replies: ev.Finished, summaries: list[ev.Finished]) -> None:
        super().__init__(*replies)
        self.summaries = summaries
        self.summarized = 0

    async def stream(self, prompt, /):
        size = sum(len(str(part)) for message in prompt.messages for part in message.parts) // 4
        if prompt.tool_choice == "none" or not prompt.tools:
            self.summarized += 1
            reply = self.summaries.pop(0)
        else:
            self.asked.append(prompt)
            reply = self.replies.pop(0)
        output = sum(len(str(part)) for part in reply.parts) // 4
        yield ev.Finished(reply.parts, Usage(input=size, output=output), "fake-1", reply.finish_reason)


def nothing() -> ev.Finished:
    return ev.Finished((), Usage(), "fake-1", "length", "MAX_TOKENS")


def opened(provider: Playing, log: ListLog, **changes: object) -> Session:
    async def read(path: str, _: object) -> str:
        return f"{path}: " + "x" * (100_000 if path == "huge" else 6_000)

    models = OneModel(provider, CARD)
    usual = {"models": models, "model": models.open(CARD.id), "compaction": Compaction(mode="summarize-only")}
    return open_session(
        provider, FakeTool("read", read, bounded=True), log=log, summary_prompt="Write the hand-over.",
        **{**usual, **changes},
    )  # fmt: skip


def talk(turns: int) -> list[ev.Finished]:
    """Each turn looks at one file and says a lot, so that a pruned result alone does not help."""
    made: list[ev.Finished] = []
    for turn in range(turns):
        made += [wants(("read", {"path": f"f{turn}"}), text=WORDS), says(WORDS)]
    return made


def view_of(entries: list[ev.Entry]) -> tuple[Item, ...]:
    view = View()
    for entry in entries:
        view.feed(entry)
    return view.items()


def of_kind(log: ListLog, kind: type[Found] | tuple[type[Found], ...]) -> list[Found]:
    return [event for event in log.events if isinstance(event, kind)]


async def test_after_two_failures_the_older_part_becomes_a_ledger_and_the_event_has_its_figures():
    log = ListLog()
    provider = Service(*talk(12), summaries=[nothing() for _ in range(9)])
    session = opened(provider, log)
    for turn in range(12):
        await run(session, say(f"message {turn}"))
        session.state.boundaries.cool_until = 0
    failed = of_kind(log, ev.ContextReductionFailed)
    assert [event.consecutive_failures for event in failed[:2]] == [1, 2]
    entries = list(log.read())
    at = next(n for n, entry in enumerate(entries) if isinstance(entry.event, ev.CompactionPerformed))
    done, degraded = entries[at].event, entries[at - 1].event
    assert isinstance(done, ev.CompactionPerformed)
    assert (done.mode, done.model, done.cost, done.cleared, done.focus) == ("mechanical", "", None, (), "")
    assert isinstance(degraded, ev.ContextReductionDegraded)
    assert (degraded.operation, degraded.model, degraded.window) == ("mechanical", "fake-1", 60_000)
    assert degraded.estimate == done.tokens_before >= 48_000
    before, after = view_of(entries[:at]), view_of(entries[: at + 1])
    dropped = [item for item in before if item.seq < done.keeps_from]
    assert dropped, "the older part goes"
    assert after[1:] == before[len(dropped) :], "what is kept is kept as it was"
    saved = reduce.tokens_of(before) - reduce.tokens_of(after)
    assert abs(done.tokens_before - done.tokens_after - saved) <= 20, "the figures are those of the view"
    said, _, words = done.summary.partition(OPERATOR_HEADING)
    assert said.startswith(TRUNCATED)
    ledger = [int(number) for number in re.findall(r"- read .*?f(\d+)", said)]
    assert ledger, "calls with their arguments"
    assert ledger == sorted(ledger, reverse=True), "newest first"
    assert "xxxx" not in said, "and without results"
    assert said.rstrip().endswith(WORDS.strip()[-7_000:]), "the end of the talk, as it was said"
    assert "message 0" in words
    accepted(provider.asked)
    await session.close()


async def test_one_attempt_at_a_summary_is_left_after_each_truncation():
    log = ListLog()
    good = says("## Current state\nfine")
    provider = Service(*talk(14), summaries=[nothing(), nothing(), nothing(), *[good] * 20])
    session = opened(provider, log)
    for turn in range(14):
        if session.state.boundaries.failures < 2:
            session.state.boundaries.cool_until = 0
        await run(session, say(f"message {turn}"))
    told = [
        event.mode if isinstance(event, ev.CompactionPerformed) else event.consecutive_failures
        for event in log.events
        if isinstance(event, ev.CompactionPerformed | ev.ContextReductionFailed)
    ]
    assert told[:6] == [1, 2, "mechanical", 3, "mechanical", "summary"]
    assert session.state.boundaries.failures == 0, "a summary ends the count"
    assert (session.state.boundaries.cool_until, session.state.boundaries.probe) == (0, False)
    assert all(isinstance(event, ev.TurnCompleted) for event in of_kind(log, ev.TERMINAL))
    await session.close()


async def test_where_a_truncation_would_be_no_smaller_both_ways_are_said_to_be_down():
    """What is old are the operator's own words, and they stay; what is large is the last result."""
    log = ListLog()
    provider = Service(
        wants(("read", {"path": "huge"}), text=WORDS + WORDS[:8_000]), says("done"), summaries=[]
    )
    session = opened(provider, log)
    session.state.boundaries.failures = 2
    await run(session, say("w" * 40_000))
    (failed,) = of_kind(log, ev.ContextReductionFailed)
    assert (failed.operation, failed.reason, failed.consecutive_failures) == ("compaction", BOTH_DOWN, 2)
    assert of_kind(log, ev.CompactionPerformed) == []
    assert session.state.answer == "done"
    await session.close()


async def test_a_window_that_is_full_again_at_once_is_truncated_and_the_next_turn_asks_for_a_summary_again():
    log = ListLog()
    steps = [wants(("read", {"path": "huge"}), text=WORDS) for _ in range(10)]
    provider = Service(
        *steps[:6], says("done"), *steps[6:], says("done"), summaries=[says("## Current state\nfine")] * 90
    )
    session = opened(provider, log)
    told: list[list[str]] = []
    for word in ("read", "go on"):
        before = len(of_kind(log, ev.CompactionPerformed))
        await run(session, say(word))
        told.append([event.mode for event in of_kind(log, ev.CompactionPerformed)[before:]])
    assert told[0][:4] == ["summary"] * 3 + ["mechanical"]
    assert told[1][0] == "summary"
    degraded = [event.operation for event in of_kind(log, ev.ContextReductionDegraded)]
    assert set(degraded) == {"mechanical"}, "it is said"
    assert of_kind(log, ev.ContextReductionFailed) == [], "no summary failed"
    assert session.state.answer == "done"
    accepted(provider.asked)
    await session.close()


@pytest.mark.parametrize(
    ("asks", "compaction"),
    [
        pytest.param(False, Compaction(mode="summarize-only"), id="its own"),
        pytest.param(True, Compaction(mode="summarize-only", model="fake-2"), id="another one is named"),
    ],
)
async def test_a_model_that_makes_things_up_is_asked_for_no_summary(asks: bool, compaction: Compaction):
    """The small embedded model answers the request instead of writing down where it stands."""
    log = ListLog()
    compact = msgspec.structs.replace(CARD, profile="compact")
    good = [says("## Current state\nfine") for _ in range(30)]
    provider = Service(*talk(8), summaries=good)
    models = OneModel(provider, compact, msgspec.structs.replace(CARD, id="fake-2"))
    session = opened(provider, log, models=models, model=models.open(CARD.id), compaction=compaction)
    for turn in range(8):
        await run(session, say(f"message {turn}"))
    session.send(Compact("the end"))
    await session.idle()
    modes = {event.mode for event in of_kind(log, ev.CompactionPerformed)}
    assert modes == ({"summary"} if asks else {"mechanical"})
    assert (provider.summarized > 0) == asks
    assert of_kind(log, ev.ContextReductionFailed) == []
    accepted(provider.asked)
    await session.close()
