"""What settings say about the watchdog: its mode, its signals, and the line that says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.guardrails.book import Tuned, signals
from agent_cli.kernel.watching import SignalName, WatchdogMode
from agent_cli.ports import Signal

BRIEFLY: dict[WatchdogMode, str] = {
    "off": "looks for nothing",
    "warn": "tells you of loops, stops nothing",
    "feedback": "tells you and the model of loops, stops nothing",
    "enforce": "stops loops",
}
DOES: dict[WatchdogMode, str] = {
    "off": "nobody looks whether the agent goes in circles",
    "warn": "tells you when the agent goes in circles; stops nothing",
    "feedback": "tells you when the agent goes in circles, and the model at its next turn; stops nothing",
    "enforce": "tells you when the agent goes in circles, and the model at its next turn; a critical signal stops the turn "
    "at once, most of them the session until /guardrail reset",
}


def watchdog_mode(settings: Settings, *, attended: bool) -> WatchdogMode:
    return settings.safety.watchdog or ("warn" if attended else "enforce")


def watching(settings: Settings, *, attended: bool) -> Callable[[], tuple[Signal, ...]]:
    """Makes fresh signals, by profile and as single ones are tuned."""
    enforced = watchdog_mode(settings, attended=attended) == "enforce"
    return partial(signals, settings.watchdog.profile, tuned(settings), enforced=enforced)


def tuned(settings: Settings) -> dict[SignalName, Tuned]:
    return {
        name: Tuned(rule.threshold, rule.severity, rule.scope, rule.enabled)
        for name, rule in settings.watchdog.signals.items()
    }


def start_line(loaded: Loaded, *, attended: bool) -> str:
    """The mode, where it comes from, and what it does."""
    settings = loaded.settings
    mode = watchdog_mode(settings, attended=attended)
    usual = f"{'interactive' if attended else 'unattended'} default"
    origin = loaded.origins.get("safety.watchdog", usual) if settings.safety.watchdog else usual
    profile = "" if settings.watchdog.profile == "default" else f", profile {settings.watchdog.profile}"
    return f"watchdog: {mode} mode [{origin}]{profile} ({BRIEFLY[mode]})"


def in_full(loaded: Loaded, *, attended: bool) -> str:
    """What the mode does, for who asks for details."""
    return f"watchdog: {DOES[watchdog_mode(loaded.settings, attended=attended)]}"
