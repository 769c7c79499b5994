"""What `--json-schema` takes for an answer, and for a schema."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.headless.structured import Misfit, Shape, read
from agent_cli.kernel.errors import ConfigError

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"x": 1}', {"x": 1}),
        ('  {"x": 1}\n', {"x": 1}),
        ('```json\n{"x": 1}\n```', {"x": 1}),
        ('Here it is:\n\n```\n{"x": 1}\n```\nIs that all?', {"x": 1}),
        ('{"x": 1, "tags": ["```a```"]}', {"x": 1, "tags": ["```a```"]}),
        ('{"x": 123456789012345678901234567890}', {"x": 123456789012345678901234567890}),
    ],
)
def test_an_answer_that_fits(answer, value):
    found = Shape(POINT).fit(answer)
    assert found.value == value
    assert json.loads(found.text) == value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "no JSON"),
        ("The point is at 1.", "no JSON: Expecting value at line 1, column 1"),
        ('Sure: {"x": 1}', "no JSON"),
        ('{"x": 1}\n{"x": 2}', "no JSON: Extra data at line 2, column 1"),
        ('{"x": NaN}', "NaN is not JSON"),
        ('{"x": 1e999}', "too large"),
        ('{"x": "1"}', "at /x: '1' is not of type 'integer'"),
        ("{}", "at the top: 'x' is a required property"),
        ('{"x": 1, "tags": ["a", 2]}', "at /tags/1: 2 is not of type 'string'"),
        ('{"x": 1, "y": 2}', "'y' was unexpected"),
        ("[" * 5_000 + "]" * 5_000, "nested too deeply"),
        ("[" * 99 + "]" * 99, "not of type"),
    ],
)
def test_an_answer_that_does_not_fit_says_where(answer, said):
    with pytest.raises(Misfit) as problem:
        Shape(POINT).fit(answer)
    assert said in str(problem.value)


def test_only_some_of_many_problems_are_told():
    with pytest.raises(Misfit, match="and 95 more"):
        Shape({"items": {"type": "string"}}).fit(json.dumps(list(range(100))))


@given(st.text())
def test_any_text_is_judged(answer):
    try:
        assert Shape(True).fit(answer).text
    except Misfit as problem:
        assert str(problem)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ('{"type": "object",\n  "properties": {]}', "line 2, column 18"),
        ('{"properties": {"a": {"type": "objekt"}}}', "at /properties/a/type: 'objekt' is not valid"),
        ('["object"]', "is an object like"),
        ('{"$ref": "#/$defs/nothing"}', "at /$ref: '#/$defs/nothing' leads nowhere"),
        ('{"items": {"$ref": "https://example.org/s.json"}}', "references have to stay in the file"),
        ("", "no JSON"),
        ("\xff", "no JSON"),
    ],
)
def test_a_wrong_schema_says_where(tmp_path, held, said):
    file = tmp_path / "s.json"
    file.write_bytes(held.encode("latin-1"))
    with pytest.raises(ConfigError) as problem:
        read(file)
    assert said in str(problem.value)
    assert str(file) in str(problem.value)


def test_a_schema_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        read(tmp_path / "s.json")


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"},
        {"$id": "https://example.org/a", "$defs": {"n": {"$id": "n", "type": "integer"}}, "$ref": "n"},
        {"properties": {"$ref": {"type": "string"}}, "type": "integer"},
        {"anyOf": [{"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "integer"}]},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}}, "$ref": "#/definitions/n"},
    ],
)  # fmt: skip
def test_references_inside_a_schema_are_followed(schema):
    assert Shape(schema).fit("3").value == 3
    with pytest.raises(Misfit):
        Shape(schema).fit('"three"')
