"""Calls compared: also those whose arguments are no object."""

from __future__ import annotations

import itertools

import pytest

from agent_cli.guardrails.arguments import Spelled, same_call, spelled
from agent_cli.kernel.messages import ToolCall

ODD = ("[1, 2]", '"text"', "null", "12", "{broken", "", "[" * 100_000)


def of(**arguments: object) -> Spelled:
    return spelled(ToolCall("c", "read", arguments))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of(path="a"), of(path="./a")),
        (of(path="a"), of(path="x/../a")),
        (of(path="src/a.py"), of(path="/p/src/a.py")),
        (of(file_path="a", limit=3), of(limit=3, file_path="/p/a")),
        (of(filePath="a"), of(filePath="./a")),
        (of(target_directory="x/"), of(target_directory="x")),
        (of(paths=["a", "b"]), of(paths=["./a", "/p/b"])),
    ],
)
def test_one_path_in_two_spellings_is_the_same_call(one: Spelled, other: Spelled):
    assert same_call(one, other)
    assert same_call(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of(path="a/doc.go"), of(path="b/doc.go")),
        (of(path="doc.go"), of(path="mydoc.go")),
        (of(path="a", limit=1), of(path="a", limit=2)),
        (of(pattern="a"), of(pattern="./a")),
        (of(content="x/../a"), of(content="a")),
        (of(file_content="./a"), of(file_content="a")),
        (of(command="ls ./a"), of(command="ls a")),
        (of(path="a"), of(dir="a")),
        (of(paths=["a", "b"]), of(paths=["ab"])),
        (of(path="A"), of(path="a")),
    ],
)
def test_different_calls_are_not(one: Spelled, other: Spelled):
    assert not same_call(one, other)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ODD, 2)))
def test_arguments_that_are_no_object_are_compared_as_text(one: str, other: str):
    first, second = (spelled(ToolCall("c", "read", None, raw)) for raw in (one, other))
    assert same_call(first, first)
    assert not same_call(first, second)
