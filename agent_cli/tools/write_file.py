"""Creates a file or replaces one as a whole."""

from __future__ import annotations

from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Display, Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace
from agent_cli.tools.writing import (
    Change,
    Standing,
    carry_out,
    changed,
    check_known,
    standing,
    with_endings_of,
)


class WriteArguments(Arguments, frozen=True):
    path: Annotated[str, for_people("absolute, ~ or relative to the working directory")]
    content: Annotated[str, for_people("the whole new content")]


class WriteFile:
    arguments = WriteArguments
    read_only = False
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("write_file", WriteArguments, registered)
        self._workspace = workspace

    def touches(self, args: WriteArguments, /) -> Touches:
        return self._workspace.touches("write", args.path)

    def preview(self, args: WriteArguments, /) -> Display:
        try:
            return self._change(args).diff
        except ToolError as problem:
            return Shown(str(problem))

    async def run(self, args: WriteArguments, say: Say, /) -> Output:
        change = self._change(args)
        held = change.standing
        if change.is_nothing:
            told = f"{held.shown} already has exactly this content; nothing was changed."
            return Output((Text(told),), no_op=True)
        check_known(self._workspace, held, must_be_read=True)
        return await carry_out(self._workspace, args.path, change)

    def _change(self, args: WriteArguments) -> Change:
        held = standing(self._workspace, self._workspace.target(args.path))
        if held.text is None:
            held = Standing(held.path, held.shown, held.raw, "", held.form)
        return changed(held, with_endings_of(held, args.content))
