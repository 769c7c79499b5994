"""Writes the plan down. Under `plan_mode` "required" that is what opens the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.outputs import Output, Shown
from agent_cli.kernel.wire import Arguments, describe, schema_of
from agent_cli.ports import Say, Touches

NAME = "record_plan"
REQUIRED = "Until a plan is recorded, every call that changes something, fetches from the web or starts a subagent is refused. Reading is free."
IN_FORCE = "That is the plan in force already; nothing was written."
CHANGED = "The operator changed the plan before agreeing to it. This is what is in force now:\n\n{plan}"
REVOKED = "The operator revoked the plan. {reason}Make a new one for what is left, and record it with record_plan before you change anything."


def revoked_block(reason: str) -> str:
    """What the model is told of a plan that is in force no more."""
    return REVOKED.format(reason=f"The reason: {reason.rstrip('.')}. " if reason else "")


class RecordPlanArguments(Arguments, frozen=True):
    plan: Annotated[str, describe("the whole plan, in Markdown")]


class RecordPlan:
    arguments = RecordPlanArguments
    read_only = False
    bounded = False

    def __init__(self, core: Core) -> None:
        self._core = core
        lines = Path(__file__).with_suffix(".md").read_text("utf-8").strip().split("\n")
        told = [*lines, REQUIRED] if core.parts.facts.needs_plan else lines
        self.spec = ToolSpec(NAME, "\n".join(told), schema_of(RecordPlanArguments), lines[0])
        self._edited: str | None = None

    @staticmethod
    def touches(args: RecordPlanArguments, /) -> Touches:
        opening = next((line.strip("# ") for line in args.plan.splitlines() if line.strip()), "")
        return Touches("none", opening[:80])

    def preview(self, args: RecordPlanArguments, /) -> Shown:
        return Shown(args.plan)

    def edited(self, args: RecordPlanArguments, text: str, /) -> RecordPlanArguments:
        """The call with the operator's plan instead of the model's."""
        self._edited = text
        return RecordPlanArguments(text)

    async def run(self, args: RecordPlanArguments, say: Say, /) -> Output:
        plan, core = args.plan.strip(), self._core
        edited, self._edited = self._edited == args.plan, None
        if not plan:
            raise ToolError("The plan is empty: write down what is to be done.")
        if plan == core.state.plan.strip():
            return Output((Text(IN_FORCE),), no_op=True)
        if core.parts.plans is None:
            raise ToolError("There is no place for plans here.")
        path = core.parts.plans.keep(core.state.session, plan)
        waited = bool(core.facts().needs_plan)
        core.record(ev.PlanRecorded(path, plan))
        told = f"Recorded in {path}." + (" Calls that change something may run now." if waited else "")
        shown = (f"{told}\n\n{CHANGED.format(plan=plan)}",) if edited else (told,)
        return Output(tuple(Text(text) for text in shown), Shown(told), changed=(path,))
