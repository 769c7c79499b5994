"""Hypothesis strategies for what a session records.

`values(kind)` follows the type hints of the kernel, so that a new event or field is covered at once.
"""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Any, Literal, TypeVar, Union

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Reasoning, Said, Text, ToolCall

T = TypeVar("T")

SESSION = "s-1"

texts = st.text(max_size=12)
numbers = st.integers(-(2**70), 2**70)
floats = st.floats(allow_nan=False, allow_infinity=False)
times = st.floats(0, 1e11)
json_values: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | floats | texts,
    lambda held: st.lists(held, max_size=3) | st.dictionaries(texts, held, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)


@cache
def values(kind: Any) -> SearchStrategy[Any]:
    """Any value of that type hint."""
    plain = {
        str: texts,
        int: st.integers(0, 2**53),
        float: floats,
        bool: st.booleans(),
        type(None): st.none(),
    }
    if kind in plain:
        return plain[kind]
    if kind is Any:
        return json_values
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{name: values(hints[name]) for name in kind.__struct_fields__})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of([values(each) for each in inner])
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=3).map(tuple)
    if origin is dict:
        return json_objects
    raise TypeError(f"no strategy for {kind!r}")


def kinds() -> tuple[type[ev.Recorded], ...]:
    """Every recorded event's class."""
    return typing.get_args(ev.Recorded)


def events() -> SearchStrategy[ev.Recorded]:
    """Any recorded event with any content."""
    return values(ev.Recorded)


@st.composite
def entries(draw: st.DrawFn, session: str = SESSION, max_size: int = 12) -> list[ev.Entry]:
    """Any events at gap-free places: what a store must carry, sensible or not."""
    facts = draw(st.lists(events(), max_size=max_size))
    return [
        ev.Entry(
            session, seq, draw(times), draw(st.integers(0, 9)), draw(st.integers(0, 9)), fact, draw(texts)
        )
        for seq, fact in enumerate(facts, start=1)
    ]


@st.composite
def logs(draw: st.DrawFn, session: str = SESSION, max_turns: int = 3, cut: bool = True) -> list[ev.Entry]:
    """The log of a session as an engine writes it: turns of steps, steps of calls, one result a call.

    With `cut` it may end anywhere, as after the death of its process.
    """
    facts: list[tuple[int, int, ev.Recorded]] = [(0, 0, draw(values(ev.SessionStarted)))]
    for turn in range(1, draw(st.integers(0, max_turns)) + 1):
        facts += draw(_turns(turn))
    if cut:
        facts = facts[: draw(st.integers(1, len(facts)))]
    return [
        ev.Entry(session, seq, 1_700_000_000.0 + seq, turn, step, fact)
        for seq, (turn, step, fact) in enumerate(facts, start=1)
    ]


@st.composite
def _turns(draw: st.DrawFn, turn: int) -> list[tuple[int, int, ev.Recorded]]:
    facts: list[tuple[int, int, ev.Recorded]] = [
        (turn, 0, ev.TurnStarted("m-1")),
        (turn, 0, ev.OperatorMessage((Text(draw(texts)),))),
    ]
    for step in range(1, draw(st.integers(1, 3)) + 1):
        facts += [(turn, step, fact) for fact in draw(_steps(f"{turn}-{step}"))]
    ending = draw(values(ev.TurnCompleted) | values(ev.TurnError))
    return [*facts, (turn, 0, ending)]


@st.composite
def _steps(draw: st.DrawFn, place: str) -> list[ev.Recorded]:
    calls = [
        ToolCall(f"call-{place}-{index}", draw(st.sampled_from(("read_file", "bash"))), draw(json_objects))
        for index in range(draw(st.integers(0, 3)))
    ]
    said: list[Said] = [Text(draw(texts)), *calls]
    if draw(st.booleans()):
        said.insert(0, Reasoning(draw(texts), "p-1", "m-1", draw(st.none() | texts)))
    facts: list[ev.Recorded] = [
        ev.StepStarted("m-1"),
        ev.AssistantMessage(tuple(said), "p-1", "m-1", "tool-calls" if calls else "stop"),
        draw(values(ev.UsageReported)),
    ]
    facts += [ev.ToolCallProposed(call) for call in calls]
    for call in calls:
        executed = draw(st.booleans())
        if executed:
            facts.append(ev.ToolCallStarted(call.call_id, call.name, draw(texts), draw(texts)))
        output = draw(values(ev.Output))
        facts.append(ev.ToolReturned(call.call_id, call.name, output, executed))
    return facts
