"""By which a model says that a task is done; the checkpoint is written at the start of the next turn."""

from __future__ import annotations

from typing import Annotated

from agent_cli.context.boundaries import MARK
from agent_cli.engine.core import Core
from agent_cli.engine.own_tools.words import spec_of
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches

MARKED = "The boundary is marked. Nothing else is needed: end the turn with your answer to the operator."
AGAIN = (
    "Nothing was done: the boundary is marked already, and the record is written at the start of the next turn. "
    "Do not call this again; end the turn with your answer to the operator."
)


class MarkArguments(Arguments, frozen=True):
    detail: Annotated[str, for_people("which task is done, in one line")]


class MarkTaskDone:
    """Keeps nothing by itself: that the call returned is the mark, so that it outlives the process."""

    arguments = MarkArguments
    read_only = False
    bounded = True

    def __init__(self, core: Core) -> None:
        self.spec = spec_of(MARK, MarkArguments)
        self._core = core

    @staticmethod
    def touches(args: MarkArguments, /) -> Touches:
        return Touches("none", args.detail)

    def preview(self, args: MarkArguments, /) -> None:
        """Nothing to see."""

    async def run(self, args: MarkArguments, say: Say, /) -> Output:
        if self._core.state.boundaries.declared is not None:
            return Output((Text(AGAIN),), no_op=True)
        return Output((Text(MARKED),))
