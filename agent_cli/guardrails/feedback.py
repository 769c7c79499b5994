"""What the watchdog tells the model."""

from __future__ import annotations

from agent_cli.ports import Alert

OPENING = """[watchdog]
Automated observation about your own previous turn. It is not from the user, and the user does not see it."""
CLOSING = "Adjust what you do in this turn accordingly; do not answer this note.\n[/watchdog]"
NOW = """[watchdog]
Automated observation about what you are doing in this turn. It is not from the user, and the user does not see it."""
GO_ON = "Adjust what you do next accordingly; do not answer this note.\n[/watchdog]"


def watchdog_block(alerts: tuple[Alert, ...]) -> str:
    """At the beginning of a turn, about the one before: one bullet an alert, the signal and what to do about it."""
    return "\n".join([OPENING, *_bullets(alerts), CLOSING])


def watchdog_word(alerts: tuple[Alert, ...]) -> str:
    """Inside the turn, behind the results of a step."""
    return "\n".join([NOW, *_bullets(alerts), GO_ON])


def _bullets(alerts: tuple[Alert, ...]) -> list[str]:
    return [f"- {alert.signal}: {alert.guidance or alert.reason}" for alert in alerts]
