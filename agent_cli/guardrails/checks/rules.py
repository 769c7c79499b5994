"""Rules of the operator: a pattern on a surface, and what is done where it matches. And what steps around a check."""

from __future__ import annotations

import re

import msgspec

from agent_cli.guardrails.checks.check import Act, Check, Found, Severity, SlowCheck, Subject, Surface
from agent_cli.guardrails.checks.past import Past
from agent_cli.kernel.values import Plain

PREFIX = "rule:"
ANSWER = "answer"
"""What a bypass names in the place of a tool, for what the model says."""


class Rule(Plain, frozen=True, forbid_unknown_fields=True):
    """`match` is a regular expression, looked for in a result, in the arguments of a call as JSON and in each text of
    them, or in a paragraph of an answer. `tools` bounds it to those; `origin` is the file that holds it.
    """

    name: str
    surface: Surface
    match: str
    severity: Severity = "warn"
    message: str = ""
    tools: tuple[str, ...] = ()
    ignore_case: bool = False
    origin: str = ""


class Bypass(Plain, frozen=True):
    """One check is not asked about one tool until then (epoch seconds); `check` and `tool` are names, never patterns."""

    check: str
    tool: str
    owner: str
    reason: str
    until: float

    def holds(self, check: str, tool: str, now: float) -> bool:
        return (check, tool or ANSWER) == (self.check, self.tool) and now < self.until


class Ruled:
    """A check from a rule. Raises ValueError for a pattern that is none."""

    def __init__(self, rule: Rule) -> None:
        try:
            self._pattern = re.compile(rule.match, re.IGNORECASE if rule.ignore_case else 0)
        except (re.error, RecursionError, OverflowError) as problem:
            raise ValueError(f"`match` is no regular expression: {problem}") from None
        self.rule = rule
        self.name = f"{PREFIX}{rule.name}"
        self.version = rule.match
        self.surface: Surface = rule.surface

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        rule = self.rule
        if rule.tools and subject.tool not in rule.tools:
            return None
        texts = (subject.text, *subject.texts) if isinstance(subject, Act) else (subject.text,)
        if not any(self._pattern.search(text) for text in texts):
            return None
        message = rule.message.rstrip(".") or f"it matches {rule.match}"
        label = f"[{rule.name}: {message}]" if rule.surface == "input" else ""
        return Found(rule.severity, message, label)


def told(check: Check | SlowCheck) -> str:
    """What a check is, in a few words."""
    if isinstance(check, Ruled):
        tools = f" in {', '.join(check.rule.tools)}" if check.rule.tools else ""
        return f"{check.rule.severity} where {check.rule.match}{tools} matches ({check.rule.origin})"
    first = " ".join((type(check).__doc__ or type(check).__name__).split()).partition(". ")[0]
    return first.rstrip(".")


def fresh(rule: Rule, origin: str) -> Rule:
    return msgspec.structs.replace(rule, origin=origin)
