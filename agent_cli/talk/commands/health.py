"""Whether everything that is needed is there."""

from __future__ import annotations

from agent_cli.talk import health
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host


def _doctor(host: Host, _rest: str) -> Answer | None:
    examine = host.sources.examine
    if examine is None:
        return Note("Nothing can be examined here.", "warning")

    def work() -> Answer:
        found = examine()
        return Table(health.verdict(found), health.rows(found))

    host.stage.later("examines what this program needs", work)
    return None


COMMANDS: tuple[Command, ...] = (
    Command("doctor", "what is needed and missing, each with a remedy", _doctor),
)
