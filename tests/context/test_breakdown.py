"""What fills the window, by what it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context.breakdown import OVERHEAD, overhead_of, shares
from agent_cli.context.system import Instructions, system_prompt
from agent_cli.context.view import Item
from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.messages import Text, ToolResult, ToolSpec

FACTS = SessionStarted("/p", "0", "linux", "2026-11-30", "p", "m", "ask")


def items(*sizes: int) -> tuple[Item, ...]:
    return (
        Item(1, "user", Text("m" * 400)),
        *(
            Item(n, "user", ToolResult(str(n), f"tool{n % 2}", (Text("x" * size),)))
            for n, size in enumerate(sizes)
        ),
    )


def test_results_are_counted_for_each_tool_and_instructions_as_memory():
    system = system_prompt("s" * 400, FACTS, (Instructions("AGENTS.md", "i" * 800),))
    overhead = overhead_of(system, (ToolSpec("t", "d" * 40, {}),))
    found = {share.name: share.tokens for share in shares(items(300, 600, 300), 0, overhead)}
    assert found["messages"] == 100
    assert found["results of tool0"] == found["results of tool1"] == 200
    assert 200 < found["memory"] < 220
    assert 100 < found["system prompt"] < 130
    assert found["tool schemas"] == 11


def test_of_a_recorded_session_the_rest_is_what_stands_before_the_messages():
    found = {share.name: share.tokens for share in shares(items(300), 1_000)}
    assert found[OVERHEAD] == 800


@given(st.lists(st.integers(0, 9_000), max_size=8), st.integers(1, 200_000), st.booleans())
def test_the_shares_are_all_of_the_prompt(sizes: list[int], used: int, known: bool):
    overhead = overhead_of(("s" * 90,), ()) if known else None
    found = shares(items(*sizes), used, overhead)
    assert sum(share.tokens for share in found) == used
    assert all(share.tokens > 0 for share in found)
