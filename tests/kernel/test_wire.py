"""JSON both ways, and what a model is told about arguments that do not fit."""

from __future__ import annotations

from typing import Annotated

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel import wire
from agent_cli.kernel.errors import ArgumentsError
from agent_cli.kernel.messages import Reasoning, Text, ToolCall


class Edit(wire.Arguments, frozen=True):
    old: Annotated[str, wire.describe("the text that is there")]
    new: str


class Edits(wire.Arguments, frozen=True):
    path: Annotated[str, wire.describe("the file")]
    edits: tuple[Edit, ...]
    limit: int | None = None
    all: bool = False


def test_a_fact_comes_back_as_it_went():
    fact = ev.AssistantMessage(
        (
            Reasoning("hm", "anthropic", "m", "sig", {"a": [1]}),
            Text("é"),
            ToolCall("1", "read", {"path": "x"}, "{}"),
        ),
        "anthropic",
        "m",
    )
    text = wire.to_json(fact)
    assert '"kind":"assistant-message"' in text
    assert "partial" not in text, "defaults are left out"
    assert wire.event_from_json(text) == fact


def test_unknown_fields_of_a_newer_version_are_ignored():
    assert wire.event_from_json('{"kind":"turn-started","model":"m","mood":"good"}') == ev.TurnStarted("m")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"kind":"no-such-thing"}', '{"kind":"turn-started","model":1}']
)
def test_what_is_no_fact_is_refused(text: str):
    with pytest.raises(wire.WireError):
        wire.event_from_json(text)


def test_the_schema_of_arguments_is_written_out():
    schema = wire.schema_of(Edits)
    assert schema["required"] == ["path", "edits"]
    assert schema["properties"]["path"] == {"type": "string", "description": "the file"}
    assert schema["properties"]["edits"]["items"]["required"] == ["old", "new"]
    assert schema["properties"]["limit"] == {"type": "integer"}
    assert "$ref" not in str(schema)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"pth": "a", "edits": []}, "did you mean 'path'?"),
        ({"path": 1, "edits": []}, "$.path"),
        ({"path": "a"}, "edits"),
        ({"path": "a", "edits": [{"old": "x"}]}, "$.edits[0]"),
    ],
)
def test_arguments_that_do_not_fit_are_explained(data: dict[str, object], told: str):
    with pytest.raises(
        ArgumentsError, match=told.replace("$", r"\$").replace("[", r"\[").replace("?", r"\?")
    ):
        wire.arguments(Edits, data)


def test_a_number_in_quotes_is_a_number():
    assert wire.arguments(Edits, {"path": "a", "edits": [], "limit": "12", "all": "true"}) == Edits(
        "a", (), 12, all=True
    )


def test_what_no_encoding_has_is_replaced_and_the_rest_is_the_very_value():
    whole = ev.Output((Text("é 漢"),))
    assert wire.encodable(ev.Output, whole) is whole
    halves = ev.Output((Text("a\ud800b"),), changed=("x\ud800",))
    mended = wire.encodable(ev.Output, halves)
    assert (mended.for_model, mended.changed) == ((Text("a\ufffdb"),), ("x\ufffd",))
    for odd in (None, {"text": "x"}, object(), ev.Output((Text(object()),))):  # type: ignore[arg-type]  # the mistake is the test
        with pytest.raises(wire.WireError):
            wire.encodable(ev.Output, odd)  # type: ignore[arg-type]  # the mistake is the test
