"""Settings → the content and action checks that are armed."""

from __future__ import annotations

from agent_cli.config.settings import Settings
from agent_cli.guardrails.checks.armed import Actions, Armed


def armed(settings: Settings) -> Armed:
    said = settings.guardrails
    return Armed(
        redact=said.redact,
        gate=said.output.gate,
        untrusted_text=said.untrusted_text,
        actions=Actions(**said.actions.given()),
        deadline=said.deadline,
    )
