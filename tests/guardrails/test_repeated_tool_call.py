"""The same call again and again: true cases, near misses, and what breaks a run."""

from __future__ import annotations

import pytest

from agent_cli.guardrails.signals.repeated_tool_call import RepeatedToolCall
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.ports import Alert

Step = tuple[str, dict[str, object], str]


def read(path: str, result: str = "same") -> Step:
    return ("read_file", {"path": path}, result)


def alerts(*steps: Step | ev.Recorded) -> list[Alert]:
    signal, found = RepeatedToolCall(), []
    for number, step in enumerate(steps):
        if not isinstance(step, tuple):
            found.append(signal.feed(step))
            continue
        name, arguments, result = step
        found.append(signal.feed(ev.ToolCallProposed(ToolCall(str(number), name, arguments))))
        found.append(signal.feed(ev.ToolReturned(str(number), name, ev.Output((Text(result),)))))
    return [alert for alert in found if alert]


@pytest.mark.parametrize(
    "steps",
    [
        [read("a")] * 5,
        [read("a"), read("./a"), read("x/../a"), read("/p/a"), read("a")],
        [read("a", "at 12:00:01"), read("a", "at 12:00:02"), *[read("a", "at 12:00:03")] * 3],
        [read("b"), *[read("a")] * 5],
    ],
)
def test_five_equal_calls_in_a_row_trip_once(steps: list[Step]):
    (alert,) = alerts(*steps)
    assert (alert.severity, alert.scope) == ("critical", "session")
    assert "5 times in a row" in alert.reason


@pytest.mark.parametrize(
    "steps",
    [
        [read("a")] * 4,
        [*[read("a")] * 4, read("b"), *[read("a")] * 4],
        [read("a", f"{n} failed") for n in range(8)],
        [read("a/doc"), read("b/doc"), read("a/doc"), read("b/doc"), read("a/doc")],
        [*[read("a")] * 3, ev.OperatorMessage((Text("again"),)), *[read("a")] * 3],
        [*[read("a")] * 3, ev.GuardrailReset("watchdog"), *[read("a")] * 3],
    ],
)
def test_near_misses_do_not(steps: list[Step]):
    assert alerts(*steps) == []


def test_a_change_breaks_the_run():
    signal = RepeatedToolCall()
    for number in range(8):
        assert signal.feed(ev.ToolCallProposed(ToolCall(str(number), "bash", {"command": "make"}))) is None
        signal.feed(ev.ToolReturned(str(number), "bash", ev.Output((Text("ok"),), changed=("a.o",))))


def test_it_is_told_once_a_pattern_and_again_after_it_broke():
    assert len(alerts(*[read("a")] * 9)) == 1
    assert len(alerts(*[read("a")] * 6, read("b"), *[read("a")] * 6)) == 2


def test_feeding_a_log_twice_from_fresh_gives_the_same():
    steps = [*[read("a")] * 6, read("b"), *[read("a")] * 6]
    assert alerts(*steps) == alerts(*steps)
