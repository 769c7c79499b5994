"""Calls compared: also those whose arguments are no object."""

from __future__ import annotations

import itertools

import pytest

from agent_cli.guardrails.arguments import canonical, same_call
from agent_cli.kernel.messages import ToolCall

ODD = ("[1, 2]", '"text"', "null", "12", "{broken", "", "[" * 100_000)


def test_one_path_in_two_spellings_is_the_same_call():
    short, long = (canonical(ToolCall("c", "read", {"path": path})) for path in ("a/b.py", "/p/a/b.py"))
    assert same_call(short, long)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ODD, 2)))
def test_arguments_that_are_no_object_are_compared_as_text(one: str, other: str):
    first, second = (canonical(ToolCall("c", "read", None, raw)) for raw in (one, other))
    assert same_call(first, first)
    assert not same_call(first, second)
