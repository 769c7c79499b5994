"""What stops the agent, and going on after it."""

from __future__ import annotations

import re

from agent_cli.kernel.commands import Reset
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered

AMOUNT = re.compile(r"\+\d+(\.\d+)?")


def _guardrail(host: Host, rest: str) -> Answer | None:
    if host.session is None:
        return not_yet()
    words = rest.split()
    if not words:
        return views.guardrails(host.session.state, host.sources.watchdog(), host.session.halted)
    usage = "It is /guardrail, or /guardrail reset [watchdog|cost_ceiling|all] [+USD]."
    amounts = [word for word in words[1:] if word.startswith("+")]
    which = [word for word in words[1:] if not word.startswith("+")] or ["all"]
    if len(amounts) > 1 or not all(AMOUNT.fullmatch(amount) for amount in amounts):
        return Note(usage, "error")
    added = float(amounts[0]) if amounts else 0.0
    for name in ("watchdog", "cost_ceiling", "all"):
        if words[0] == "reset" and which == [name]:
            return ordered(host, Reset(name, added)) or _still(host.session.halted, name)
    return Note(usage, "error")


def _still(halted: str, reset: str) -> Answer | None:
    """What goes on halting the session behind a reset of something else."""
    if not halted or reset == "all" or halted.startswith(f"{reset}:"):
        return None
    return Note(f"The session is still halted: {halted}", "warning")


COMMANDS: tuple[Command, ...] = (
    Command("guardrail", "what tripped; clears a halt", _guardrail, arguments="[reset [name] [+USD]]"),
)
