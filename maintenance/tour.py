"""Takes docs/tour.svg: the real app over a scripted model, scene by scene, as one animated picture.

.venv/bin/python -m maintenance.tour
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.pilot import Pilot

from agent_cli.compose.known import Known
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import open_session
from agent_cli.talk.door import Door, Welcome
from agent_cli.tui.app import AgentApp

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "tour.svg"
SIZE = (88, 26)
WIDE, HIGH = 8.4, 18.0
"""Of a cell, in pixels."""
PATIENCE = 20.0
STILL = 3
"""The scene that is seen where nothing moves."""


class Scene(NamedTuple):
    """`seconds` is how long it is shown."""

    rows: Sequence[Sequence[Segment]]
    seconds: float
    says: str


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory, "calc")
        shutil.copytree(ROOT / "examples" / "calc", project)
        os.chdir(project)
        options = RunOptions(
            cwd=project,
            environ={**os.environ, "AGENT_CLI_HOME": str(Path(directory, "home"))},
            attended=True,
            flags={"model.provider": "scripted", "permissions.mode": "ask"},
            script=ROOT / "maintenance" / "tour.jsonl",
        )
        opened = open_session(options).session

        async def open_it() -> Door:
            return opened

        welcome = Welcome(version="0.1.0", cwd="~/calc", mode="ask")
        app = AgentApp(open_it, welcome=welcome, sources=Known(options).sources())
        async with app.run_test(size=SIZE) as pilot:
            scenes = [scene async for scene in play(pilot)]
            await opened.close()
    TARGET.write_text(animated(scenes), "utf-8")


async def play(pilot: Pilot[Any]) -> AsyncIterator[Scene]:
    """What somebody does with it, and what they see."""

    async def keys(text: str) -> None:
        await pilot.press(*("space" if key == " " else "slash" if key == "/" else key for key in text))

    async def scene(until: str, seconds: float, says: str) -> Scene:
        await _sees(pilot, lambda shown: until in shown)
        return Scene(await _still(pilot), seconds, says)

    yield await scene("scripted", 1.5, "say what is to be done")
    await keys("why does @#mul")
    yield await scene("calc.py:", 2.5, "@ completes files, and what they define")
    await pilot.press("tab")
    await keys("add? mend it")
    await pilot.press("enter")
    yield await scene("return a * b", 4.0, "nothing is changed before you saw it")
    await pilot.pause(1.5)  # a key that comes at once was not meant for it
    await pilot.press("y")
    yield await scene("── done", 3.5, "every fact is in the log before it is here")
    await keys("and by zero?")
    await pilot.press("enter")
    await _sees(pilot, lambda shown: shown.count("── done") == 2)
    await keys("/rewind")
    await pilot.press("enter")
    yield await scene("Back to before which message?", 3.0, "/rewind: the conversation, the files, or both")
    await pilot.press("enter")
    await _sees(pilot, lambda shown: "What goes back?" in shown)
    await pilot.press("enter")
    yield await scene("rewound:", 3.5, "what was taken back is marked, and nothing is lost")
    await pilot.press("ctrl+u")
    await keys("/context")
    await pilot.press("enter")
    yield await scene("What fills it", 3.5, "/context: what fills the window")
    await keys("/usage")
    await pilot.press("enter")
    yield await scene("Request by request", 3.5, "/usage: tokens and cost, turn by turn")


async def _sees(pilot: Pilot[Any], true: Callable[[str], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true("\n".join(strip.text for strip in _strips(pilot))):
        if time.monotonic() > end:
            raise TimeoutError("\n".join(strip.text for strip in _strips(pilot)))
        await pilot.pause(0.02)


async def _still(pilot: Pilot[Any]) -> list[list[Segment]]:
    """What the screen shows once nothing moves any more."""
    before: list[str] = []
    while (now := [strip.text for strip in _strips(pilot)]) != before:
        before = now
        await pilot.pause(0.15)
    here = str(Path.cwd().parent)
    return [
        [segment._replace(text=segment.text.replace(here, "~")) for segment in strip]
        for strip in _strips(pilot)
    ]


def _strips(pilot: Pilot[Any]) -> list[Any]:
    return pilot.app.screen._compositor.render_strips()  # noqa: SLF001  Textual gives lines with their styles out as a whole picture only


# ── the picture ──


def animated(scenes: Sequence[Scene]) -> str:
    """Each row of a screen is written once, however many scenes show it; each scene is visible in its time."""
    rows: dict[str, str] = {}
    total = sum(scene.seconds for scene in scenes)
    shown, begun = "", 0.0
    width, height = SIZE[0] * WIDE, SIZE[1] * HIGH
    for number, scene in enumerate(scenes):
        uses = ""
        for at, row in enumerate(scene.rows):
            drawn = _row(row)
            if drawn:
                name = rows.setdefault(drawn, f"r{len(rows)}")
                uses += f'<use href="#{name}" y="{at * HIGH:g}"/>'
        first, last = 100 * begun / total, 100 * (begun + scene.seconds) / total
        begun += scene.seconds
        shown += (
            f"<style>@keyframes k{number}{{0%,{max(first - 0.01, 0):.2f}%{{opacity:0}}"
            f"{first:.2f}%,{last - 0.01:.2f}%{{opacity:1}}{last:.2f}%,100%{{opacity:0}}}}"
            f"#s{number}{{animation:k{number} {total:g}s step-end infinite}}</style>"
            f'<g id="s{number}">{uses}<text class="says" x="{width / 2:g}" y="{height + 20:g}">{escape(scene.says)}</text></g>'
        )
    defined = "".join(f'<g id="{name}">{drawn}</g>' for drawn, name in rows.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 {width + 24:g} {height + 50:g}" '
        'role="img" aria-label="A tour of agent-cli"><style>'
        "text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
        ".says{text-anchor:middle;fill:#8b90a0;font-style:italic}.b{font-weight:bold}.i{font-style:italic}"
        f"g[id^=s]{{opacity:0}}#s{STILL}{{opacity:1}}"
        "@media (prefers-reduced-motion:reduce){g[id^=s]{animation:none!important}}</style>"
        f'<rect x="-12" y="-12" width="{width + 24:g}" height="{height + 50:g}" rx="8" fill="#16181d"/>'
        f"<defs>{defined}</defs>{shown}</svg>\n"
    )


def _row(row: Sequence[Segment]) -> str:
    """Backgrounds and texts of one line, "" where it shows nothing."""
    behind = front = ""
    at = 0
    for segment in row:
        size = cell_len(segment.text)
        style = segment.style or Style()
        fill, ground = _colours(style)
        if ground not in ("#16181d", ""):
            behind += f'<rect x="{at * WIDE:g}" width="{size * WIDE:g}" height="{HIGH:g}" fill="{ground}"/>'
        if text := segment.text.rstrip():
            left = at + len(text) - len(text.lstrip())
            text = text.lstrip()
            look = "b" * bool(style.bold) + " i" * bool(style.italic)
            front += (
                f'<text x="{left * WIDE:.1f}" y="13.5" textLength="{cell_len(text) * WIDE:.1f}" fill="{fill}"'
                f"{f' class={chr(34)}{look.strip()}{chr(34)}' if look else ''}>{escape(text)}</text>"
            )
        at += size
    return behind + front


def _colours(style: Style) -> tuple[str, str]:
    fore, back = (
        colour.get_truecolor().hex if colour is not None and colour.type is not ColorType.DEFAULT else ""
        for colour in (style.color, style.bgcolor)
    )
    fore = fore or "#d5d8e0"
    if style.reverse:
        fore, back = back or "#16181d", fore
    if style.dim:
        fore = Color.parse(back or "#16181d").blend(Color.parse(fore), 0.5).hex
    return fore.lower(), back.lower()


if __name__ == "__main__":
    asyncio.run(main())
