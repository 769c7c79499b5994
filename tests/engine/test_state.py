from __future__ import annotations

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.todo import TodoItem
from agent_cli.kernel.usage import ModelCard


def fed(*events: ev.Recorded) -> State:
    state = State("s", ModelCard("m", "echo"), Limits())
    for seq, event in enumerate(events, 1):
        state.feed(ev.Entry("s", seq, 0.0, 1, 1, event))
    return state


def todo(call_id: str, items: object, *, ok: bool = True) -> tuple[ev.Recorded, ...]:
    call = ToolCall(call_id, "todo", {"items": items})
    return ev.ToolCallProposed(call), ev.ToolReturned(call_id, "todo", ev.Output((Text("noted"),), ok=ok))


def test_the_list_is_what_the_last_call_that_succeeded_set() -> None:
    items = [{"text": "read", "status": "done"}, {"text": "write"}]
    state = fed(*todo("1", items), *todo("2", [{"text": "never"}], ok=False), *todo("3", "no list"))
    assert state.todo == (TodoItem("read", "done"), TodoItem("write", "pending"))
    assert fed(*todo("1", items), *todo("2", [])).todo == ()


def test_a_plan_is_in_force_until_it_is_revoked() -> None:
    recorded = ev.PlanRecorded("plan-1.md", "first this")
    assert fed(recorded).plan == "first this"
    assert fed(recorded, ev.PlanRevoked("plan-1.md")).plan == ""
