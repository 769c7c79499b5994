"""What the watchdog tells the model at the beginning of its next turn."""

from __future__ import annotations

from agent_cli.ports import Alert

OPENING = """[watchdog]
Automated observation about your own previous turn. It is not from the user, and the user does not see it."""
CLOSING = "Take it into account; do not answer it.\n[/watchdog]"


def watchdog_block(alerts: tuple[Alert, ...]) -> str:
    """One bullet an alert: the signal and what to do about it."""
    bullets = [f"- {alert.signal}: {alert.guidance or alert.reason}" for alert in alerts]
    return "\n".join([OPENING, *bullets, CLOSING])
