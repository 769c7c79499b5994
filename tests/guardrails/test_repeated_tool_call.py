"""The same call again and again: true cases, near misses, and what breaks a run."""

from __future__ import annotations

from functools import partial

import pytest

from tests.guardrails.played import OPERATOR, RESET, Call, Step, edit, only, read, shell

alerts = partial(only, "repeated-tool-call")


@pytest.mark.parametrize(
    "steps",
    [
        [read()] * 5,
        [read("a"), read("./a"), read("x/../a"), read("/p/a"), read("a")],
        [read("a", f"at 12:00:0{n} in 0.{n}s") for n in range(5)],
        [read("b"), *[read("a")] * 5],
        [(read(),) * 5],
        [*[read()] * 3, edit(), *[read()] * 5],
        [shell("make", ok=False)] * 5,
    ],
)
def test_five_equal_calls_in_a_row_trip_once(steps: list[Step]):
    (alert,) = alerts(*steps)
    assert (alert.severity, alert.scope) == ("critical", "session")
    assert "5 times in a row" in alert.reason
    assert "wait_and_verify" in alert.guidance
    assert "/guardrail" not in alert.guidance


@pytest.mark.parametrize(
    "steps",
    [
        [read()] * 4,
        [*[read()] * 4, read("b"), *[read()] * 4],
        [read("a", f"{n} failed") for n in range(8)],
        [read("a/doc"), read("b/doc"), read("a/doc"), read("b/doc"), read("a/doc")],
        [*[read()] * 3, OPERATOR, *[read()] * 3],
        [*[read()] * 3, RESET, *[read()] * 3],
        [*[read()] * 4, edit(), *[read()] * 4],
        [(edit(), read())] + [(edit(text=str(n)), read()) for n in range(6)],
        [Call("wait_and_verify", {"command": "true"})] * 9,
    ],
)
def test_near_misses_do_not(steps: list[Step]):
    assert alerts(*steps) == []


def test_a_command_that_changes_the_same_thing_again_and_again_is_not_excused_by_it():
    appends = Call("bash", {"command": "echo x >> log"}, "[exit code 0]", changed=("log",))
    assert len(alerts(*[appends] * 4)) == 0
    assert len(alerts(*[appends] * 5)) == 1


def test_it_is_told_once_a_pattern_and_again_after_it_broke():
    assert len(alerts(*[read()] * 9)) == 1
    assert len(alerts(*[read()] * 6, read("b"), *[read()] * 6)) == 2


def test_the_first_seeds_profile_does_not_look_at_results():
    assert len(alerts(*[read("a", f"{n} failed") for n in range(5)], profile="seed")) == 1
