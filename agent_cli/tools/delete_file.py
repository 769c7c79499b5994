"""Deletes one file."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Display, Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import PathUse, Say, Touches
from agent_cli.tools.deletions import bytes_of
from agent_cli.tools.diff import file_diff
from agent_cli.tools.disk import explain
from agent_cli.tools.prose import spec_of
from agent_cli.tools.text import Form, flat
from agent_cli.tools.workspace import Unresolved, Workspace
from agent_cli.tools.writing import Standing, check_known, standing


class DeleteArguments(Arguments, frozen=True):
    path: Annotated[str, for_people("absolute, ~ or relative to the working directory")]


class DeleteFile:
    arguments = DeleteArguments
    read_only = False
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("delete_file", DeleteArguments, registered)
        self._workspace = workspace
        self._judged: dict[str, str] = {}

    def touches(self, args: DeleteArguments, /) -> Touches:
        """The entry itself: deleting a link leaves what it leads to alone."""
        try:
            entry = self._judged[args.path] = self._entry(args.path)
        except Unresolved as problem:
            self._judged.pop(args.path, None)
            return Touches("write", args.path, unresolved=str(problem))
        return Touches(
            "write", self._workspace.shown(entry), (PathUse(entry, "w"),), deletes=bytes_of((entry,))
        )

    def preview(self, args: DeleteArguments, /) -> Display:
        try:
            held = self._standing(self._entry(args.path))
        except ToolError as problem:
            return Shown(str(problem))
        return _shown(held) if held is not None else Shown("there is no such file")

    async def run(self, args: DeleteArguments, say: Say, /) -> Output:
        entry = self._entry(args.path)
        shown = self._workspace.shown(entry)
        if entry != self._judged.get(args.path, entry):
            raise ToolError(
                f"{args.path} leads to another file than when this call was allowed: a symbolic link changed in "
                "between. Nothing was deleted; look at the path and call again."
            )
        held = self._standing(entry)
        if held is None:
            return Output((Text(f"There is no {shown}; nothing had to be deleted."),))
        check_known(self._workspace, held, must_be_read=False)
        try:
            os.unlink(entry)  # noqa: PTH108  one entry less does not wait
        except FileNotFoundError:
            return Output((Text(f"There is no {shown} any more."),))
        except OSError as problem:
            raise explain(problem, "delete", shown) from None
        return Output((Text(f"Deleted {shown}."),), _shown(held), changed=(entry,))

    def _entry(self, path: str) -> str:
        """Everything but the last name resolved. Raises Unresolved."""
        parent, name = posixpath.split(path.rstrip("/"))
        if name in ("", ".", "..", "~") or (not parent and name.startswith("~")):
            return self._workspace.resolve(path)
        return posixpath.join(self._workspace.resolve(parent or "."), name)

    def _standing(self, entry: str) -> Standing | None:
        """What is there; of a link only that. Raises ToolError for directories and the like."""
        there = Path(entry)
        if there.is_symlink():
            return Standing(entry, self._workspace.shown(entry), b"", None, Form())
        held = standing(self._workspace, entry)
        return held if held.raw is not None else None


def _shown(held: Standing) -> Display:
    if not held.text:
        return Shown(f"deletes {held.shown}")
    return file_diff(held.shown, flat(held.text), "")
