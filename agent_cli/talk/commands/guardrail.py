"""What stops the agent, and going on after it."""

from __future__ import annotations

from agent_cli.kernel.commands import Reset
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered


def _guardrail(host: Host, rest: str) -> Answer | None:
    if host.session is None:
        return not_yet()
    words = rest.split()
    if not words:
        return views.guardrails(host.session.state, host.sources.watchdog(), host.session.halted)
    usage = "It is /guardrail, or /guardrail reset [watchdog|cost_ceiling|all] [+USD]."
    amounts = [word for word in words[1:] if word.startswith("+")]
    which = [word for word in words[1:] if not word.startswith("+")] or ["all"]
    try:
        added = sum(float(amount) for amount in amounts)
    except ValueError:
        return Note(usage, "error")
    for name in ("watchdog", "cost_ceiling", "all"):
        if words[0] == "reset" and which == [name]:
            return ordered(host, Reset(name, added))
    return Note(usage, "error")


COMMANDS: tuple[Command, ...] = (
    Command("guardrail", "what tripped; clears a halt", _guardrail, arguments="[reset [name] [+USD]]"),
)
