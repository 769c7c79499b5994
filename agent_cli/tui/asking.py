"""What waits for approval, as lines: whole, and as much of it as a small screen has room for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from agent_cli.kernel.events import ApprovalRequested, FileDiff, Shown
from agent_cli.talk.untrusted import clean, clean_line
from agent_cli.tui.blocks.diff import Row, diff_lines, parse
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, cut, wrap

ASK_USER = "ask_user"
ONCE = "each such change needs its own approval"
FEW = (5, 8)
"""Rows below which a reason has none of them, and one; above it has two where there is little room."""
ENOUGH = 6
"""Rows of what would be run or written, before the reason gets more."""
OTHERS = 3
"""Requests that are listed where there is little room."""


class Question:
    """The request number `at` of those that wait."""

    def __init__(self, pending: Sequence[ApprovalRequested], at: int, ink: Ink, more: str) -> None:
        """`more` is the key that shows what was left out, "" for none."""
        self._pending, self._at, self._ink, self._more = pending, at, ink, more

    def whole(self, width: int) -> list[Line]:
        return [*self._head(width), [], *self._preview(width)]

    def brief(self, width: int, rows: int) -> list[Line]:
        """At most so many lines: of a diff what is changed, of all that is long its beginning and its end."""
        whole = self.whole(width)
        if len(whole) <= rows:
            return whole
        head, preview = [*self._head(width), []], self._preview(width)
        if len(head) + min(len(preview), ENOUGH) > rows:
            head = self._head(width, sum(rows >= few for few in FEW))[: max(rows - 1, 1)]
        room = max(rows - len(head), 0)
        if len(preview) <= room:
            return [*head, *preview]
        found = (self._preview(width, around) for around in (2, 1, 0))
        shown = next((lines for lines in found if len(lines) < room), None) or self._preview(width, 0)
        return [*head, *self._fold(shown, len(preview), room, width)]

    def left_out(self, width: int, rows: int) -> int:
        """The line of the whole with which goes on what `brief` shows from the beginning on."""
        pairs = zip(self.whole(width), self.brief(width, rows), strict=False)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), 0)

    def _fold(self, shown: list[Line], all_rows: int, room: int, width: int) -> list[Line]:
        """The beginning and the end, and between them how much is missing."""
        if room < 3:
            return shown[:room]
        if len(shown) < room:
            first, last = shown, []
        else:
            ahead = room // 2
            first, last = shown[:ahead], shown[len(shown) - (room - 1 - ahead) :]
        missing = all_rows - len(first) - len(last)
        told = f"  ⋯ {missing} more line{'s' * (missing != 1)}" + (f" · {self._more}" if self._more else "")
        return [*first, [Segment(cut(told, width), self._ink.faint)], *last]

    def _head(self, width: int, reason: int | None = None) -> list[Line]:
        """`reason` are the rows that it has at most, and then few requests are listed; None where there is room."""
        ink, asked = self._ink, self._pending[self._at]
        lines: list[Line] = [[Segment(cut(self._title(asked), width), ink.warning)]]
        why = clean_line(asked.reason) + (f"  ({clean_line(asked.rule)})" if asked.rule else "")
        if reason != 0:
            lines.extend(_indented(f"why: {why}", width, ink, most=reason))
        if asked.once_only and asked.options is None:
            lines.extend([Segment("  "), *row] for row in wrap([Segment(ONCE, ink.warn)], width - 2))
        return [*lines, *self._list(width, len(self._pending) if reason is None else OTHERS)]

    def _title(self, asked: ApprovalRequested) -> str:
        count = f"  {self._at + 1} of {len(self._pending)}" if len(self._pending) > 1 else ""
        agent = cut(clean_line(asked.agent), 40)
        if asked.options is not None:
            own = "the agent" if asked.tool == ASK_USER else cut(clean_line(asked.tool), 40)
            return f"? {agent or own} asks you {count}"
        tool = cut(clean_line(asked.tool), 40)
        if agent:
            return f"? {agent} asks for permission to use {tool}{count}"
        return f"? {tool} asks for permission{count}"

    def _list(self, width: int, most: int) -> list[Line]:
        """So many of what waits, the chosen one among them; nothing where only one does."""
        if len(self._pending) < 2:
            return []
        begin = max(min(self._at - most // 2, len(self._pending) - most), 0)
        lines: list[Line] = []
        for at, other in enumerate(self._pending[begin : begin + most], begin):
            mark = "▸ " if at == self._at else "  "
            who = f"{other.agent}: {other.tool}" if other.agent else other.tool
            line = cut(f"{mark}{clean_line(who)}  {clean_line(other.subject)}", width)
            lines.append([Segment(line, self._ink.text if at == self._at else self._ink.dim)])
        return lines

    def _preview(self, width: int, around: int | None = None) -> list[Line]:
        """Of a diff what is changed, with so many lines around it; None for all of it."""
        ink, asked = self._ink, self._pending[self._at]
        match asked.preview:
            case FileDiff(path, diff, added, removed):
                title = [
                    Segment(f"  {clean_line(path)}", ink.strong),
                    Segment(f"  +{added} -{removed}", ink.dim),
                ]
                rows = parse(diff) if around is None else _near(parse(diff), around)
                return [title, *([Segment("  "), *line] for line in diff_lines(rows, width - 2, ink))]
            case Shown() | None:
                shown = text_of(asked)
        found = [
            row
            for line in clean(shown).split("\n")
            for row in wrap([Segment(line, ink.text)], width - 2, words=False)
        ]
        return [[Segment("  "), *row] for row in found]


def _near(rows: list[Row], around: int) -> list[Row]:
    changed = [at for at, row in enumerate(rows) if row.mark in "+-"]
    kept = {near for at in changed for near in range(at - around, at + around + 1)}
    return [row for at, row in enumerate(rows) if at in kept and (around or row.mark != "@")]


def text_of(asked: ApprovalRequested) -> str:
    """What would be run or written, as text."""
    return asked.preview.text if isinstance(asked.preview, Shown) else asked.subject


def _indented(text: str, width: int, ink: Ink, *, most: int | None = None) -> list[Line]:
    """A text that wraps, in at most so many lines."""
    rows = wrap([Segment(text, ink.dim)], width - 2)
    if most is not None and len(rows) > most:
        rest = "".join(segment.text for row in rows[most - 1 :] for segment in [*row, Segment(" ")])
        rows = [*rows[: most - 1], [Segment(cut(rest.rstrip(), width - 2), ink.dim)]]
    return [[Segment("  "), *row] for row in rows]


def flow(offered: list[tuple[str, str]], width: int, ink: Ink, *, strong: bool) -> list[Line]:
    """Keys with their meanings, as many a line as fit; `strong` where the keys work now."""
    lines: list[Line] = [[]]
    used = 0
    for key, whole in offered:
        meaning = cut(whole, max(width - len(key) - 1, 1))
        size = len(key) + 1 + len(meaning)
        if used and used + 3 + size > width:
            lines.append([])
            used = 0
        if used:
            lines[-1].append(Segment(" · ", ink.faint))
        lines[-1].extend([Segment(key, ink.heading if strong else ink.dim), Segment(f" {meaning}", ink.dim)])
        used += size + (3 if used else 0)
    return lines
