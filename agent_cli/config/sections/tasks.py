"""Bundles of defaults for a kind of work."""

from typing import Annotated, Literal

from agent_cli.config.kinds import Name, Section, Share, says
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.watching import Profile


class TaskClass(Section, frozen=True):
    tier: Annotated[
        Literal["frontier", "mid", "small"] | None, says("Size of the model, where no model is named.")
    ] = None
    compaction_threshold: Annotated[
        Share | None,
        says("Share of the window at which reduction begins, for frontier, mid and unknown models."),
    ] = None
    permission_mode: Annotated[Mode | None, says("The permission mode.")] = None
    plan_mode: Annotated[
        Literal["off", "advisory", "required"] | None, says("Whether a plan comes before any change.")
    ] = None
    ask: Annotated[Literal["off", "stdin", "auto"] | None, says("Whether the agent may ask questions.")] = (
        None
    )
    watchdog_profile: Annotated[Profile | None, says("What the watchdog looks for.")] = None
    when_full: Annotated[
        Literal["queue", "degrade", "reject"] | None,
        says("What becomes of a turn for which a pool has no room: queue, degrade, reject."),
    ] = None
    drop_tools: Annotated[
        tuple[Name, ...], says("Tools that are left out; --enable-tools gives them back.")
    ] = ()
