"""The first lines of the transcript: what this is, where it works, how to go on."""

from __future__ import annotations

import os

from rich.segment import Segment

from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.item import INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.keys import Keys
from agent_cli.tui.wrap import Line, cut

HINT = "{send} sends · / commands · {help} keys"


class Opening(Item):
    __slots__ = ("_cwd", "_keys", "_model", "_version")

    def __init__(self, version: str, cwd: str, model: str, keys: Keys) -> None:
        super().__init__(gap=0)
        self._version = version
        self._cwd = cwd
        self._model = model
        self._keys = keys

    def now(self, model: str) -> None:
        """The model is known."""
        self._model = model
        self.changed()

    def body(self, width: int, ink: Ink) -> list[Line]:
        room = max(width - 2 * len(INDENT), 4)
        title = f"agent-cli {self._version}".rstrip()
        model = cut(clean_line(self._model), room - len(title) - 2) if room > len(title) + 6 else ""
        first = [Segment(cut(title, room), ink.heading), Segment(f"  {model}", ink.dim)]
        where = [Segment(cut(_from_home(clean_line(self._cwd)), room), ink.dim)]
        hint = HINT.format(send=self._keys.first("send"), help=self._keys.first("help"))
        return [[Segment(INDENT), *line] for line in (first, where, [Segment(cut(hint, room), ink.faint)])]

    def source(self) -> str:
        return f"agent-cli {self._version} {self._model} {self._cwd}"


def _from_home(path: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111  a text
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}{os.sep}") else path
