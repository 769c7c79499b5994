"""The completions of a slash command, above the composer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from agent_cli.talk.commands.command import Command
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.wrap import wrap

MOST = 50
"""Names of models that are offered at once."""
AROUND = 3
"""Cells of the padding and the scrollbar."""
NARROW = 20
"""Cells: a note that has fewer beside its label goes on below it."""


class Choice(NamedTuple):
    """`text` is what the composer gets, `label` and `note` are what the menu shows. Enter takes it, and where it `sends` sends it too.

    `path` is the file that the text names behind its `@`, "" for none.
    """

    text: str
    label: str
    note: str = ""
    sends: bool = True
    path: str = ""


class CommandMenu(OptionList, can_focus=False):
    """Lies over the transcript. `offer` opens it, or closes it where nothing fits."""

    DEFAULT_CSS = """
    CommandMenu {
        layer: above; dock: bottom; height: auto; max-height: 10;
        border: none; background: $panel; display: none; scrollbar-size-vertical: 1;
    }
    CommandMenu.-textual-compact { padding: 0 1; }  /* a margin would push it over the edge: docked, it is as wide as all */
    CommandMenu > .option-list--option-highlighted { background: $primary 25%; color: $foreground; text-style: none; }
    """

    def __init__(self) -> None:
        super().__init__(compact=True)
        self._offered: list[Choice] = []
        self._room = 0

    @property
    def is_open(self) -> bool:
        return bool(self._offered)

    def offer(self, found: list[Choice], below: int) -> None:
        """`below` are the rows under it."""
        room = self.screen.size.width - AROUND
        if found != self._offered or room != self._room:
            self._offered, self._room = found, room
            wide = max((cell_len(choice.label) for choice in found), default=0)
            self.clear_options()
            self.add_options([Option(_row(choice, wide, room)) for choice in found])
            self.highlighted = 0 if found else None
        self.display = bool(found)
        self.styles.margin = (0, 0, below, 0)

    def move(self, step: int) -> None:
        if self._offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self._offered)

    def chosen(self) -> str:
        return self._marked.text

    @property
    def path(self) -> str:
        return self._marked.path

    @property
    def _marked(self) -> Choice:
        at = self.highlighted
        return self._offered[at] if at is not None and at < len(self._offered) else Choice("", "")

    @property
    def sends(self) -> bool:
        return all(choice.sends for choice in self._offered)

    def close(self) -> None:
        self.offer([], 0)


def of_commands(found: list[Command]) -> list[Choice]:
    return [
        Choice(f"/{command.name}", f"/{command.name} {command.arguments}".rstrip(), command.description)
        for command in found
    ]


def of_models(names: Sequence[str], current: str, typed: str) -> list[Choice]:
    """The names that have the letters of what was typed in their order, the closest first; the model in use first of all."""
    wanted = typed.casefold().strip()
    known = dict.fromkeys((*filter(None, [current]), *names))
    ranked = [(rank, name) for name in known if (rank := _rank(name.casefold(), wanted))]
    if not wanted:
        ranked = [((0,) if name == current else (1,), name) for _, name in ranked]
    ranked.sort(key=lambda pair: pair[0])
    return [
        Choice(f"/model {name}", clean_line(name), "in use" if name == current else "")
        for _, name in ranked[:MOST]
    ]


def _rank(name: str, wanted: str) -> tuple[int, ...]:
    """Low is close, empty is no match: the name itself, its start, a part of it, letters with gaps between."""
    if not wanted or name == wanted:
        return (1,)
    at = name.find(wanted)
    if at >= 0:
        return (2 if at == 0 else 3, at, len(name))
    places: list[int] = []
    for letter in wanted:
        place = name.find(letter, places[-1] + 1 if places else 0)
        if place < 0:
            return ()
        places.append(place)
    return (4, places[-1] - places[0], len(name))


def _row(choice: Choice, wide: int, room: int) -> Content:
    """The note beside the label, its further lines below its first one."""
    start = wide + 2
    gap = " " * (start - cell_len(choice.label)) if choice.note else ""
    lines = [choice.note]
    if room - start >= NARROW:
        wrapped = wrap([Segment(choice.note)], room - start)
        lines = ["".join(part.text for part in line).rstrip() for line in wrapped]
    return Content.assemble((choice.label + gap, "bold"), (f"\n{' ' * start}".join(lines), "$text-muted"))
