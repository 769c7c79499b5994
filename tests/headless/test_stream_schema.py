"""What `stream-json` prints and takes is what its JSON Schemas say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent_cli.headless.narration import Level
from agent_cli.headless.summary import Result
from agent_cli.kernel import events as ev
from agent_cli.kernel import orders
from tests.fakes import strategies
from tests.fakes.paper import Paper

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
OUT = json.loads((REFERENCE / "stream-json.schema.json").read_text("utf-8"))
IN = json.loads((REFERENCE / "stream-json-input.schema.json").read_text("utf-8"))
KINDS = [*get_args(ev.Recorded), *get_args(ev.Live)]

printed, taken = Draft202012Validator(OUT), Draft202012Validator(IN)


def defined(schema, place):
    return Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{place}"}]})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=12)
@given(st.data())
def test_a_line_of_each_event_is_valid(kind, data):
    """Against its own definition; any other one would tell less of what is wrong."""
    event = data.draw(strategies.values(kind))
    with Paper("stream-json", Level.QUIET) as paper:
        paper.printer.event(ev.Entry("S1", 1, 1.5, 1, 1, ev.StepStarted("m")))
        live = kind in get_args(ev.Live)
        paper.printer.event(event if live else ev.Entry("S1", 2, 2.5, 1, 1, event))
        line = paper.lines[-1]
    assert set(line) >= {"v", "type", "session", "turn", "step"}
    defined(OUT, kind.__name__).validate(line)


@given(strategies.values(ev.Recorded))
@settings(max_examples=30)
def test_a_line_is_of_exactly_one_kind(event):
    with Paper("stream-json", Level.QUIET) as paper:
        paper.printer.event(ev.Entry("S1", 1, 1.5, 1, 1, event))
        printed.validate(paper.lines[-1])


def test_what_is_no_line_is_not_valid():
    line = {"v": 1, "type": "text-delta", "session": "S1", "turn": 1, "step": 1, "text": "x"}
    assert printed.is_valid(line)
    assert not printed.is_valid({**line, "v": 2})
    assert not printed.is_valid({**line, "type": "text"})
    assert not printed.is_valid({**line, "text": 1})
    del line["text"]
    assert not printed.is_valid(line)


@given(strategies.values(Result))
@settings(max_examples=30)
def test_the_last_line_is_valid(result):
    with Paper("stream-json", Level.QUIET) as paper:
        paper.printer.finish(result)
        defined(OUT, "Result").validate(paper.lines[-1])


@pytest.mark.parametrize("kind", get_args(orders.Order), ids=lambda kind: kind.__name__)
@settings(max_examples=12)
@given(st.data())
def test_a_valid_order_is_taken(kind, data):
    order = data.draw(strategies.values(kind))
    line = msgspec.json.encode(order)
    taken.validate(json.loads(line))
    if not (isinstance(order, orders.Message) and not order.text.strip()):
        command = orders.read(line)
        assert command is None if kind is orders.End else command is not None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON object"),
        ("[]", "Expected `object`"),
        ("{}", "type is one of message, answer, interrupt"),
        ('{"type": "say", "text": "x"}', "type is one of message"),
        ('{"type": "message"}', "missing required field `text`"),
        ('{"type": "message", "text": " "}', "not empty"),
        ('{"type": "message", "text": "x", "wehn": "now"}', "unknown field `wehn`"),
        ('{"type": "mode", "mode": "root"}', "Invalid enum value 'root'"),
        ('{"type": "answer", "call_id": "c"}', "missing required field `allowed`"),
    ],
)
def test_what_is_no_order_is_refused_with_what_would_be(line, said):
    with pytest.raises(orders.Unreadable) as problem:
        orders.read(line.encode())
    assert said in str(problem.value)


def test_an_order_is_the_command_that_a_front_end_sends():
    from agent_cli.kernel.commands import Answer, Say
    from agent_cli.kernel.messages import Text

    assert orders.read(b'{"type": "message", "text": "go", "when": "after"}') == Say((Text("go"),), "after")
    answer = orders.read(b'{"type": "answer", "call_id": "c1", "allowed": true, "scope": "tool"}')
    assert isinstance(answer, Answer)
    assert (answer.call_id, answer.allowed, answer.scope) == ("c1", True, "tool")
