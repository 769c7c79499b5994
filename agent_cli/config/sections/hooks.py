"""Programs of the operator's that are run where something happens in a session."""

from typing import Annotated, Any

from msgspec import Meta

from agent_cli.config.kinds import Duration, Name, Section, Switch, says
from agent_cli.hooks.hook import OF_TOOLS, TIMEOUT, HookEvent
from agent_cli.kernel.wire import is_object


class HookRow(Section, frozen=True):
    event: Annotated[HookEvent, says("Where it is run.")]
    command: Annotated[Name | None, says("The line for the shell; either this or `argv`.")] = None
    argv: Annotated[tuple[Name, ...], says("The program and its arguments, without a shell.")] = ()
    matcher: Annotated[
        Name | None, says("Which tools it is about: a glob, several with | between; without it all.")
    ] = None
    timeout: Annotated[
        Annotated[Duration, Meta(gt=0, le=3600)],
        says(
            "Most time that it may take; 60 s where nothing is said, and 10 s at the end of a session at most."
        ),
    ] = TIMEOUT
    gate: Annotated[
        Switch,
        says("For pre-tool: whether a call is refused where the hook itself fails, or takes too long."),
    ] = False
    name: Annotated[Name | None, says("What people and the model are told it is called.")] = None


def hook(value: Any) -> Any:
    """One of `hooks`. What does not go together is refused. Raises ValueError."""
    if not is_object(value) or set(value) - set(HookRow.__struct_fields__):
        return value  # what is no key is told as that first
    event = value.get("event")
    if bool(value.get("command")) == bool(value.get("argv")):
        raise ValueError("must have `command` or `argv`, and not both")
    if value.get("matcher") is not None and isinstance(event, str) and event not in OF_TOOLS:
        raise ValueError(f"has a `matcher`, but {event} is about no tool")
    if value.get("gate") and event != "pre-tool":
        raise ValueError("is a `gate`, which only a hook of pre-tool can be")
    return value
