"""Rules for hosts of the web: `example.org`, `*.example.org`, `*`. Letter case does not count."""

from __future__ import annotations

from collections.abc import Iterable

from agent_cli.permissions import globs


def denied(host: str, rules: Iterable[str]) -> str:
    """The rule that forbids the host, "" for none. A name forbids what lies below it, too."""
    name = _bare(host)
    for rule in rules:
        pattern = globs.flat(_bare(rule))
        parts = name.split(".")
        if any(pattern.fullmatch(".".join(parts[at:])) for at in range(len(parts))):
            return rule
    return ""


def allowed(host: str, rules: Iterable[str]) -> str:
    """The rule that allows the host, "" for none."""
    return next((rule for rule in rules if globs.flat(_bare(rule)).fullmatch(_bare(host))), "")


def _bare(host: str) -> str:
    return host.strip().rstrip(".").casefold()
