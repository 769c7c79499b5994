"""Rules that the operator adds to a session."""

from __future__ import annotations

from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import AddRule, Verdict
from agent_cli.kernel.errors import AgentError
from agent_cli.permissions.lint import dead


def add_rule(core: Core, command: AddRule) -> None:
    """A rule that could never match is not added, and a note says why. Raises StoreError."""
    verdict, rule = command.verdict, command.rule.strip()
    why = _useless(core, verdict, rule)
    if why:
        core.record(ev.OperatorNote(f"The rule '{rule}' was not added: {why}.", "error"))
        return
    in_config = command.keep and kept(core, verdict, rule)
    core.record(ev.RuleAdded(verdict, rule, in_config))
    if verdict == "deny":
        core.parts.close(rule)


def _useless(core: Core, verdict: str, rule: str) -> str:
    if not rule:
        return "it is empty"
    facts, names = core.facts(), core.tools()
    found = dead((rule,), facts.deny, names) if verdict == "allow" else dead((), (rule,), names)
    return next((each.why for each in found if each.list == verdict and each.rule == rule), "")


def kept(core: Core, verdict: Verdict, rule: str) -> bool:
    """Whether it is in the config now; if not, a note says why, and it holds for this session alone."""
    try:
        core.parts.remember(rule, verdict)
    except AgentError as problem:
        core.record(ev.OperatorNote(str(problem), "error"))
        return False
    return True
