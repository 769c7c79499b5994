"""The plan in force."""

from __future__ import annotations

from agent_cli.kernel.commands import Replan
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, ordered


def _plan(host: Host, _rest: str) -> Answer:
    plan = host.session.state.plan if host.session else ""
    if not plan or host.session is None:
        return Note("There is no plan in force.")
    return Note(f"{host.session.state.plan_path}\n\n{plan}")


def _replan(host: Host, rest: str) -> Answer | None:
    return ordered(host, Replan(rest))


COMMANDS: tuple[Command, ...] = (
    Command("plan", "show the plan in force", _plan),
    Command("replan", "revoke the plan; the agent has to make a new one", _replan, arguments="[reason]"),
)
