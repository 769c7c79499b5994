"""What hooks say, and what several of them come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.hooks.hook import Hook, HookEvent
from agent_cli.hooks.said import STRICT, Answer, Heard, Ran, Verdict, is_over, joined, told, verdict

PRE = Hook("pre-tool", "check", name="a")
GATE = Hook("pre-tool", "check", name="gate", gate=True)


def answered(permission: str | None) -> Verdict:
    return Verdict(answer=Answer(permission=permission))  # type: ignore[arg-type]  # one of the four, as a parameter


@pytest.mark.parametrize(
    ("matcher", "tool", "wanted"),
    [
        ("*", "bash", True), ("bash", "bash", True), ("bash", "bash_kill", False), ("edit_*|write_file", "write_file", True),
        ("edit_* | write_file", "edit_file", True), ("mcp__*", "mcp__x__y", True), ("Bash", "bash", False),
    ],
)  # fmt: skip
def test_a_matcher_is_a_glob_on_the_tools_name(matcher: str, tool: str, wanted: bool) -> None:
    hook = Hook("pre-tool", "x", matcher=matcher)
    assert hook.wants("pre-tool", tool) is wanted
    assert not hook.wants("post-tool", tool)


def test_exit_codes() -> None:
    assert verdict("pre-tool", Ran(0)) == Verdict()
    assert verdict("pre-tool", Ran(2, err=" no \n")).blocked == "no"
    assert verdict("pre-tool", Ran(2, out="no")).blocked == "no"
    assert verdict("pre-tool", Ran(2)).blocked == "it gave no reason"
    assert verdict("pre-tool", Ran(1, err="one\ntwo")).failed == "it ended with 1: two"
    assert verdict("pre-tool", Ran(-9)).failed == "it ended with -9"
    assert verdict("pre-tool", Ran(None, problem="gone")).failed == "gone"


def test_an_answer_decides_only_where_it_is_asked_for() -> None:
    allow, changed = '{"permission": "allow"}', '{"arguments": {}}'
    assert verdict("pre-tool", Ran(0, allow)).answer.permission == "allow"
    assert "turn-end does not ask for" in verdict("turn-end", Ran(0, allow)).failed
    assert verdict("pre-tool", Ran(0, changed)).answer.arguments == {}
    assert "post-tool does not take" in verdict("post-tool", Ran(0, changed)).failed
    assert "permission-request does not take" in verdict("permission-request", Ran(0, changed)).failed


def test_plain_text_is_context_where_a_message_or_a_session_begins() -> None:
    assert verdict("prompt-submit", Ran(0, "hello")).answer.context == "hello"
    assert verdict("session-start", Ran(0, "[1]")).answer.context == "[1]"
    assert verdict("post-tool", Ran(0, "hello")) == Verdict()


@pytest.mark.parametrize(
    "out", ["{", "{}x", '{"permission": "maybe"}', '{"version": "x"}', '{"unknown": 1}', "{\x00}"]
)
def test_an_answer_that_is_none_fails(out: str) -> None:
    assert verdict("pre-tool", Ran(0, out)).failed.startswith("its answer cannot be read")


DENIED = '{"permission": "deny"}'


@pytest.mark.parametrize("out", [f"checked 3 files\n{DENIED}", f"[{DENIED}]", "\ufffd" + "\0".join(DENIED)])
@pytest.mark.parametrize("event", ["pre-tool", "permission-request"])
def test_a_decision_that_stands_beside_something_else_is_not_overheard(event: HookEvent, out: str) -> None:
    assert "one JSON object" in verdict(event, Ran(0, out)).failed
    assert verdict("turn-end", Ran(0, out)) == Verdict()


def test_a_decision_behind_a_byte_order_mark_counts_and_chatter_is_none() -> None:
    assert verdict("pre-tool", Ran(0, "\ufeff" + DENIED)).answer.permission == "deny"
    assert verdict("pre-tool", Ran(0, "all is well\n[ok]")) == Verdict()


@given(st.lists(st.sampled_from(["allow", "ask", "deny", None])))
def test_of_decisions_the_strictest_counts_whatever_their_order(said: list[str | None]) -> None:
    heard = Heard()
    for one in said:
        heard = joined(heard, PRE, answered(one))
    assert heard.permission == max(said, key=lambda one: STRICT[one], default=None)
    assert is_over(heard) is ("deny" in said)


def test_the_last_arguments_count_and_all_texts() -> None:
    heard = Heard()
    for at in range(3):
        heard = joined(
            heard, Hook("pre-tool", f"c{at}"), Verdict(answer=Answer(arguments={"at": at}, context=str(at)))
        )
    assert (heard.arguments, heard.changed) == ({"at": 2}, "c2")
    assert heard.contexts == (("c0", "0"), ("c1", "1"), ("c2", "2"))


def test_a_failure_is_told_and_only_a_gate_blocks_by_it() -> None:
    failed = Verdict(failed="boom")
    heard = joined(Heard(), PRE, failed)
    assert (heard.blocked, heard.failures) == (None, ("the hook 'a' (pre-tool) failed: boom",))
    heard = joined(heard, GATE, failed)
    assert (heard.blocked, heard.by, len(heard.failures)) == ("it is a gate and failed: boom", "gate", 2)


def test_what_is_long_is_cut_where_one_sees_it() -> None:
    text = verdict("prompt-submit", Ran(0, "x" * 20_000, size=99_999, cut=True)).answer.context
    assert text.endswith("[… cut here: the hook wrote 99,999 bytes …]")
    assert len(text) < 16_100
    assert len(verdict("pre-tool", Ran(2, err="y" * 20_000)).blocked or "") < 16_100


def test_a_hook_is_called_by_its_name_or_by_what_it_runs() -> None:
    assert Hook("pre-tool", "make check").called == "make check"
    assert Hook("pre-tool", argv=("a", "b")).called == "a b"
    assert Hook("pre-tool", "x" * 90).called == "x" * 39 + "…"
    assert told("turn-end", "n", "x") == '<hook name="n" event="turn-end">\nx\n</hook>'
