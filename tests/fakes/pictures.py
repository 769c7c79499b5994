"""What a screen shows as a picture that can be looked at in a browser and compared line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI

WIDE, HIGH = 6, 12
"""Units of the picture that a cell takes."""
GROUND = "0c0c0c"


class Run(NamedTuple):
    """Cells of one look. `ink` are classes, `ground` is a colour as six digits."""

    at: int
    cells: int
    text: str
    ink: str
    ground: str


def svg(rows: Iterable[Sequence[Segment]], width: int) -> str:
    """One line of the file is one row of the screen, wherever it stands: each is drawn below the one around it.

    Nothing in it depends on the machine, and a class is named for what it does.
    """
    drawn = [_runs(row) for row in rows]
    grounds = Counter[str]()
    for run in (run for row in drawn for run in row):
        grounds[run.ground] += run.cells
    ground = grounds.most_common(1)[0][0] if grounds else GROUND
    inks = {name for row in drawn for run in row for name in run.ink.split()}
    others = {run.ground for row in drawn for run in row} - {ground}
    high = len(drawn) * HIGH
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * WIDE} {high + 3}" xml:space="preserve"',
            f'font-family="monospace" font-size="10"><rect width="100%" height="100%" fill="#{ground}"/><style>',
            *sorted({*map(_rule, inks), *(f".g{other}{{fill:#{other}}}" for other in others)}),
            "</style>",
            *(f'<g transform="translate(0 {HIGH})">{_row(row, ground)}' for row in drawn),
            "</g>" * len(drawn) + "</svg>",
            "",
        ]
    )


def _runs(row: Sequence[Segment]) -> list[Run]:
    found: list[Run] = []
    at = 0
    looks = [(_look(segment.style or Style()), segment.text) for segment in row if not segment.control]
    for (ink, ground), group in groupby(looks, lambda look: look[0]):
        text = "".join(piece for _, piece in group)
        cells = cell_len(text)
        found.append(Run(at, cells, text, ink, ground))
        at += cells
    return found


def _look(style: Style) -> tuple[str, str]:
    ink, ground = _digits(style.color, foreground=True), _digits(style.bgcolor, foreground=False)
    if style.reverse:
        ink, ground = ground, ink
    flags = ("bold", "dim", "italic", "underline", "strike")
    return " ".join([f"c{ink}", *(flag for flag in flags if getattr(style, flag))]), ground


def _digits(color: Color | None, *, foreground: bool) -> str:
    if color is None or color.is_default:
        return "d9d9d9" if foreground else GROUND
    return "".join(f"{part:02x}" for part in color.get_truecolor(DIMMED_MONOKAI, foreground=foreground))


def _rule(name: str) -> str:
    match name:
        case "bold":
            return ".bold{font-weight:bold}"
        case "dim":
            return ".dim{opacity:.6}"
        case "italic":
            return ".italic{font-style:italic}"
        case "underline":
            return ".underline{text-decoration:underline}"
        case "strike":
            return ".strike{text-decoration:line-through}"
        case _:
            return f".{name}{{fill:#{name[1:]}}}"


def _row(runs: list[Run], ground: str) -> str:
    grounds = ""
    for name, group in groupby(runs, lambda run: run.ground):
        under = list(group)
        if name != ground:
            size = f'x="{under[0].at * WIDE}" y="-9" width="{sum(run.cells for run in under) * WIDE}" height="{HIGH}"'
            grounds += f'<rect class="g{name}" {size}/>'
    shown = [run for run in runs if run.text.strip() or run.ink.endswith(("underline", "strike"))]
    spans = "".join(
        f'<tspan x="{run.at * WIDE}" class="{run.ink}">{escape(run.text, quote=False)}</tspan>'
        for run in shown
    )
    return grounds + (f"<text>{spans}</text>" if spans else "")
