"""Checks of what enters the conversation, of what is about to be done, and of what leaves."""

from typing import Annotated, Literal

from msgspec import Meta

from agent_cli.config.kinds import Count, Duration, Name, Section, Switch, says

Stance = Literal["off", "warn", "block", "halt"]


class Actions(Section, frozen=True):
    exfiltration: Annotated[
        Stance, says("What is done with a call that would send a secret away from this machine.")
    ] = "block"
    max_per_turn: Annotated[dict[Name, Count], says("Most calls of single tools in one turn, by name.")] = {}
    rate: Annotated[Stance, says("What is done with a call above max_per_turn.")] = "block"
    max_written_bytes: Annotated[Count | None, says("Most bytes that file tools may write in one turn.")] = (
        None
    )
    max_deleted_bytes: Annotated[
        Count | None, says("Most bytes that file tools, and `rm` in commands, may delete in one turn.")
    ] = None
    volume: Annotated[Stance, says("What is done with a call above these bytes.")] = "block"
    redacted_text: Annotated[
        Stance,
        says("What is done with a call that would write the mark of a secret in the place of the secret."),
    ] = "block"
    unread: Annotated[
        Stance, says("What is done with a change or the end of a file that the session has not seen.")
    ] = "warn"
    unusual_path: Annotated[
        Stance, says("What is done with a write to where the session has not been before.")
    ] = "warn"
    first_use: Annotated[
        Stance, says("What is done with the first use of a tool that no earlier session of the project used.")
    ] = "warn"


class Leaving(Section, frozen=True):
    gate: Annotated[
        Switch, says("Whether an answer is held, paragraph by paragraph, until it was looked at.")
    ] = False


class Guardrails(Section, frozen=True):
    redact: Annotated[
        Switch,
        says(
            "Whether secrets are taken out of results, messages and answers before the model, the log or the screen has them."
        ),
    ] = True
    untrusted_text: Annotated[
        Stance, says("What is done with a result that has instructions to the model in it; warn labels it.")
    ] = "warn"
    deadline: Annotated[
        Annotated[Duration, Meta(gt=0)],
        says("Most time of one check; what takes longer counts as unavailable."),
    ] = 2.0
    checks: Annotated[
        tuple[Name, ...],
        says("Checks of installed packages that are asked, by the names of their entry points."),
    ] = ()
    actions: Annotated[Actions, says("What is sensible to do now.")] = Actions()
    output: Annotated[Leaving, says("What leaves.")] = Leaving()
