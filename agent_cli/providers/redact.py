"""Secrets out of what is recorded of a provider."""

from agent_cli.guardrails.secrets.scan import redacted, without

__all__ = ["redacted", "without"]
