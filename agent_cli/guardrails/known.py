"""For each signal a behaviour that it must catch: what shows that it is armed, as it is tuned. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

from agent_cli.guardrails.book import NAMES, Tuned, signals, thresholds
from agent_cli.guardrails.cases import Case, CaseCall, CaseResult, CaseStep, Found, replay
from agent_cli.kernel.events import Severity
from agent_cli.kernel.values import Plain
from agent_cli.kernel.watching import Profile, SignalName

Verdict: TypeAlias = Literal["caught", "missed", "off"]

SAME = CaseResult("same", bytes=4)


class Known(Plain, frozen=True):
    """What one signal did: `severity`, `call` (from 1) and `reason` are of its gravest alert, the first of those."""

    signal: SignalName
    verdict: Verdict
    severity: Severity | None = None
    call: int | None = None
    reason: str = ""


def known_positives(profile: Profile, tuned: Mapping[SignalName, Tuned]) -> tuple[Known, ...]:
    """Each signal alone over its case, as `enforce` has it."""
    at = thresholds(profile, tuned)
    return tuple(_known(name, at[name], profile, tuned) for name in NAMES)


def _known(name: SignalName, threshold: int, profile: Profile, tuned: Mapping[SignalName, Tuned]) -> Known:
    watched = [signal for signal in signals(profile, tuned) if signal.name == name]
    if not watched:
        return Known(name, "off")
    case = Case(name, tuple(CASES[name](threshold)))
    found = list(replay(case, watched))
    if not found:
        return Known(name, "missed")
    gravest = min(found, key=_gravity)
    return Known(name, "caught", gravest.alert.severity, gravest.call, gravest.alert.reason)


def _gravity(found: Found) -> tuple[bool, int]:
    return found.alert.severity != "critical", found.call


# ── the cases ──


def read(path: str, result: CaseResult = SAME) -> CaseCall:
    return CaseCall("read_file", {"path": path}, "read", result=result)


def shell(command: str, result: CaseResult) -> CaseCall:
    return CaseCall("bash", kind="shell", shell={"cmd": command}, result=result)  # noqa: S604  no process


def _each(calls: Iterator[CaseCall]) -> Iterator[CaseStep]:
    return (CaseStep(calls=(call,)) for call in calls)


def _repeated(threshold: int) -> Iterator[CaseStep]:
    return _each(read("a") for _ in range(threshold))


def _cycle(laps: int) -> Iterator[CaseStep]:
    return _each(read(name, CaseResult(name)) for _ in range(laps) for name in "ab")


def _dominant(threshold: int) -> Iterator[CaseStep]:
    """Three of four are one call."""
    return _each(
        read(f"o{n}", CaseResult(f"o{n}")) if n % 4 == 3 else read("a") for n in range(2 * threshold + 12)
    )


def _few(threshold: int) -> Iterator[CaseStep]:
    """Two commands by turns, which bring something else each time."""
    return _each(shell(f"x{n % 2}", CaseResult(f"r{n}")) for n in range(threshold))


def _stuck(threshold: int) -> Iterator[CaseStep]:
    """Two copies a step, so that they stay within the steps that are looked at."""
    return (CaseStep(calls=(read("a"), read("a"))) for _ in range(threshold + 4))


def _done(threshold: int) -> Iterator[CaseStep]:
    nothing = CaseResult("done already", noop=True)
    return _each(CaseCall("todo", {"items": str(n)}, result=nothing) for n in range(threshold + 1))


def _empty(threshold: int) -> Iterator[CaseStep]:
    return _each(
        CaseCall("grep", {"pattern": f"w{n}"}, "search", result=CaseResult("", empty=True))
        for n in range(threshold)
    )


def _old(threshold: int) -> Iterator[CaseStep]:
    return _each(read(f"a{n}") for n in range(threshold + 12))


def _failing(threshold: int) -> Iterator[CaseStep]:
    return _each(shell(f"try {n}", CaseResult(f"e{n}", error=True)) for n in range(threshold))


def _seen(threshold: int) -> Iterator[CaseStep]:
    return _each(read("a") for _ in range(threshold + 1))


def _silent(threshold: int) -> Iterator[CaseStep]:
    return _each(read(f"f{n}", CaseResult(f"r{n}")) for n in range(threshold))


CASES: dict[SignalName, Callable[[int], Iterator[CaseStep]]] = {
    "repeated-tool-call": _repeated,
    "alternating-tool-cycle": _cycle,
    "dominant-tool-call": _dominant,
    "repeated-tool-name": _few,
    "stuck-interaction": _stuck,
    "no-op-streak": _done,
    "null-result-streak": _empty,
    "no-news": _old,
    "tool-failure-streak": _failing,
    "no-new-state": _seen,
    "tools-without-text": _silent,
}
"""By the threshold that is in force."""
