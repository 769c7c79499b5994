"""What a model says, as it streams: cut into pieces that are set once, and one open piece at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_cli.tui.blocks.code import Code
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.markdown import Prose

MORE = "…"
"""Stands for what a line that has not ended may still become: `-` may be an item or a rule."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})\s*([^`\s]*)")
_FENCE_SOON = re.compile(r" {0,3}(`+[^`]*|~+[^~]*)$")
_HEADING = re.compile(r"#{1,6}(\s|$)")
_BULLET = re.compile(r"([-*+]|1[.)])(\s|$)")
_NUMBER = re.compile(r"\d{1,9}[.)](\s|$)")


class Answer:
    """Takes text in any portions. Pieces end at blank lines outside fences, at headings, and between list items."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._fed: list[str] = []
        self._waiting: list[str] = []
        self._tail = ""  # the line that has not ended yet
        self._open: Prose | Code | None = None
        self._lines: list[str] = []  # the whole lines of the open piece
        self._shown = 0  # how many of them an open code has
        self._fence = ""
        self._blank = False

    def feed(self, text: str) -> None:
        self._fed.append(text)
        self._waiting.append(text)

    def take(self) -> list[Item]:
        """Turns what was fed into pieces; returns the items that are new. The last older one may have changed."""
        count = len(self.items)
        if self._waiting:
            self._digest()
            self._show()
        return self.items[count:]

    def finish(self) -> list[Item]:
        """As `take`, and nothing stays open."""
        count = len(self.items)
        self._digest()
        if self._tail:
            self._line(self._tail)
            self._tail = ""
        self._end()
        self._fed = [self.source()]  # thousands of small strings take several times the room of one
        return self.items[count:]

    def source(self) -> str:
        return "".join(self._fed)

    def codes(self) -> Sequence[str]:
        return [code for item in self.items for code in item.codes()]

    def toggle(self, *, folded: bool | None = None) -> bool:
        return False

    def _digest(self) -> None:
        *lines, self._tail = (self._tail + "".join(self._waiting)).split("\n")
        self._waiting.clear()
        for line in lines:
            self._line(line)

    def _line(self, line: str) -> None:
        if self._fence:
            self._inside(line)
        elif not line.strip():
            self._blank = self._blank or bool(self._lines)
        elif self._begins(line):
            self._start(line)
            if not self._fence:
                self._lines.append(line)
        else:
            fence = _FENCE.match(line.lstrip()) if self._lines else None
            self._lines.extend(("", line) if self._blank else (line,))
            self._blank = False
            self._fence = fence.group(1) if fence else ""

    def _inside(self, line: str) -> None:
        closes = line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0])
        whole = isinstance(self._open, Code)
        if not (closes and whole):
            self._lines.append(line)
        if closes:
            self._fence = ""
            if whole:
                self._end()

    def _begins(self, line: str) -> bool:
        """Whether a piece begins with that line."""
        if self._open is None:
            return True
        if not self._lines:  # it was begun by the first characters of this very line
            return False
        listed = _is_list(self._lines[0])
        if self._blank:
            return not (listed and line[0] in " \t")
        if _HEADING.match(line) or _HEADING.match(self._lines[0]) or _FENCE.match(line):
            return line[0] not in " \t"
        return bool(_BULLET.match(line)) or (listed and bool(_NUMBER.match(line)))

    def _start(self, line: str) -> None:
        follows = bool(self._lines) and _is_list(self._lines[0]) and _is_list(line) and not self._blank
        self._end()
        fence = _FENCE.match(line)
        if fence:
            self._fence = fence.group(1)
            self._open = Code(fence.group(2), open=True)
        else:
            self._open = Prose("", open=True, gap=0 if follows else 1)
        self._open.group = self
        self.items.append(self._open)

    def _show(self) -> None:
        """Brings the open piece up to date, with the line that has not ended."""
        tail = self._tail
        if isinstance(self._open, Code) and self._fence:
            shown = tail if tail.strip().strip(self._fence[0]) else ""
            self._open.put([*self._lines[self._shown :], *([shown] if shown else [])], keep=self._shown)
            self._shown = len(self._lines)
            return
        if not tail.strip() or (not self._fence and _FENCE_SOON.match(tail)):
            tail = ""
        if tail and not self._fence and self._begins(tail + MORE):
            self._start(tail)
        if isinstance(self._open, Prose):
            between = [""] if self._blank and tail else []
            self._open.replace("\n".join([*self._lines, *between, *([tail] if tail else [])]))

    def _end(self) -> None:
        if isinstance(self._open, Code):
            self._open.put(self._lines[self._shown :], keep=self._shown)
        elif self._open is not None:
            self._open.replace("\n".join(self._lines))
        if self._open is not None:
            self._open.close()
        self._open, self._lines, self._shown, self._blank, self._fence = None, [], 0, False, ""


def _is_list(line: str) -> bool:
    return bool(_BULLET.match(line) or _NUMBER.match(line))
