"""The signals that watch a session, the most specific first, by profile and as the operator tuned them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agent_cli.guardrails.recent import SESSION, TURN, WARN, Stance
from agent_cli.guardrails.signals.alternating_tool_cycle import AlternatingToolCycle
from agent_cli.guardrails.signals.dominant_tool_call import DominantToolCall
from agent_cli.guardrails.signals.no_new_state import NoNewState
from agent_cli.guardrails.signals.no_news import NoNews
from agent_cli.guardrails.signals.no_op_streak import NoOpStreak
from agent_cli.guardrails.signals.null_result_streak import NullResultStreak
from agent_cli.guardrails.signals.repeated_tool_call import RepeatedToolCall
from agent_cli.guardrails.signals.repeated_tool_name import RepeatedToolName
from agent_cli.guardrails.signals.stuck_interaction import StuckInteraction
from agent_cli.guardrails.signals.tool_failure_streak import ToolFailureStreak
from agent_cli.guardrails.signals.tools_without_text import ToolsWithoutText
from agent_cli.kernel.events import Severity, StopScope
from agent_cli.kernel.values import Plain
from agent_cli.kernel.watching import Profile, SignalName
from agent_cli.ports import Signal

PROFILES: tuple[Profile, ...] = ("default", "seed", "strict")
OFF = 0

STANCES: dict[SignalName, Stance] = {
    "repeated-tool-call": SESSION,
    "alternating-tool-cycle": SESSION,
    "dominant-tool-call": SESSION,
    "repeated-tool-name": WARN,
    "stuck-interaction": TURN,
    "no-op-streak": TURN,
    "null-result-streak": TURN,
    "no-news": TURN,
    "tool-failure-streak": WARN,
    "no-new-state": WARN,
    "tools-without-text": WARN,
}
NAMES: tuple[SignalName, ...] = tuple(STANCES)

THRESHOLDS: dict[SignalName, dict[Profile, int]] = {
    "repeated-tool-call": {"default": 5, "seed": 5, "strict": 5},
    "alternating-tool-cycle": {"default": 3, "seed": 3, "strict": 3},
    "dominant-tool-call": {"default": 8, "seed": 8, "strict": 3},
    "repeated-tool-name": {"default": 15, "seed": 15, "strict": 15},
    "stuck-interaction": {"default": 5, "seed": 5, "strict": 5},
    "no-op-streak": {"default": 3, "seed": 3, "strict": 3},
    "null-result-streak": {"default": 12, "seed": 8, "strict": 12},
    "no-news": {"default": 10, "seed": OFF, "strict": 10},
    "tool-failure-streak": {"default": 5, "seed": 3, "strict": 5},
    "no-new-state": {"default": 6, "seed": 6, "strict": 6},
    "tools-without-text": {"default": 60, "seed": 12, "strict": 60},
}
NINTH = 9
"""Copies at which `stuck-interaction` stops where `dominant-tool-call`, which stops at 8, is to be first."""


class Tuned(Plain, frozen=True):
    """What the operator says about one signal; None leaves it as the profile has it."""

    threshold: int | None = None
    severity: Literal["warn", "critical"] | None = None
    scope: StopScope | None = None
    enabled: bool | None = None


def signals(
    profile: Profile = "default", tuned: Mapping[SignalName, Tuned] | None = None, *, enforced: bool = True
) -> tuple[Signal, ...]:
    """Fresh ones. `enforced` says that a critical one stops."""
    plans = _plans(profile, tuned or {})
    dominant = plans["dominant-tool-call"]
    stop_at: int | None = None
    if enforced:
        stop_at = NINTH if dominant.threshold and dominant.stance.severity == "critical" else 0
    return tuple(_made(name, plan, profile, stop_at) for name, plan in plans.items() if plan.threshold)


def thresholds(profile: Profile, tuned: Mapping[SignalName, Tuned]) -> dict[SignalName, int]:
    """Those in force; 0 is off."""
    return {name: plan.threshold for name, plan in _plans(profile, tuned).items()}


class _Plan(Plain, frozen=True):
    threshold: int
    stance: Stance


def _plans(profile: Profile, tuned: Mapping[SignalName, Tuned]) -> dict[SignalName, _Plan]:
    return {name: _plan(name, profile, tuned.get(name, Tuned())) for name in NAMES}


def _plan(name: SignalName, profile: Profile, tuned: Tuned) -> _Plan:
    severity, scope = STANCES[name]
    stance = Stance(_or(tuned.severity, severity), tuned.scope or scope)
    usual = THRESHOLDS[name][profile]
    enabled = tuned.enabled if tuned.enabled is not None else bool(usual)
    return _Plan((tuned.threshold or usual or THRESHOLDS[name]["default"]) if enabled else OFF, stance)


def _or(said: Severity | None, usual: Severity) -> Severity:
    return said or usual


def _made(name: SignalName, plan: _Plan, profile: Profile, stop_at: int | None) -> Signal:  # noqa: PLR0911  one for each signal
    threshold, stance, seed = plan.threshold, plan.stance, profile == "seed"
    match name:
        case "repeated-tool-call":
            return RepeatedToolCall(threshold, stance, by_result=not seed)
        case "alternating-tool-cycle":
            pair_laps = 2 if profile == "strict" else None
            longest = 4 if seed else 6
            return AlternatingToolCycle(
                threshold, stance, longest=longest, pair_laps=pair_laps, by_result=not seed
            )
        case "dominant-tool-call":
            window = max(8 if profile == "strict" else 12, threshold * 3 // 2)
            return DominantToolCall(threshold, stance, window=window, by_result=profile == "default")
        case "repeated-tool-name":
            return RepeatedToolName(threshold, stance, distinct=1 if seed else 0.5)
        case "stuck-interaction":
            return StuckInteraction(threshold, stance, stop_at=stop_at)
        case "no-op-streak":
            return NoOpStreak(threshold, stance)
        case "null-result-streak":
            return NullResultStreak(threshold, stance, warns=not seed)
        case "no-news":
            return NoNews(threshold, stance)
        case "tool-failure-streak":
            return ToolFailureStreak(threshold, stance, by_step=not seed)
        case "no-new-state":
            return NoNewState(threshold, stance, by_call=not seed)
        case "tools-without-text":
            return ToolsWithoutText(threshold, stance)
