"""The run status line, the system prompt, estimates and bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context import estimate
from agent_cli.context.bounds import bound
from agent_cli.context.status import Progress, status_line
from agent_cli.context.system import Instructions, system_prompt
from agent_cli.kernel.events import Output, SessionStarted
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Image, Text

STARTED = SessionStarted("/p", "0.1.0", "linux", "2026-11-30", "fake", "fake-1", "ask")


def test_the_status_line_shows_each_limit_that_is_set():
    line = status_line(Progress(3, 11, 84_210, 23_480, 74.9), Limits(12, 24, 200_000, 300))
    assert line == (
        "<run-status>step 3/12 · tool-calls 11/24 · tokens 84210/200000 · last-context 23480 · elapsed 74s/300s</run-status>"
    )


def test_the_status_line_warns_past_80_percent_and_names_the_dimension():
    line = status_line(Progress(10, 1, 0, 0, 0), Limits(max_steps=12))
    assert "over 80% of step is used" in line
    assert "wrap up" not in status_line(Progress(9, 1, 0, 0, 0), Limits(max_steps=12))


def test_the_system_prompt_is_the_same_bytes_for_the_same_facts():
    files = (Instructions("AGENTS.md", "Use tabs.\n"), Instructions("empty.md", "  "))
    first = system_prompt("You are X.", STARTED, files, "Be brief.")
    assert first == system_prompt("You are X.", STARTED, files, "Be brief.")
    assert "Working directory: /p" in first[0]
    assert "Instructions from AGENTS.md:\n\nUse tabs." in first[0]
    assert "empty.md" not in first[0]
    assert first[0].endswith("Be brief.")


def test_results_count_three_bytes_a_token_rounded_up():
    assert estimate.tokens_of_result(Output((Text("abcd"),))) == 2
    assert estimate.tokens_of_result(Output((Image("image/png", "x"),))) == estimate.TOKENS_PER_IMAGE
    assert estimate.tokens_of_content((Text("abcde"),)) == 2


@given(st.text(), st.integers(min_value=64, max_value=400))
def test_a_bound_keeps_head_and_tail_and_never_breaks_a_character(text: str, limit: int):
    whole = text * 20
    cut = bound(Output((Text(whole),)), limit).for_model[0]
    assert isinstance(cut, Text)
    if len(whole.encode()) <= limit:
        assert cut.text == whole
        return
    head, _, rest = cut.text.partition("\n[… ")
    tail = rest.partition("…]\n")[2]
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head.encode()) + len(tail.encode()) <= limit
