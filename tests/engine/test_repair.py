"""Arguments that do not parse: what is mended, and what is left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.engine.repair import repair

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)


@pytest.mark.parametrize(
    ("raw", "meant", "closed"),
    [
        ('{"a": 1}', {"a": 1}, False),
        ('Here you go:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}, False),
        ('{"a": "x', {"a": "x"}, True),
        ('{"a": "x\\', {"a": "x"}, True),
        ('{"a": "x\\\\', {"a": "x\\"}, True),
        ('{"a": "x\\u00', {"a": "x"}, True),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}, True),
        ('{"a": 1, "b"', {"a": 1, "b": None}, True),
        ('{"a": 1, "b":', {"a": 1, "b": None}, True),
        ('{"a": 1, "b": ', {"a": 1, "b": None}, True),
        ('{"a": 1,', {"a": 1}, True),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}, False),
        ('{"a": {"b": [', {"a": {"b": []}}, True),
        ("{", {}, True),
        ('{"a": "}{", "b": [', {"a": "}{", "b": []}, True),
    ],
)
def test_what_was_meant_is_found(raw: str, meant: object, closed: bool):
    mended = repair(raw)
    assert mended is not None
    assert (mended.arguments, mended.closed) == (meant, closed)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "none",
        "[1]",
        '"a"',
        '{"a": tru',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        "}",
        '{"a": 1]',
        '{"a": 1}{"b": 2}',
        '{"a": 1} {"b": 2',
        '[{"a": 1}]',
        '[{"a": 1}, {"b": 2}]',
        '{"a": 1}}',
        '{"a": NaN}',
        '{"a": -Infinity, ',
    ],
)
def test_what_cannot_be_told_is_left_alone(raw: str):
    assert repair(raw) is None


@given(objects)
def test_valid_arguments_are_taken_as_they_are(value: dict[str, object]):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        mended = repair(text)
        assert mended is not None
        assert mended.arguments == value
        assert not mended.closed


@given(objects, st.data())
def test_a_cut_text_is_mended_to_something_that_needs_no_mending(
    value: dict[str, object], data: st.DataObject
):
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(min_value=0, max_value=len(text)))]
    mended = repair(cut)
    if mended is not None:
        again = repair(json.dumps(mended.arguments))
        assert again is not None
        assert again.arguments == mended.arguments
        assert not again.closed


@given(st.text())
def test_no_text_makes_it_fail(text: str):
    repair(text)
    repair("{" + text)
