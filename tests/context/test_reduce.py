"""Plans for a smaller view, over any log."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context import reduce
from agent_cli.context.budget import ASSUMED_WINDOW, Compaction, budget_of
from agent_cli.context.view import View
from agent_cli.context.words import LAST_HEADING, Rooms
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall, ToolResult
from agent_cli.kernel.usage import ModelCard
from tests.engine.test_sentences import entries_of, facts


@pytest.mark.parametrize(
    ("card", "compaction", "limit"),
    [
        (ModelCard("m", "p", window=200_000, tier="frontier", max_output=8_000), Compaction(), 170_000),
        (ModelCard("m", "p", window=200_000, tier="mid", max_output=8_000), Compaction(), 130_000),
        (ModelCard("m", "p", window=200_000, tier="small", max_output=8_000), Compaction(), 70_000),
        (ModelCard("m", "p", window=200_000, tier="frontier", max_output=64_000), Compaction(), 160_000),
        (ModelCard("m", "p"), Compaction(), 102_400),
        (ModelCard("m", "p", window=200_000, tier="small"), Compaction(threshold=0.5), 100_000),
        (ModelCard("m", "p", window=200_000, tier="mid"), Compaction(by_tier=(("mid", 0.4),)), 80_000),
        (ModelCard("m", "p", window=200_000, max_output=8_000), Compaction(unknown_tier=0.6), 120_000),
        (ModelCard("m", "p", window=200_000, tier="mid"), Compaction(limit=40_000, threshold=0.9), 40_000),
        (ModelCard("m", "p", window=200_000, tier="mid"), Compaction(limit=500_000), 160_000),
        (ModelCard("m", "p", window=200_000, max_output=8_000), Compaction(limit=500_000), 190_000),
        (ModelCard("m", "p", window=200_000, max_output=1_000), Compaction(threshold=0.99), 190_000),
        (ModelCard("m", "p"), Compaction(threshold=0.95, unknown_tier=0.9), 102_400),
        (ModelCard("m", "p"), Compaction(threshold=0.5), 64_000),
        (ModelCard("m", "p"), Compaction(limit=120_000), 102_400),
    ],
)
def test_where_reduction_begins(card: ModelCard, compaction: Compaction, limit: int):
    assert budget_of(card, compaction).limit == limit


@pytest.mark.parametrize(("threshold", "limit"), [(0.95, 160_000), (0.7, 140_000)])
def test_where_no_service_counts_four_fifths_are_the_most(threshold: float, limit: int):
    card = ModelCard("m", "p", window=200_000, tier="frontier", max_output=1_000)
    assert budget_of(card, Compaction(threshold=threshold), counted=False).limit == limit
    assert budget_of(card, Compaction(threshold=threshold)).limit == int(200_000 * threshold)


cards = st.builds(
    ModelCard,
    st.just("m"),
    st.just("p"),
    window=st.none() | st.integers(2_000, 2_000_000),
    max_output=st.none() | st.integers(1, 200_000),
    tier=st.sampled_from(("frontier", "mid", "small", None)),
)
settings_ = st.builds(
    Compaction,
    threshold=st.none() | st.floats(0.01, 0.99),
    unknown_tier=st.floats(0.01, 0.99),
    limit=st.none() | st.integers(1_000, 3_000_000),
)


@given(cards, settings_, st.booleans())
def test_reduction_always_begins_before_the_turn_would_be_cut_and_leaves_room_for_an_answer(
    card: ModelCard, compaction: Compaction, counted: bool
):
    budget = budget_of(card, compaction, counted=counted)
    window = card.window or ASSUMED_WINDOW
    assert budget.limit <= budget.full < window
    assert budget.limit <= window - min(card.max_output or window, int(window * 0.2))
    assert budget.assumed == (card.window is None)


def test_the_protected_tail_is_at_most_30_percent_of_the_budget():
    budget = budget_of(ModelCard("m", "p", window=20_000, tier="mid"), Compaction())
    assert budget.kept(20_000) == budget.limit * 3 // 10


def view_of(events: list[ev.Recorded]) -> View:
    view = View()
    for entry in entries_of(events):
        view.feed(entry)
    return view


def pairs(view: View) -> None:
    messages = view.messages()
    wanted = [part.call_id for m in messages for part in m.parts if isinstance(part, ToolCall)]
    answered = [part.call_id for m in messages for part in m.parts if isinstance(part, ToolResult)]
    assert wanted == answered
    assert all(one.role != other.role for one, other in itertools.pairwise(messages))
    assert not messages or messages[0].role == "user"


@given(st.lists(facts, max_size=30), st.integers(min_value=0, max_value=60))
def test_no_reduction_breaks_a_view_or_makes_it_larger(events: list[ev.Recorded], keep: int):
    events = [*events, ev.OperatorMessage((Text("now"),))]
    view = view_of(events)
    before = reduce.tokens_of(view.items())
    plan = reduce.prune(view.items(), keep)
    pruned = view_of([*events, ev.CompactionPerformed("prune", 0, 0, plan.cleared)])
    pairs(pruned)
    assert reduce.tokens_of(pruned.items()) <= before
    assert not {*plan.cleared} & {*reduce.prune(pruned.items(), keep).cleared}, "a line about a result stays"
    found = reduce.cut(view.items(), keep)
    if found is not None:
        event = ev.CompactionPerformed("summary", 0, 0, summary="S", keeps_from=found.keeps_from)
        cut = view_of([*events, event])
        pairs(cut)
        assert cut.items()[1:] == view.items()[len(found.dropped) :], "what is kept is kept as it was"


def test_the_digest_lists_calls_newest_first_without_results_and_says_what_it_is():
    calls = [ToolCall(str(n), "read", {"path": f"f{n}"}, f'{{"path":"f{n}"}}') for n in range(3)]
    events: list[ev.Recorded] = [ev.OperatorMessage((Text("do it"),))]
    for call in calls:
        events += [
            ev.AssistantMessage((Text(f"step {call.call_id}"), call), "p", "m"),
            ev.ToolReturned(call.call_id, "read", ev.Output((Text("secret content"),))),
        ]
    text = reduce.digest(view_of(events).items())
    assert text.startswith("The conversation was truncated")
    assert text.index("f2") < text.index("f0")
    assert "secret content" not in text
    assert "step 2" in text


def test_the_operators_words_survive_summary_after_summary():
    first = view_of(
        [
            ev.OperatorMessage((Text("never touch main.py"),)),
            ev.AssistantMessage((Text("ok"),), "p", "m"),
            ev.OperatorMessage((Text("go on"),)),
        ]
    )
    once = reduce.composed("first summary", first.items())
    second = view_of(
        [
            ev.OperatorMessage((Text("x"),)),
            ev.CompactionPerformed("summary", 0, 0, summary=once, keeps_from=9),
            ev.AssistantMessage((Text("working"),), "p", "m"),
            ev.OperatorMessage((Text("and the tests"),)),
        ]
    )
    twice = reduce.composed("second summary", second.items())
    for words in ("never touch main.py", "go on", "and the tests"):
        assert words in twice
    assert "first summary" not in twice.partition(reduce.OPERATOR_HEADING)[2]


def test_the_operators_words_fit_their_room_and_a_long_message_does_not_push_out_the_rest():
    view = view_of(
        [
            ev.OperatorMessage((Text("old " * 5_000),)),
            ev.AssistantMessage((Text("ok"),), "p", "m"),
            ev.OperatorMessage((Text("never touch main.py"),)),
            ev.OperatorMessage((Text("Go on."),), by="product"),
            ev.AssistantMessage((Text("ok"),), "p", "m"),
            ev.OperatorMessage((Text("and the tests"),)),
        ]
    )
    text = reduce.composed("S", view.items(), Rooms(2_000, 2_000))
    assert len(text) < 2_200
    assert f"never touch main.py\n\n{LAST_HEADING}\n\nand the tests" in text
    assert "old old" in text
    assert "Go on." not in text
    newest = reduce.composed(
        "S", view_of([ev.OperatorMessage((Text("b" + "x" * 9_000 + "e"),))]).items(), Rooms(2_000, 2_000)
    )
    assert "bxx" in newest
    assert newest.endswith("xxe")


def test_a_digest_keeps_its_room_and_what_an_earlier_summary_knew():
    events: list[ev.Recorded] = [ev.OperatorMessage((Text("do it"),))]
    for n in range(500):
        call = ToolCall(str(n), "read", {}, f'{{"path":"{"f" * 150}{n}"}}')
        events += [
            ev.AssistantMessage((Text("t" * 90), call), "p", "m"),
            ev.ToolReturned(str(n), "read", ev.Output(())),
        ]
    first = reduce.composed("it is about trees", view_of(events).items())
    events.append(ev.CompactionPerformed("summary", 0, 0, summary=first, keeps_from=100))
    text = reduce.digest(view_of(events).items(), 4_000)
    assert len(text) < 4_800
    assert "it is about trees" in text
    assert reduce.OPERATOR_HEADING not in text
    assert "earlier calls" in text


@given(st.text(), st.integers(min_value=4, max_value=40))
def test_chunks_lose_nothing_but_split_characters(text: str, size: int):
    joined = "".join(reduce.chunks(text, size))
    assert len(joined.encode()) >= len(text.encode()) - 8 * (len(text.encode()) // size + 1)
    assert text.isascii() <= (joined == text)


def test_digests_of_digests_count_every_call_that_is_left_out():
    events: list[ev.Recorded] = [ev.OperatorMessage((Text("do it"),))]
    for turn in range(6):
        for n in range(30):
            call = ToolCall(
                f"{turn}-{n}", "read", {}, f'{{"path": "a file with a name that is not short {turn}-{n}"}}'
            )
            events += [
                ev.AssistantMessage((call,), "p", "m"),
                ev.ToolReturned(call.call_id, "read", ev.Output((Text("x"),))),
            ]
        text = reduce.digest(view_of(events).items(), 4_000)
        events.append(ev.CompactionPerformed("mechanical", 0, 0, summary=text, keeps_from=10_000))
        events.append(ev.OperatorMessage((Text("go on"),)))
        listed, left = text.count("- read "), re.findall(r"and (\d+) earlier call", text)
        assert listed + sum(map(int, left)) == 30 * (turn + 1)


def test_a_digest_of_a_digest_has_one_list_of_calls():
    def calls(first: int) -> list[ev.Recorded]:
        made: list[ev.Recorded] = []
        for n in range(first, first + 3):
            call = ToolCall(str(n), "read", {}, f'{{"path": "f{n}"}}')
            made += [
                ev.AssistantMessage((Text(f"talk {n}"), call), "p", "m"),
                ev.ToolReturned(str(n), "read", ev.Output(())),
            ]
        return made

    events: list[ev.Recorded] = [ev.OperatorMessage((Text("do it"),)), *calls(0)]
    for first in (3, 6, 9):
        text = reduce.composed(reduce.digest(view_of(events).items(), 4_000), view_of(events).items())
        done = ev.CompactionPerformed("mechanical", 0, 0, summary=text, keeps_from=len(events) + 1)
        events += [done, *calls(first)]
    text = reduce.digest(view_of(events).items(), 4_000)
    assert text.count(reduce.LEDGER_HEADING) == text.count(reduce.KNOWN_HEADING) == 1
    listed = [line for line in text.splitlines() if line.startswith("- read")]
    assert listed == [f'- read {{"path": "f{n}"}}' for n in reversed(range(12))]
    assert "talk 11" in text
    assert "talk 0" in text
