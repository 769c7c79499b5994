"""What was changed in the files: a line for each, and its diff."""

from __future__ import annotations

from rich.segment import Segment

from agent_cli.talk.changed import Changed
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.diff import diff_lines, parse
from agent_cli.tui.blocks.item import INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, wrap

MOST = 1_500
"""Lines of diffs that are shown; of the files behind them only the names are."""


class Changes(Item):
    __slots__ = ("_found",)

    def __init__(self, found: Changed) -> None:
        super().__init__()
        self._found = found

    @property
    def _is_wide(self) -> bool:
        return True

    def body(self, width: int, ink: Ink) -> list[Line]:
        files, inner = self._found.files, max(width - 4, 20)
        added, removed = sum(file.added for file in files), sum(file.removed for file in files)
        title = f"{len(files)} file{'s' * (len(files) != 1)} changed {self._found.since}: +{added} -{removed}"
        lines = _wrapped([Segment(title, ink.heading)], inner)
        for file in files:
            name = Segment(f"{clean_line(file.path)} ", ink.strong)
            count = [Segment(f"+{file.added} ", ink.good), Segment(f"-{file.removed}", ink.bad)]
            lines += _wrapped([name, *count], inner)
            if len(lines) < MOST:
                lines.extend(
                    [Segment(INDENT), *row]
                    for row in diff_lines(parse(file.diff), inner, ink, sides=self._over is None)
                )
        if len(lines) >= MOST:
            rest = "the rest is too long to be shown; git diff shows it"
            lines += _wrapped([Segment(rest, ink.dim)], inner)
        for told in self._found.unknown:
            lines += _wrapped([Segment(f"! {clean_line(told)}", ink.warn)], inner)
        return lines

    def source(self) -> str:
        return "\n".join(file.diff for file in self._found.files)


def _wrapped(line: Line, width: int) -> list[Line]:
    return [[Segment(INDENT), *row] for row in wrap(line, width)]
