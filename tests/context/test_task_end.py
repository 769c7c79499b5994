"""Where a task ends, by its list of things to do."""

from __future__ import annotations

import itertools

from agent_cli.context.task_end import LONGEST_NOTE, ListDone
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall

_ids = itertools.count()


def listed(*items: tuple[str, str], ok: bool = True) -> tuple[ev.Recorded, ...]:
    """A call of `todo` with its result."""
    name = f"c{next(_ids)}"
    call = ToolCall(name, "todo", {"items": [{"text": text, "status": status} for text, status in items]})
    return ev.ToolCallProposed(call), ev.ToolReturned(name, "todo", ev.Output((Text("noted"),), ok=ok))


def told(*events: ev.Recorded) -> list[str]:
    heuristic = ListDone()
    return [note for event in events if (note := heuristic.feed(event)) is not None]


ENDED = ev.TurnCompleted("completed", "stop")
OPEN, DONE = (("read", "done"), ("mend", "pending")), (("read", "done"), ("mend", "done"))


def test_a_task_ends_with_the_turn_in_which_the_last_thing_was_done():
    heuristic = ListDone()
    fed = [heuristic.feed(event) for event in (*listed(*OPEN), ENDED, *listed(*DONE), ENDED)]
    assert fed == [None] * 5 + ["read; mend"]


def test_the_same_list_ends_one_task_and_another_list_another():
    assert told(*listed(*DONE), ENDED, ENDED, *listed(*DONE), ENDED) == ["read; mend"]
    assert told(*listed(*DONE), ENDED, *listed(("test", "done")), ENDED) == ["read; mend", "test"]


def test_nothing_ends_by_an_empty_list_a_refused_call_a_broken_list_or_a_turn_that_was_cut():
    broken = ToolCall("b", "todo", {"items": "all done"})
    assert told(*listed(), ENDED) == []
    assert told(*listed(*DONE, ok=False), ENDED) == []
    returned = ev.ToolReturned("b", "todo", ev.Output((Text("?"),)))
    assert told(ev.ToolCallProposed(broken), returned, ENDED) == []
    assert told(*listed(*DONE), ev.TurnError("canceled", "interrupted", 130, "by the operator")) == []


def test_a_note_is_one_line_of_a_bounded_length():
    (note,) = told(*listed(("a\nb", "done"), ("long " * 200, "done")), ENDED)
    assert note.startswith("a b; long")
    assert len(note) == LONGEST_NOTE
