"""Whether a plan comes before any change in this run, and where plans are kept."""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.compose.task import is_from_task
from agent_cli.config import plans
from agent_cli.config.sources import Loaded
from agent_cli.engine.own_tools.record_plan import NAME
from agent_cli.engine.parts import Plans

PlanMode: TypeAlias = Literal["off", "advisory", "required"]

NEEDED = "plan mode is 'required', and no plan is recorded yet"
DROPPED = "Plan mode 'required', which task class {task} would choose, is off: {why}."
STUCK = (
    "Plan mode 'required' was asked for, but {why}: no plan can be recorded, so every call that changes something will "
    "be refused. Mend that, or use --plan-mode off."
)


class Planning(NamedTuple):
    """`recorded` says whether the model gets the tool; `openings` and `notices` are lines for the operator."""

    mode: PlanMode
    recorded: bool = False
    openings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def needs_plan(self) -> str:
        return NEEDED if self.mode == "required" else ""


def planning(loaded: Loaded, withheld: frozenset[str], *, no_builtins: bool = False) -> Planning:
    """Without a place for plans or the tool that records them, a class's default is dropped and a wish is kept."""
    mode = loaded.settings.permissions.plan_mode
    why = _missing(loaded, withheld, no_builtins=no_builtins or not loaded.settings.tools.builtin)
    if mode == "off" or not why:
        return Planning(mode, mode != "off")
    if mode == "required" and not is_from_task(loaded, "permissions.plan_mode"):
        return Planning("required", notices=(STUCK.format(why=why),))
    if mode == "advisory":
        return Planning("off")
    task = loaded.task.name if loaded.task else ""
    return Planning("off", openings=(DROPPED.format(task=task, why=why),))


def kept(loaded: Loaded) -> Plans | None:
    if loaded.project is None:
        return None
    return Plans(partial(plans.keep, loaded.project), partial(plans.revoke, loaded.project))


def _missing(loaded: Loaded, withheld: frozenset[str], *, no_builtins: bool) -> str:
    if loaded.project is None:
        return "there is no .agents directory for plans in this project"
    if no_builtins:
        return "--no-builtin-tools leaves out record_plan"
    return f"{NAME} is disabled" if NAME in withheld else ""
