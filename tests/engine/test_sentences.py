"""The eight sentences that the engine keeps, each under its own name."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_cli.context.reduce import size_of
from agent_cli.context.view import View
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt
from agent_cli.kernel.errors import ConnectionFailed, ContextOverflow, RequestRefused, StoreError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Document, Prompt, Text, ToolCall, ToolResult
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.ports import Facts, Proposal, Ruling
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing, says, wants
from tests.fakes.sessions import STARTED, ask_writes, is_fact, open_session, parts, run, say, until
from tests.fakes.tools import FakeTool, never

READ = FakeTool("read")


async def test_nothing_is_shown_as_a_fact_that_is_not_yet_in_the_log():
    log = ListLog()
    session = open_session(Playing(wants(("read", {"path": "a"})), says("done")), FakeTool("read"), log=log)
    stream = session.events()

    async def watch() -> int:
        seen = 0
        async for event in stream:
            if isinstance(event, ev.Entry):
                seen += 1
                assert any(entry.seq == event.seq and entry.event == event.event for entry in log.read())
                if isinstance(event.event, ev.TurnCompleted):
                    return seen
        return seen

    watching = asyncio.create_task(watch())
    session.send(say("go"))
    assert await watching == len(log.rows)
    await session.close()


async def test_a_fact_that_could_not_be_written_is_never_shown():
    log = ListLog()
    log.fail_at = 6
    session = open_session(Playing(says("never seen")), log=log)
    shown: list[ev.Event] = []

    async def watch() -> None:
        async for event in session.events():
            shown.append(event)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    session.send(say("go"))
    with pytest.raises(StoreError):
        await session.idle()
    with pytest.raises(StoreError):
        await watching
    assert [e.seq for e in shown if isinstance(e, ev.Entry)] == [1, 2, 3, 4, 5]
    await session.close()


@pytest.mark.parametrize("kill_after", range(3, 13))
async def test_every_recorded_call_gets_exactly_one_result_if_the_process_dies_the_view_supplies_it(
    kill_after: int,
):
    whole = ListLog()
    calls = wants(("read", {"path": "a"}), ("write", {"path": "b"}))
    session = open_session(
        Playing(calls, says("done")), FakeTool("read"), FakeTool("write", read_only=False), log=whole
    )
    await run(session, say("go"))
    await session.close()

    entries = list(whole.read())[:kill_after]
    provider = Playing(says("going on"))
    again = open_session(
        provider, FakeTool("read"), FakeTool("write", read_only=False), log=ListLog(entries=entries)
    )
    await run(again, say("and now?"))
    sent = provider.asked[0].messages
    wanted = [part.call_id for message in sent for part in message.parts if isinstance(part, ToolCall)]
    results = [part.call_id for message in sent for part in message.parts if isinstance(part, ToolResult)]
    assert results == wanted
    recorded = {entry.event.call_id for entry in entries if isinstance(entry.event, ev.ToolReturned)}
    for message in sent:
        for part in message.parts:
            if isinstance(part, ToolResult):
                unknown = part.content == (Text(OUTCOME_UNKNOWN),)
                assert unknown == (part.call_id not in recorded)
    await again.close()


async def test_spent_tokens_are_recorded_before_any_tool_of_that_step_runs():
    log = ListLog()
    kinds_when_run: list[list[str]] = []

    async def look(path: str, _: object) -> str:
        kinds_when_run.append(log.kinds)
        return "x"

    session = open_session(
        Playing(wants(("read", {"path": "a"})), says("done")), FakeTool("read", look), log=log
    )
    await run(session, say("go"))
    assert kinds_when_run[0].count("usage") == 1
    assert session.state.total.cost == pytest.approx(2 * (100 * 1.0 + 10 * 2.0) / 1e6)
    await session.close()


async def _interrupt(session: Session) -> None:
    session.send(say("go"))
    await until(session, is_fact(ev.ToolCallStarted))
    session.send(Interrupt())
    await session.idle()


TERMINAL_CASES = {
    "answer": lambda: (Playing(says("hi")), {}),
    "empty twice": lambda: (Playing(says(""), says("")), {}),
    "provider down": lambda: (Playing(*[ConnectionFailed("down") for _ in range(3)]), {}),
    "refused request": lambda: (Playing(RequestRefused("bad")), {}),
    "bug in a provider": lambda: (Playing(ValueError("bug")), {}),
    "steps": lambda: (
        Playing(wants(("read", {"path": "a"})), says("so far")),
        {"limits": Limits(max_steps=1)},
    ),
    "cost": lambda: (Playing(says("dear")), {"limits": Limits(max_turn_cost=0.000001)}),
}


@pytest.mark.parametrize("case", TERMINAL_CASES)
async def test_a_turn_ends_with_exactly_one_terminal_event_whatever_happens(case: str):
    provider, changes = TERMINAL_CASES[case]()
    log = ListLog()
    session = open_session(provider, FakeTool("read"), log=log, **changes)
    await run(session, say("go"))
    ends = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert len(ends) == 1
    assert log.events[-1] == ends[0]
    await session.close()


async def test_an_interrupted_turn_ends_with_exactly_one_terminal_event():
    log = ListLog()
    session = open_session(Playing(wants(("read", {"path": "a"}))), FakeTool("read", never), log=log)
    await _interrupt(session)
    ends = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert [(end.outcome, end.exit_code) for end in ends] == [("interrupted", 130)]
    await session.close()


async def test_a_turn_of_a_process_that_died_is_ended_when_the_session_is_opened():
    log = ListLog()
    session = open_session(Playing(says("hi")), log=log)
    await run(session, say("go"))
    cut = ListLog(entries=list(log.read())[:4])
    again = open_session(Playing(), log=cut)
    assert sum(isinstance(event, ev.TERMINAL) for event in cut.events) == 1
    await again.close()
    await session.close()


async def test_a_policy_or_check_that_raises_counts_as_deny_never_as_allow():
    def broken(proposal: Proposal, facts: Facts) -> Ruling:
        raise RuntimeError("bug in a rule")

    log, tool = ListLog(), FakeTool("read")
    session = open_session(Playing(wants(("read", {"path": "a"})), says("ok")), tool, log=log, judge=broken)
    await run(session, say("go"))
    assert tool.ran == []
    result = next(event for event in log.events if isinstance(event, ev.ToolReturned))
    assert not result.executed
    assert "rule failed" in ev.as_text(result.output)
    await session.close()


facts = st.sampled_from(
    [
        ev.OperatorMessage((Text("do"),)),
        ev.OperatorMessage((Text("  "),)),
        ev.AssistantMessage((Text("yes"),), "fake", "fake-1"),
        ev.AssistantMessage((Text(""), ToolCall("a", "read", {})), "fake", "fake-1"),
        ev.AssistantMessage((ToolCall("a", "read", {}), ToolCall("b", "read", None, "{")), "fake", "fake-1"),
        ev.AssistantMessage((Text("cut"),), "fake", "fake-1", partial=True),
        ev.ToolReturned("a", "read", ev.Output((Text("A"),))),
        ev.ToolReturned("b", "read", ev.Output(())),
        ev.ToolReturned("nobody", "read", ev.Output((Text("?"),))),
        ev.TurnCompleted("completed", "stop"),
        ev.TurnError("canceled", "interrupted", 130, "stopped"),
        ev.CompactionPerformed("summary", 10, 5, summary="before", keeps_from=3),
        ev.CompactionPerformed("prune", 10, 5, cleared=("a",)),
        ev.TurnStarted("fake-1"),
    ]
)

BATCH = ev.AssistantMessage((ToolCall("a", "read", {}), ToolCall("b", "read", {})), "fake", "fake-1")
batches = st.lists(
    st.sampled_from(
        [ev.ToolReturned(name, "read", ev.Output((Text(name),))) for name in ("a", "b", "nobody")]
    ),
    max_size=4,
).map(lambda returned: [BATCH, *returned])
"""A step with its results: in any order, some of them lost, some of them twice."""
logs = st.lists(facts.map(lambda fact: [fact]) | batches, max_size=20).map(
    lambda parts: [*itertools.chain(*parts)]
)


def entries_of(events: list[ev.Recorded]) -> list[ev.Entry]:
    return [ev.Entry("s", seq, 0.0, 1, 1, event) for seq, event in enumerate(events, 1)]


@given(logs)
def test_no_state_on_disk_can_make_the_next_request_fail_for_ever(events: list[ev.Recorded]):
    view = View()
    for entry in entries_of([*events, ev.OperatorMessage((Text("and now?"),))]):
        view.feed(entry)
    messages = view.messages()
    assert messages[0].role == "user"
    assert messages[-1].role == "user"
    assert all(one.role != other.role for one, other in itertools.pairwise(messages))
    assert all(message.parts for message in messages)
    for at, message in enumerate(messages):
        wanted = [part.call_id for part in message.parts if isinstance(part, ToolCall)]
        if message.role == "assistant":
            answered = [part.call_id for part in messages[at + 1].parts if isinstance(part, ToolResult)]
            assert answered == wanted
        else:
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            assert not results or at > 0
            assert list(message.parts[: len(results)]) == results, "results stand before what follows them"
    all_ids = [part.call_id for message in messages for part in message.parts if isinstance(part, ToolCall)]
    assert len(all_ids) == len(set(all_ids))


WINDOW = 12_000


class Strict(Playing):
    """A service that counts in its own way and refuses what does not fit; what it is asked without tools it summarizes."""

    def __init__(self, bytes_per_token: float, *, tells: bool) -> None:
        super().__init__()
        self._density, self._tells = bytes_per_token, tells
        self.refused: list[int] = []

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        said = [part for message in prompt.messages for part in message.parts]
        size = int((sum(size_of(part) for part in said) + len("".join(prompt.system))) / self._density)
        if size > WINDOW:
            self.refused.append(size)
            raise ContextOverflow("too long", **({"used": size, "limit": WINDOW} if self._tells else {}))
        yield says("ok", usage=Usage(input=size, output=1))


def large(kind: str, at: int, size: int) -> list[ev.Recorded]:
    call = ToolCall(f"c{at}", "read", {"path": "x" * size})
    match kind:
        case "operator":
            return [ev.OperatorMessage((Text("o" * size),))]
        case "model":
            return [ev.AssistantMessage((Text("m" * size),), "fake", "fake-1")]
        case "call":
            return [ev.AssistantMessage((call,), "fake", "fake-1")]
        case "document":
            return [ev.OperatorMessage((Document("application/pdf", "A" * size),))]
        case _:
            small = ToolCall(f"c{at}", "read", {"path": "f"})
            said = ev.AssistantMessage((small,), "fake", "fake-1")
            return [said, ev.ToolReturned(f"c{at}", "read", ev.Output((Text("r" * size),)))]


sizes = st.sampled_from([10, 3_000, 40_000, 60_000, 400_000])
sized = st.tuples(st.sampled_from(["operator", "model", "call", "document", "result"]), sizes)


@settings(max_examples=40)
@example([("operator", 40_000), ("call", 3_000), ("operator", 400_000)], 10, 2.0, "")
@given(st.lists(sized, max_size=6), sizes, st.sampled_from([2.0, 4.0, 9.0]), st.sampled_from(["figures", ""]))
def test_no_size_of_what_is_on_disk_can_make_the_next_request_fail_for_ever(
    before: list[tuple[str, int]], asked: int, density: float, tells: str
):
    """Whatever was said, and however the service counts it: at most one refusal, and the next message goes on."""

    async def go() -> None:
        events = [event for at, (kind, size) in enumerate(before) for event in large(kind, at, size)]
        provider = Strict(density, tells=bool(tells))
        models = OneModel(provider, ModelCard("fake-1", "fake", window=WINDOW, max_output=1_000))
        log = ListLog(entries=entries_of([STARTED, *events]))
        session = open_session(
            provider, log=log, models=models, model=models.open("fake-1"), summary_prompt="Summarize."
        )
        await run(session, say("?" * asked))
        first = session.state.ending
        await run(session, say("and now?"))
        await session.close()
        assert isinstance(session.state.ending, ev.TurnCompleted)
        assert isinstance(first, ev.TurnCompleted) or first.outcome == "context-overflow"

    asyncio.run(go())


async def test_a_window_that_is_much_smaller_than_anybody_says_is_found():
    """Neither the table nor the service says it, and it counts twice what we guess: half as much is tried each time."""
    provider = Strict(2.0, tells=False)
    models = OneModel(provider, ModelCard("fake-1", "fake", window=5 * WINDOW, max_output=1_000))
    session = open_session(provider, models=models, model=models.open("fake-1"), summary_prompt="Summarize.")
    await run(session, say("?" * 100_000))
    for _ in range(2):
        await run(session, say("and now?"))
    assert isinstance(session.state.ending, ev.TurnCompleted)
    assert provider.refused[1] <= provider.refused[0] * 0.55
    await session.close()


@given(logs, st.lists(facts, max_size=8))
def test_the_view_of_a_longer_log_extends_the_view_of_a_shorter_one(
    start: list[ev.Recorded], more: list[ev.Recorded]
):
    more = [event for event in more if not isinstance(event, ev.CompactionPerformed)]
    view = View()
    for entry in entries_of([*start, ev.OperatorMessage((Text("seam"),))]):
        view.feed(entry)
    shorter = [(message.role, part) for message in view.messages() for part in message.parts]
    for offset, event in enumerate(more):
        view.feed(ev.Entry("s", len(start) + 2 + offset, 0.0, 1, 1, event))
    longer = [(message.role, part) for message in view.messages() for part in message.parts]
    assert longer[: len(shorter)] == shorter


@given(logs)
def test_a_view_that_was_asked_on_the_way_equals_one_built_afresh(events: list[ev.Recorded]):
    asked, fresh = View(), View()
    for entry in entries_of(events):
        asked.feed(entry)
        asked.messages()
        fresh.feed(entry)
    assert asked.messages() == fresh.messages()


async def test_building_a_request_costs_what_is_new_not_what_is_old():
    """Finished messages are the very same objects on every request, so that encoders can keep their work."""
    steps = 30
    provider = Playing(*[wants(("read", {"path": f"f{n}"})) for n in range(steps)], says("done"))
    session = open_session(provider, FakeTool("read"))
    await run(session, say("go"))
    for earlier, later in zip(provider.asked, provider.asked[1:], strict=False):
        same = sum(one is other for one, other in zip(earlier.messages, later.messages, strict=False))
        assert same >= len(earlier.messages) - 1
        assert earlier.system is later.system or earlier.system == later.system
    await session.close()


async def test_an_approval_is_asked_and_its_answer_is_what_counts():
    log, tool = ListLog(), FakeTool("write", read_only=False)
    provider = Playing(wants(("write", {"path": "a"})), wants(("write", {"path": "b"})), says("ok"))
    session = open_session(provider, tool, log=log, judge=ask_writes)
    session.send(say("go"))
    seen = await until(session, is_fact(ev.ApprovalRequested))
    asked = seen[-1]
    assert isinstance(asked, ev.Entry)
    assert isinstance(asked.event, ev.ApprovalRequested)
    assert tool.ran == []
    session.send(Answer(asked.event.call_id, allowed=False, message="use c"))
    again = (await until(session, is_fact(ev.ApprovalRequested), since=asked.seq))[-1]
    assert isinstance(again, ev.Entry)
    assert isinstance(again.event, ev.ApprovalRequested)
    session.send(Answer(again.event.call_id, allowed=True, scope="tool"))
    await session.idle()
    assert tool.ran == ["b"]
    assert session.state.grants == ("write:*",)
    refused = next(event for event in log.events if isinstance(event, ev.ToolReturned))
    assert "use c" in ev.as_text(refused.output)
    await session.close()


async def test_an_interrupt_while_an_approval_waits_refuses_it_and_the_session_goes_on():
    log, tool = ListLog(), FakeTool("write", read_only=False)
    session = open_session(
        Playing(wants(("write", {"path": "a"})), says("hello")), tool, log=log, judge=ask_writes
    )
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    session.send(Interrupt())
    await session.idle()
    assert tool.ran == []
    assert [e.by for e in log.events if isinstance(e, ev.ApprovalDecided)] == ["interrupt"]
    await run(session, say("and?"))
    assert session.state.answer == "hello"
    await session.close()


async def test_started_is_what_the_parts_say():
    assert parts(Playing()).started == STARTED
