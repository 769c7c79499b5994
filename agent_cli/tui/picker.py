"""A list to choose from, above the composer: filtered as one types, with a preview of the row in question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Mount
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.stage import Picking, Row
from agent_cli.talk.untrusted import clean, clean_line
from agent_cli.tui.entry import Entry

PREVIEW = 14
"""Lines."""


class Filter(Entry):
    """A slash at its beginning is none of a filter's: it begins a command, and `stray` gets it with what follows."""

    def __init__(self, stray: Callable[[Key], None]) -> None:
        super().__init__("type to filter; Enter chooses, Esc leaves")
        self._stray = stray
        self._left = False

    async def _on_key(self, event: Key) -> None:
        self._left = self._left or (event.character == "/" and not self.value)
        if not self._left:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self._stray(event)


class Picker(Vertical):
    """`leave` takes it off the screen. Enter takes the highlighted row, Esc none. `stray` takes keys of a command."""

    DEFAULT_CSS = """
    Picker { height: auto; max-height: 70%; margin: 1 1 0 1; padding: 0 1; border-left: outer $accent; }
    Picker > Input { height: 1; border: none; padding: 0; background: $surface; }
    Picker > Input:focus { border: none; }
    Picker > OptionList { height: auto; border: none; padding: 0; background: $background; }
    Picker > OptionList > .option-list--option-highlighted {
        background: $primary 25%; color: $foreground; text-style: bold;
    }
    Picker > #preview { height: auto; padding: 1 0 0 0; color: $text-muted; display: none; }
    """

    def __init__(self, picking: Picking, gone: Callable[[], None], stray: Callable[[Key], None]) -> None:
        super().__init__()
        self._picking = picking
        self._gone = gone
        self._stray = stray
        self._over = False
        self._rows: Sequence[Row] | None = None
        self._shown: list[Row] = []
        self._preview_of = ""

    def compose(self) -> ComposeResult:
        yield Static(Content(self._picking.title), id="title")
        yield Filter(self._began)
        options = OptionList(compact=True)
        options.can_focus = False
        yield options
        yield Static("", id="preview")

    @on(Mount)
    def _mounted(self) -> None:
        self._fit()
        # Textual leaves the type of a screen's result open
        self.screen.screen_layout_refresh_signal.subscribe(self, self._fit)  # pyright: ignore[reportUnknownMemberType]
        self.query_one(Input).focus()
        self._say("…")
        self.run_worker(self._fill())

    def _fit(self, _: object = None) -> None:
        """In cells: what is said in shares of the screen Textual (8.x) counts at its full height, and leaves empty."""
        high = self.screen.size.height
        listed = high // 4 if self._picking.preview is not None else high // 2
        self.query_one(OptionList).styles.max_height = max(listed, 3)
        self.query_one("#preview").styles.max_height = max(high * 3 // 10, 3)

    def _began(self, key: Key) -> None:
        if not self._over:
            self.leave()
        self._stray(key)

    def leave(self) -> None:
        """Without a choice."""
        self._end()
        if self._picking.left is not None:
            self._picking.left()

    def _end(self) -> None:
        self._over = True
        self._gone()
        self.remove()

    async def _fill(self) -> None:
        try:
            self._rows = await asyncio.to_thread(lambda: tuple(self._picking.rows()))
        except AgentError as problem:
            self._say(str(problem))
            return
        self._offer()

    @on(Input.Changed)
    def _offer(self) -> None:
        if self._rows is None or self._over:
            return
        wanted = self.query_one(Input).value.casefold().split()
        self._shown = [row for row in self._rows if _fits(row, wanted)]
        wide = max((cell_len(row.label) for row in self._shown), default=0)
        wide = min(wide, max(self.screen.size.width * 3 // 5, 16))
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(_line(row, wide)) for row in self._shown])
        keys = [row.key for row in self._shown]
        options.highlighted = (
            (keys.index(self._picking.first) if self._picking.first in keys else 0) if keys else None
        )
        if not self._shown:
            self._say("nothing fits" if self._rows else self._picking.empty)

    @property
    def chosen(self) -> str:
        """The key of the highlighted row, "" for none."""
        at = None if self._over else self.query_one(OptionList).highlighted
        return self._shown[at].key if at is not None and at < len(self._shown) else ""

    async def _on_key(self, event: Key) -> None:
        step = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}.get(event.key)
        if step is None:
            return
        event.stop()
        event.prevent_default()
        options = self.query_one(OptionList)
        if self._shown and options.highlighted is not None:
            last = len(self._shown) - 1
            at = options.highlighted + step
            options.highlighted = at % (last + 1) if abs(step) == 1 else min(max(at, 0), last)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        key = self.chosen
        if self._picking.moved is not None and key:
            self._picking.moved(key)
        if self._picking.preview is None or not key:
            self._say("")
        elif key != self._preview_of:
            self._preview_of = key
            self.run_worker(self._look(key), exclusive=True, group="preview")

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _taken(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        event.stop()
        key = self.chosen
        if key:
            self._end()
            self._picking.chosen(key)

    async def _look(self, key: str) -> None:
        look = self._picking.preview
        if look is None:
            return
        try:
            text = await asyncio.to_thread(look, key)
        except AgentError as problem:
            text = str(problem)
        if key and key == self.chosen:
            self._say("\n".join(clean(text).splitlines()[:PREVIEW]))

    def _say(self, text: str) -> None:
        if self._over:  # what was looked for came too late
            return
        preview = self.query_one("#preview", Static)
        preview.update(Content(clean(text)))
        preview.display = bool(text)


def _fits(row: Row, wanted: list[str]) -> bool:
    text = f"{row.label} {row.note} {row.find}".casefold()
    return all(word in text for word in wanted)


def _line(row: Row, wide: int) -> Content:
    label = clean_line(row.label)
    while cell_len(label) > wide:
        label = f"{label[:-2]}…" if len(label) > 1 else ""
    gap = " " * (wide - cell_len(label) + 2) if row.note else ""
    return Content.assemble(label + gap, (clean_line(row.note), "$text-muted"))
