"""What of a prompt is no longer what it was."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context.prefix import change, digests, other
from agent_cli.kernel.messages import Message, Prompt, Text, ToolSpec

READ = ToolSpec("read", "Reads.", {})
WRITE = ToolSpec("write", "Writes.", {})


def said(role: Any, *texts: str) -> Message:
    return Message(role, tuple(Text(text) for text in texts))


BEFORE = Prompt(
    "m", ("Be brief.",), (READ, WRITE), (said("user", "a"), said("assistant", "b"), said("user", "c"))
)


def with_messages(*messages: Message) -> dict[str, Any]:
    return {"messages": messages}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": "[step 2]", "tool_choice": "none", "max_output": 7, "temperature": 0.5},
        with_messages(*BEFORE.messages, said("assistant", "d")),
        with_messages(*BEFORE.messages[:2], said("user", "c", "and more")),
        with_messages(*BEFORE.messages[:2], said("user", "c", "and more"), said("assistant", "d")),
        {"model": "other", "system": (), "tools": (), "messages": ()},
    ],
)
def test_what_only_goes_on_is_no_change(fields: dict[str, Any]):
    assert change(BEFORE, msgspec.structs.replace(BEFORE, **fields)) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tools": (READ,)}, "the tools changed (gone: write)"),
        ({"tools": (WRITE, READ)}, "the tools changed (their order)"),
        (
            {"tools": (READ, msgspec.structs.replace(WRITE, description="!"), ToolSpec("grep", "", {}))},
            "the tools changed (new: grep; changed: write)",
        ),
        ({"system": ("Be brief.", "Today is Monday.")}, "the system prompt is another one"),
        (with_messages(said("user", "A"), *BEFORE.messages[1:]), "message 1 of 3 is not what it was"),
        (with_messages(*BEFORE.messages[:2], said("user", "C")), "message 3 of 3 is not what it was"),
        (with_messages(*BEFORE.messages[:2], said("assistant", "c")), "message 3 of 3 is not what it was"),
        (with_messages(*BEFORE.messages[:2]), "message 3 of 3 is gone"),
        (with_messages(), "message 1 of 3 is gone"),
    ],
)
def test_what_changed_is_named(fields: dict[str, Any], words: str):
    assert change(BEFORE, msgspec.structs.replace(BEFORE, **fields)) == words


texts = st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=2), max_size=5)


@given(texts, texts)
def test_a_conversation_goes_on_where_its_parts_do(old: list[list[str]], new: list[list[str]]):
    def prompt(turns: list[list[str]]) -> Prompt:
        return Prompt("m", (), (), tuple(said("user", *turn) for turn in turns))

    goes_on = not old or (
        old[:-1] == new[: len(old) - 1]
        and new[len(old) - 1 : len(old)] != []
        and (new[len(old) - 1][: len(old[-1])] == old[-1])
    )
    assert (change(prompt(old), prompt(new)) == "") is goes_on


@pytest.mark.parametrize(
    ("system", "tools", "told"),
    [
        (("Be brief.",), (READ, WRITE), ""),
        (("Be long.",), (READ, WRITE), "the system prompt changed"),
        (("Be brief.",), (WRITE, READ), "the tools changed"),
        (("Be brief.", ""), (READ,), "the tools changed and the system prompt changed"),
    ],
)
def test_digests_tell_which_half_changed(system: tuple[str, ...], tools: tuple[ToolSpec, ...], told: str):
    before = digests(("Be brief.",), (READ, WRITE))
    assert other(before, digests(system, tools)) == told
    assert other("", digests(system, tools)) == ""
