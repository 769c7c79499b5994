"""What checks stop a turn for, and what the operator is told of it."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.guardrails.checks.check import Surface

WITHHELD: dict[Surface, str] = {
    "input": "the result did not enter the conversation",
    "action": "nothing of the batch was run",
    "output": "the answer is withheld",
}
WAY_ON = (
    "Nothing passes while it cannot be asked. To go on: repair what it needs and send your message again, do without it"
    " (agent-cli guardrails explain tells where it comes from), or step around it for a while with a [[bypass]] in"
    " ~/.agents/guardrails.toml: check, tool, owner, reason, until."
)
POOL_WAY_ON = (
    "Nothing is dispatched while the pool cannot be written to. To go on: make the session database writable and send your"
    " message again, or begin without --pool."
)
SECRETS_WAY_ON = (
    "Nothing passes that could not be looked through for secrets. To go on: send your message again, or leave them in with"
    " guardrails.redact: false."
)
HALTED = (
    "The turn was stopped; the session goes on with your next message. agent-cli guardrails explain tells what the check"
    " looks for."
)


UNASKED = "no model was asked"


class Down(NamedTuple):
    """A check that gates could not be asked. `withheld` says what did not happen, where it is not what the surface says."""

    check: str
    surface: Surface
    problem: str
    withheld: str = ""

    @property
    def reason(self) -> str:
        return f"the check {self.check} is unavailable ({self.problem}): {self.withheld or WITHHELD[self.surface]}"


class Held(NamedTuple):
    """A check found something that the turn must not go on with."""

    check: str
    surface: Surface
    message: str

    @property
    def reason(self) -> str:
        return f"{self.check}: {self.message}"
