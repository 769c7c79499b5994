"""When and how a long conversation is reduced."""

from typing import Annotated, Literal

from agent_cli.config.kinds import Count, Limit, Name, Section, Share, Switch, says
from agent_cli.kernel.commands import CheckpointMode


class ByTier(Section, frozen=True):
    frontier: Annotated[Share | None, says("Of the window, for frontier models; 0.85 without it.")] = None
    mid: Annotated[Share | None, says("Of the window, for mid models; 0.65 without it.")] = None
    small: Annotated[Share | None, says("Of the window, for small models; 0.35 without it.")] = None


class Compaction(Section, frozen=True):
    enabled: Annotated[Switch, says("Whether a conversation that fills its window is reduced by itself.")] = (
        True
    )
    mode: Annotated[
        Literal["prune-then-summarize", "summarize-only"],
        says("Whether old tool results are cleared before anything is summarized."),
    ] = "prune-then-summarize"
    threshold: Annotated[
        Share | None,
        says("Share of the window at which reduction begins, for models of no known tier; 0.85 without it."),
    ] = None
    threshold_by_tier: Annotated[ByTier, says("The same for models of a tier.")] = ByTier()
    limit: Annotated[
        Limit | None, says("Tokens at which reduction begins, whatever the window is; 0 for never.")
    ] = None
    keep_recent_tokens: Annotated[
        Count,
        says("Tokens at the end of the conversation that stay as they are; at most 30 % of the budget."),
    ] = 20_000
    model: Annotated[
        Name | None, says("The model that writes summaries and records; without one the session's own.")
    ] = None


class Checkpoint(Section, frozen=True):
    mode: Annotated[
        CheckpointMode,
        says(
            "Who may say that a task is done: the model and /done, only /done and the heuristic, or nobody."
        ),
    ] = "model"
    heuristic: Annotated[
        Switch,
        says(
            "Whether a task also counts as done with the turn in which the last thing on its list was done."
        ),
    ] = False
