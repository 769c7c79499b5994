"""What stops the agent, and going on after it."""

from __future__ import annotations

import math
import re
from typing import Literal

from agent_cli.engine.standing import Halted, standing
from agent_cli.kernel.commands import Reset
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered
from agent_cli.talk.door import Door
from agent_cli.talk.stage import Picking, Row

RESETS: dict[str, Literal["watchdog", "cost_ceiling", "all"]] = {
    "watchdog": "watchdog", "cost_ceiling": "cost_ceiling", "all": "all",
}  # fmt: skip
STEPS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""USD that may be added."""
AMOUNT = re.compile(r"\+\d+(\.\d+)?")


def _guardrail(host: Host, rest: str) -> Answer | None:
    if host.session is None:
        return not_yet()
    words = rest.split()
    if not words:
        if halts := _clearable(host, host.session):
            host.stage.pick(_panel(host, halts))
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


def _clearable(host: Host, session: Door) -> list[Halted]:
    """What halts the session and is cleared by a reset."""
    found = standing(session.state, host.sources.watchdog()).halts
    return [halt for halt in found if halt.guardrail in RESETS]


def _panel(host: Host, halts: list[Halted]) -> Picking:
    """A reset for each halt, with amounts where one has to be added."""

    def rows() -> list[Row]:
        found = [row for halt in halts for row in _resets(halt)]
        dearest = max(halt.least_usd for halt in halts)
        both = f"all +{_cents(dearest)}" if dearest else "all"
        return [*found, Row(both, f"reset {both}", "everything that halts")] if len(halts) > 1 else found

    def preview(key: str) -> str:
        return "\n".join(
            f"{halt.guardrail}: {halt.reason}"
            for halt in halts
            if key.split(maxsplit=1)[0] in (halt.guardrail, "all")
        )

    def chosen(key: str) -> None:
        name, _, added = key.partition(" +")
        host.order(Reset(RESETS[name], float(added or 0)))

    return Picking("The session is halted. Reset what? Esc leaves it as it is", rows, chosen, preview=preview)


def _resets(halt: Halted) -> list[Row]:
    if not halt.least_usd:
        return [Row(halt.guardrail, f"reset {halt.guardrail}", "the next message goes on")]
    more = [step for step in STEPS if step > halt.least_usd][:2]
    amounts = [_cents(halt.least_usd), *map(_cents, more)]
    return [
        Row(
            f"{halt.guardrail} +{added}", f"reset {halt.guardrail} +{added}", f"${added} more for the session"
        )
        for added in amounts
    ]


def _cents(usd: float) -> str:
    """Never less than that."""
    return f"{math.ceil(round(usd * 100, 6)) / 100:.2f}"


COMMANDS: tuple[Command, ...] = (
    Command("guardrail", "what tripped; clears a halt", _guardrail, arguments="[reset [name] [+USD]]"),
)
