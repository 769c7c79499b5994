"""The checks in their order. That for secrets comes before all of them and is not in here."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.checks.check import Check, SlowCheck
from agent_cli.guardrails.checks.conduct import FirstUse, Rate, RedactedText, Unread, UnusualPath, Volume
from agent_cli.guardrails.checks.exfiltration import Exfiltration
from agent_cli.guardrails.checks.untrusted import UntrustedText


def never(path: str) -> bool:
    """No path looks as if it held secrets."""
    return False


def book(armed: Armed, looks_secret: Callable[[str], bool] = never) -> tuple[Check | SlowCheck, ...]:
    """The cheapest first; the operator's behind ours."""
    actions, found = armed.actions, list[Check | SlowCheck]()
    if actions.rate != "off" and actions.max_per_turn:
        found.append(Rate(actions.rate, actions.max_per_turn))
    if actions.volume != "off":
        found.append(Volume(actions.volume, actions.max_written_bytes, actions.max_deleted_bytes))
    if actions.unread != "off":
        found.append(Unread(actions.unread))
    if actions.unusual_path != "off":
        found.append(UnusualPath(actions.unusual_path))
    if actions.first_use != "off":
        found.append(FirstUse(actions.first_use, armed.habits.sessions, armed.habits.tools))
    if actions.redacted_text != "off":
        found.append(RedactedText(actions.redacted_text))
    if actions.exfiltration != "off":
        found.append(Exfiltration(actions.exfiltration, looks_secret))
    if armed.untrusted_text != "off":
        found.append(UntrustedText(armed.untrusted_text))
    return (*found, *armed.own)
