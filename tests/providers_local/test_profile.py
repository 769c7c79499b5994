"""What a small model is sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context.reduce import OPERATOR_HEADING
from agent_cli.context.view import SUMMARY_OPENING
from agent_cli.kernel.messages import Image, Message, Part, Prompt, Text, ToolCall, ToolResult, ToolSpec
from agent_cli.providers.local.profile import RESULT_CHARS, WINDOW, encode, protocol, tokens_in
from agent_cli.providers.local.simple import ANSWER, ARGUMENTS

NAMES = tuple(name for name in ARGUMENTS if name != ANSWER)
TOOLS = tuple(
    ToolSpec(name, f"Does {name}. And more.", {"type": "object"}) for name in (*NAMES, "spawn_agent")
)
SYSTEM = "You are an agent."
READ = ("read_file", {"path": "a"}, "text")
NO_FILE = ("read_file", {"path": "b"}, "There is no file b.", False)
FAIL = ("edit_file", {"path": "a", "old": "x", "new": "y"}, "not found", False)


def said(*parts: Part) -> Message:
    return Message("assistant", parts)


def told(*parts: Part) -> Message:
    return Message("user", parts)


def call(number: int, name: str, **arguments: object) -> ToolCall:
    return ToolCall(f"c{number}", name, arguments)


def result(number: int, text: str, *, ok: bool = True) -> ToolResult:
    return ToolResult(f"c{number}", "any", (Text(text),), ok)


def steps(
    *made: tuple[str, dict[str, object], str] | tuple[str, dict[str, object], str, bool],
) -> list[Message]:
    """A question and calls with results: (tool, arguments, result, whether it worked)."""
    messages = [told(Text("Do it"))]
    for number, (name, arguments, text, *ok) in enumerate(made):
        messages += [said(call(number, name, **arguments)), told(result(number, text, ok=all(ok)))]
    return messages


def prompt(messages: list[Message], **more: object) -> Prompt:
    fields = {"model": "m", "system": (SYSTEM,), "tools": TOOLS, "messages": tuple(messages), **more}
    return Prompt(**fields)  # pyright: ignore[reportArgumentType]


def allowed(body: dict) -> list[str]:
    alternatives = body["response_format"]["json_schema"]["schema"]["anyOf"]
    return [one["properties"]["tool"]["const"] for one in alternatives]


def contents(body: dict) -> list[str]:
    return [message["content"] for message in body["messages"]]


def test_tools_stand_in_the_system_text_and_the_schema_only() -> None:
    body = encode(prompt([told(Text("Hello"))]))
    assert "tools" not in body
    system, question = contents(body)
    assert question == "Hello"
    assert SYSTEM in system
    assert "- edit_file(path, old, new): Does edit_file.\n" in system
    assert "spawn_agent" not in system
    assert "And more" not in system


def test_the_brief_of_a_tool_replaces_its_description() -> None:
    tool = ToolSpec("bash", "Long words.", {}, brief="Runs a command.")
    system = contents(encode(prompt([told(Text("x"))], tools=(tool,))))[0]
    assert "- bash(command): Runs a command.\n" in system


def test_editing_is_offered_once_something_was_looked_at() -> None:
    assert allowed(encode(prompt([told(Text("Fix a"))]))) == [
        *(name for name in NAMES if name != "edit_file"),
        ANSWER,
    ]
    assert allowed(encode(prompt(steps(("list_dir", {"path": "."}, "a"))))) == [
        *(name for name in NAMES if name != "edit_file"),
        ANSWER,
    ]
    assert allowed(encode(prompt(steps(READ)))) == [*NAMES, ANSWER]


def test_only_registered_tools_are_offered() -> None:
    body = encode(prompt([told(Text("x"))], tools=TOOLS[:1]))
    assert allowed(body) == [NAMES[0], ANSWER]


def test_every_argument_is_a_required_string() -> None:
    for one in encode(prompt([told(Text("x"))]))["response_format"]["json_schema"]["schema"]["anyOf"]:
        arguments = one["properties"]["args"]
        assert arguments["required"] == list(arguments["properties"])
        assert all(kind == {"type": "string"} for kind in arguments["properties"].values())
        assert arguments["additionalProperties"] is False


def test_calls_and_results_are_told_back_as_the_model_wrote_them() -> None:
    edits = [{"old": "a", "new": "b"}]
    messages = [
        told(Text("Fix it")),
        said(
            Text("Let me see."), call(1, "read_file", path="x"), call(2, "edit_file", path="x", edits=edits)
        ),
        told(result(1, "a"), result(2, "ok")),
        said(Text("Done.")),
        told(Text("Thanks")),
    ]
    _, *rest = contents(encode(prompt(messages)))
    assert rest == [
        "Fix it",
        '{"tool": "read_file", "args": {"path": "x"}}',
        "Result (0 lines):\na",
        '{"tool": "edit_file", "args": {"path": "x", "old": "a", "new": "b"}}',
        "Result: ok",
        '{"tool": "final_answer", "args": {"answer": "Done."}}',
        "Thanks",
    ]


def test_line_numbers_of_a_file_become_a_count() -> None:
    shown = contents(encode(prompt(steps(("read_file", {"path": "x"}, "1\tdef f():\n2\t\treturn 1")))))[-1]
    assert shown.startswith("Result (2 lines):\ndef f():\n\treturn 1\n")
    kept = contents(encode(prompt(steps(("bash", {"command": "x"}, "1\tone")))))[-1]
    assert kept.startswith("Result: 1\tone")


def test_the_request_stands_behind_the_last_result_and_only_there() -> None:
    other = ("grep", {"pattern": "x", "path": "."}, "none")
    _, *rest = contents(encode(prompt(steps(READ, other))))
    assert rest[2] == "Result (0 lines):\ntext"
    assert rest[4].startswith("Result: none\n\nThe request was: Do it\n")


def test_a_failure_says_to_try_another_way() -> None:
    assert "copied exactly" in contents(encode(prompt(steps(FAIL))))[-1]
    assert "write_file instead" in contents(encode(prompt(steps(READ, FAIL))))[-1]
    assert "Try another way" in contents(encode(prompt(steps(NO_FILE))))[-1]


def test_the_session_s_own_words_follow_what_every_prompt_begins_with() -> None:
    offered = tuple(tool for tool in TOOLS if tool.name in NAMES)
    here = contents(encode(prompt([told(Text("x"))], system=("Working directory: /a",))))[0]
    there = contents(encode(prompt([told(Text("x"))], system=("Working directory: /b",))))[0]
    assert here.startswith(protocol(offered))
    assert there.startswith(protocol(offered))
    assert here.endswith("Working directory: /a")


def test_the_run_status_is_left_out() -> None:
    assert encode(prompt([told(Text("x"))], status="<run-status>step 1</run-status>")) == encode(
        prompt([told(Text("x"))])
    )


def test_what_is_no_text_is_named() -> None:
    body = encode(prompt([told(Text("Look"), Image("image/png", "aGk="))]))
    assert "image/png" in contents(body)[1]
    assert "aGk=" not in json.dumps(body)


def test_sampling_and_length() -> None:
    body = encode(prompt([told(Text("x"))]))
    assert (body["temperature"], body["seed"], body["cache_prompt"], body["stream"]) == (0, 1, True, True)
    assert 0 < body["max_tokens"] <= WINDOW // 2
    assert encode(prompt([told(Text("x"))], max_output=50, temperature=0.5))["max_tokens"] == 50
    assert encode(prompt([told(Text("x"))], temperature=0.5))["temperature"] == 0.5


@pytest.mark.parametrize(("choice", "expected"), [("none", [ANSWER]), ("grep", ["grep"])])
def test_a_choice_of_tool_bounds_the_schema(choice: str, expected: list[str]) -> None:
    assert allowed(encode(prompt([told(Text("x"))], tool_choice=choice))) == expected


# ── loops ──


@pytest.mark.parametrize(
    ("made", "left_out"),
    [
        ([READ], None),
        ([NO_FILE, NO_FILE], "read_file"),
        ([READ, ("edit_file", {"path": "a", "edits": []}, "ok"), READ], None),
        ([FAIL, ("edit_file", {"path": "a", "old": "z", "new": "y"}, "not found", False)], "edit_file"),
        ([READ, FAIL], "edit_file"),
        ([("read_file", {"path": "b"}, "other"), FAIL], None),
        ([("read_file", {"path": "a"}, "long " * 900), FAIL], None),
        ([FAIL, READ, FAIL], "edit_file"),
        ([("bash", {"command": "make"}, "1 error", False), READ], None),
    ],
)
def test_a_tool_that_fails_in_circles_is_left_out(made: list, left_out: str | None) -> None:
    body = encode(prompt(steps(*made)))
    assert allowed(body) == [name for name in (*NAMES, ANSWER) if name != left_out]


@pytest.mark.parametrize(
    "made",
    [
        [READ, READ],
        [READ, ("grep", {"pattern": "x", "path": "."}, "none"), READ],
        [NO_FILE, NO_FILE, ("list_dir", {"path": "."}, "a"), NO_FILE],
        [FAIL, ("bash", {"command": "b"}, "no", False), ("read_file", {"path": "q"}, "no", False), FAIL],
    ],
)
def test_a_model_that_goes_in_circles_may_only_answer(made: list) -> None:
    body = encode(prompt(steps(*made)))
    assert allowed(body) == [ANSWER]
    worked = all(made[-1][3:])
    assert ("answer the user's request" if worked else "could not be done") in contents(body)[-1]


def test_the_operator_s_next_message_begins_anew() -> None:
    messages = [*steps(READ, READ), said(Text("It says text.")), told(Text("Read it again"))]
    assert allowed(encode(prompt(messages))) == [*NAMES, ANSWER]


def test_without_tools_there_is_nothing_but_the_answer() -> None:
    body = encode(prompt([told(Text("Hello"))], tools=()))
    assert allowed(body) == [ANSWER]
    assert contents(body)[-1] == "Hello"


# ── room ──

texts = st.text(max_size=200)
made_steps = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.dictionaries(st.sampled_from(["path", "command"]), texts),
        texts,
        st.booleans(),
    ),
    max_size=6,
)


@given(made_steps)
def test_roles_alternate_and_the_system_comes_first(made: list) -> None:
    roles = [message["role"] for message in encode(prompt(steps(*made)))["messages"]]
    assert roles[0] == "system"
    assert roles[1::2] == ["user"] * len(roles[1::2])
    assert roles[2::2] == ["assistant"] * len(roles[2::2])


@given(made_steps, texts)
def test_what_was_sent_stays_the_prefix(made: list, answer: str) -> None:
    earlier = steps(*made)
    now = encode(prompt(earlier))["messages"]
    later = encode(prompt([*earlier, said(call(99, "bash", command="new")), told(result(99, answer))]))[
        "messages"
    ]
    assert later[: len(now) - 1] == now[:-1]
    assert now[-1]["content"].startswith(later[len(now) - 1]["content"])


def test_a_long_result_is_cut_and_says_so() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000))
    shown = contents(encode(prompt(steps(("bash", {"command": "x"}, text)))))[-1]
    assert len(shown) < RESULT_CHARS + 250
    assert "line 0\n" in shown
    assert "line 999" in shown
    assert "characters left out" in shown


@given(st.integers(1, 30))
def test_the_oldest_results_give_way_so_that_the_whole_fits(count: int) -> None:
    made = [
        ("bash", {"command": f"cat {number}"}, f"{number} " + "long words " * 300) for number in range(count)
    ]
    body = encode(prompt(steps(*made)))
    shown = contents(body)
    assert sum(tokens_in(text) for text in shown) + body["max_tokens"] <= WINDOW
    assert shown[-1].count("long words") > 200
    if count > 10:
        assert shown[3].count("long words") < 40


def test_the_request_is_said_again_after_a_summary_too() -> None:
    summary = f"{SUMMARY_OPENING}# Current state\nAll is well.\n\n{OPERATOR_HEADING}\n\nFind the password"
    messages = steps(READ)
    messages[0] = told(Text(summary))
    last = encode(prompt(messages))["messages"][-1]["content"]
    assert "The request was: Find the password" in last
    assert "All is well" not in last
