"""Settings → the content and action checks that are armed."""

from __future__ import annotations

from agent_cli.config.settings import Settings
from agent_cli.guardrails.armed import Armed


def armed(settings: Settings) -> Armed:
    return Armed(redact=settings.guardrails.redact)
