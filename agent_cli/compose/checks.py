"""The checks that a session would have, and what they say of a text; nothing runs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from agent_cli.compose.armed import armed
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.config.sources import Loaded
from agent_cli.engine.guards import act_of
from agent_cli.guardrails.checks.book import book
from agent_cli.guardrails.checks.check import Content, SlowCheck, Subject
from agent_cli.guardrails.checks.known import Fed, known_positives
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.checks.rules import told
from agent_cli.guardrails.secrets.scan import redact
from agent_cli.kernel.messages import ToolCall
from agent_cli.permissions.secrets import looks_secret
from agent_cli.ports import Touches


class Listed(NamedTuple):
    """`gates` says whether nothing passes while it is down; `around` what steps around it, "" for nothing."""

    surface: str
    check: str
    what: str
    gates: bool
    around: str


class Verdict(NamedTuple):
    check: str
    severity: str
    message: str


def listed(options: RunOptions) -> tuple[Listed, ...]:
    """In the order in which they are asked. Raises ConfigError."""
    found = armed(prepare(options))
    around = {each.check: f"not asked about {each.tool}, by {each.owner}" for each in found.bypasses}
    first = (
        [Listed("input, output", "secrets", "Secrets, which are replaced.", True, "")] if found.redact else []
    )
    rest = [
        Listed(
            check.surface,
            check.name,
            told(check),
            check.gates if isinstance(check, SlowCheck) else True,
            around.get(check.name, ""),
        )
        for check in book(found, looks_secret)
    ]
    return (*first, *sorted(rest, key=lambda row: ("input", "action", "output").index(row.surface)))


def tried(
    options: RunOptions, text: str, surface: Literal["input", "action", "output"], tool: str
) -> tuple[Verdict, ...]:
    """What the quick checks would find in a text; of an action it is a shell line or the one argument of a tool."""
    found = armed(prepare(options))
    subject = subject_of(text, surface, tool)
    kinds = redact(text).kinds if found.redact and surface != "action" else ()
    verdicts = [Verdict("secrets", "warn", f"replaces {', '.join(kinds)}")] if kinds else []
    for check in book(found, looks_secret):
        if check.surface == surface and not isinstance(check, SlowCheck):
            said = check.look(subject, Past())
            verdicts += [Verdict(check.name, said.severity, said.message)] if said else []
    return tuple(verdicts)


def fed(loaded: Loaded) -> tuple[Fed, ...]:
    """What each check makes of a case that it must catch. Raises ConfigError."""
    return known_positives(armed(loaded), looks_secret)


def subject_of(text: str, surface: str, tool: str) -> Subject:
    """A text as the checks of that surface see it."""
    if surface != "action":
        return Content(tool if surface == "input" else "", "read", text)
    if tool == "bash":
        return act_of(
            ToolCall("", tool, {"command": text}), {"command": text}, Touches("execute", text, command=text)
        )
    return act_of(ToolCall("", tool, {"argument": text}), {"argument": text}, Touches("network", text))
