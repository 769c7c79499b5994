"""Checks of what enters the conversation, of what is about to be done, and of what leaves."""

from typing import Annotated

from agent_cli.config.kinds import Section, Switch, says


class Guardrails(Section, frozen=True):
    redact: Annotated[
        Switch,
        says(
            "Whether secrets are taken out of results, messages and answers before the model, the log or the screen has them."
        ),
    ] = True
