"""What is allowed, and rules of the operator."""

from __future__ import annotations

from functools import partial

from agent_cli.kernel.commands import AddRule, Verdict
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered

ALWAYS = "always"
USAGE = (
    "/{verdict} RULE, for this session; /{verdict} always RULE writes it to the project's config, too. Rules are as in "
    "config: bash:git diff*, edit_file:src/*, read_file."
)


def _permissions(host: Host, _rest: str) -> Answer:
    if host.session is None:
        return not_yet()
    rules = host.sources.rules() if host.sources.rules is not None else None
    return views.permissions(host.session.state, rules, host.sources.gates())


def _add(verdict: Verdict, host: Host, rest: str) -> Answer | None:
    first, _, behind = rest.partition(" ")
    keep = first == ALWAYS
    rule = behind.strip() if keep else rest
    if not rule:
        return Note(USAGE.format(verdict=verdict), "error" if keep else "info")
    return ordered(host, AddRule(verdict, rule, keep))


COMMANDS: tuple[Command, ...] = (
    Command("permissions", "what is allowed, and why", _permissions),
    Command("allow", "let calls run without asking", partial(_add, "allow"), arguments="[always] RULE"),
    Command("deny", "forbid calls in every mode", partial(_add, "deny"), arguments="[always] RULE"),
)
