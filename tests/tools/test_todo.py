"""The list of things to do: what the tool takes, what it says, and that the log keeps it."""

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.todo import TodoItem
from agent_cli.kernel.usage import ModelCard
from tests.tools.bench import Bench

ITEMS = [
    {"text": "read the code", "status": "done"},
    {"text": "write the test", "status": "in_progress"},
    {"text": "make it pass"},
]


async def test_it_says_how_far_the_work_is(bench: Bench) -> None:
    output = await bench.call("todo", items=ITEMS)
    assert "1 of 3 done. In progress: write the test" in str(output.for_model)
    assert output.for_human == ev.Shown("[x] read the code\n[>] write the test\n[ ] make it pass")
    assert not output.no_op
    assert output.changed == ()


async def test_the_same_list_again_changes_nothing(bench: Bench) -> None:
    await bench.call("todo", items=ITEMS)
    assert (await bench.call("todo", items=ITEMS)).no_op
    assert not (await bench.call("todo", items=ITEMS[:1])).no_op


async def test_an_empty_list_clears_it(bench: Bench) -> None:
    assert "empty now" in await bench.text("todo", items=[])


async def test_what_is_wrong_with_the_list_is_said(bench: Bench) -> None:
    running = [{**item, "status": "in_progress"} for item in ITEMS]
    assert "3 items are in progress" in await bench.text("todo", items=running)
    assert "Nothing is in progress" in await bench.text("todo", items=[{"text": "x"}])
    assert "item 2 is empty" in await bench.refused("todo", items=[{"text": "x"}, {"text": " "}])
    assert "501 characters" in await bench.refused("todo", items=[{"text": "x" * 501}])
    assert "101 items" in await bench.refused("todo", items=[{"text": "x"}] * 101)


async def test_the_state_of_the_session_shows_what_the_tool_took(bench: Bench) -> None:
    """The arguments are what the fold of the log reads."""
    state = State("01", ModelCard("scripted-1", "scripted"), Limits())
    call = ToolCall("c1", "todo", {"items": ITEMS})
    output = await bench.call("todo", items=ITEMS)
    for seq, event in enumerate((ev.ToolCallProposed(call), ev.ToolReturned("c1", "todo", output)), 1):
        state.feed(ev.Entry("01", seq, 0.0, 1, 1, event))
    assert state.todo == (
        TodoItem("read the code", "done"),
        TodoItem("write the test", "in_progress"),
        TodoItem("make it pass"),
    )


def test_it_touches_nothing(bench: Bench) -> None:
    assert bench.touches("todo", items=[]).effect == "none"
