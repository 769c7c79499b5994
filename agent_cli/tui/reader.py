"""The transcript with a cursor: moving over blocks, folding, copying, searching."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from textual import on
from textual.events import Blur, Focus, Key
from textual.message import Message

from agent_cli.tui.blocks.answer import Answer
from agent_cli.tui.blocks.item import Group
from agent_cli.tui.blocks.notice import Ending, Notice
from agent_cli.tui.blocks.operator import Operator
from agent_cli.tui.keys import Keys, bound, leaves, pressed
from agent_cli.tui.transcript import Transcript


class Reader(Transcript):
    """Keys work while it has the focus. `stray` gets those without a meaning here; they belong to the composer."""

    FOCUS_ON_CLICK = False
    BINDINGS = [
        bound("next", "move(1)"),
        bound("previous", "move(-1)"),
        bound("first", "edge(-1)"),
        bound("last", "edge(1)"),
        bound("screen-up", "page(-1)"),
        bound("screen-down", "page(1)"),
        bound("fold", "fold"),
        bound("move-right", "move_over(1)"),
        bound("move-left", "move_over(-1)"),
        bound("copy", "copy(False)"),
        bound("copy-code", "copy(True)"),
        bound("find", "find"),
        bound("find-up", "again(-1)"),
        bound("find-down", "again(1)"),
    ]

    @dataclass
    class Copy(Message):
        """Wants a text in the clipboard; `what` says what it is."""

        text: str
        what: str

    class Find(Message):
        """Wants to be told what to search for."""

    class Early(Message):
        """The first lines are near: what was before is wanted."""

    def __init__(self, keys: Keys, stray: Callable[[Key], None]) -> None:
        super().__init__()
        self._keys = keys
        self._stray = stray
        self._sought = ""
        self._code = 0  # which code of the block is copied next

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value < self.scrollable_content_region.height:
            self.post_message(self.Early())

    def search(self, text: str, step: int = -1) -> bool:
        """Moves the cursor to the next block that holds the text, upwards for -1; False where none does."""
        self._sought = text.casefold()
        return self._search(step)

    def action_move(self, step: int) -> None:
        at = self._cursor_at()
        if at is None:
            self._enter()
            return
        while 0 <= at + step < len(self.column.items):
            at += step
            group = self.column.items[at].group
            if group is not self.cursor and self.column.heights[at]:
                self._select(group, at)
                return

    def action_edge(self, step: int) -> None:
        if not self.column.items:
            return
        at = 0 if step < 0 else len(self.column.items) - 1
        self._select(self.column.items[at].group, at)
        if step > 0:
            self.to_end()
        else:
            self.show(self.column.items[0])

    def action_page(self, step: int) -> None:
        """Scrolls by a screen less two lines, and takes the cursor along."""
        height = self.scrollable_content_region.height
        self.scroll_to(y=self.scroll_offset.y + step * max(height - 2, 1), animate=False, force=True)
        if self.cursor is not None:
            self._enter()

    def action_fold(self) -> None:
        at = self._cursor_at()
        if at is not None and self.cursor is not None and self.cursor.toggle():
            self.column.update(self.column.items[at])
            self.show(self.column.items[at])

    def action_move_over(self, step: int) -> None:
        at = self._cursor_at()
        if at is None:
            return
        items = itertools.takewhile(lambda item: item.group is self.cursor, self.column.items[at:])
        moved = [item for item in items if item.move_over(step)]
        if moved:
            self.column.update(*moved)
            self.show(moved[0])

    def action_copy(self, code: bool) -> None:
        """The block, or the code in it: with several, the next one each time."""
        if self.cursor is None:
            return
        block = self._answer_above(code) or self.cursor
        if not code:
            self.post_message(
                self.Copy(block.source(), "the block" if block is self.cursor else "the answer")
            )
        elif codes := list(block.codes()):
            at = self._code % len(codes)
            which = f"code {at + 1} of {len(codes)} (c again for the next)" if len(codes) > 1 else "the code"
            self._code = at + 1
            self.post_message(self.Copy(codes[at], which))
        else:
            what = "block" if block is self.cursor else "answer"
            self.post_message(self.Copy("", f"code: there is none in this {what}"))

    def action_find(self) -> None:
        self.post_message(self.Find())

    def action_again(self, step: int) -> None:
        if self._sought:
            self._search(step)

    def toggle_all(self) -> None:
        """Unfolds everything that can be folded, or folds it again."""
        self._unfolded = not self._unfolded
        for item in self.column.items:
            item.toggle(folded=not self._unfolded)
        self.column.guess()
        self.settle()

    _unfolded = False

    @on(Focus)
    def _focused(self) -> None:
        if self.cursor is None:
            self._enter()

    @on(Blur)
    def _blurred(self) -> None:
        self.cursor = None
        self.refresh()

    async def _on_key(self, event: Key) -> None:
        """Keys that were typed on before the focus had gone elsewhere follow it."""
        focused, known = self.screen.focused, self._keys.action("transcript", pressed(event))
        if focused is not None and focused is not self:
            focused.post_message(Key(event.key, event.character))
        elif not known and (event.is_printable or leaves(self._keys, event)):
            self._stray(event)
        else:
            return
        event.stop()
        event.prevent_default()

    def _enter(self) -> None:
        """Puts the cursor on the last block that can be seen."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height - 1
        found = self.column.find(min(bottom, self.column.starts[-1] - 1)) if self.column.items else None
        if found is not None:
            self.cursor = self.column.items[found[0]].group
            self._code = 0
            self.refresh()

    def _answer_above(self, code: bool) -> Answer | None:
        """What the turn answered, where the cursor is on the line that ends it or, for code, on a note below that."""
        if not isinstance(self.cursor, (Ending, Notice) if code else Ending):
            return None
        above = reversed(self.column.items[: self._cursor_at()])
        turn = itertools.takewhile(lambda item: not isinstance(item, Operator), above)
        return next((item.group for item in turn if isinstance(item.group, Answer)), None)

    def _cursor_at(self) -> int | None:
        """The first item of the cursor's block; looks near the screen first."""
        if self.cursor is None:
            return None
        top = self._top_item()
        order = [*range(top, len(self.column.items)), *range(top - 1, -1, -1)]
        at = next((at for at in order if self.column.items[at].group is self.cursor), None)
        while at is not None and at > 0 and self.column.items[at - 1].group is self.cursor:
            at -= 1
        return at

    def _top_item(self) -> int:
        found = self.column.find(self.scroll_offset.y)
        return found[0] if found is not None else 0

    def _select(self, group: Group, at: int) -> None:
        self.cursor = group
        self._code = 0
        self.show(self.column.items[at])

    def _search(self, step: int) -> bool:
        at = self._cursor_at()
        if at is None:
            at = len(self.column.items) if step < 0 else -1
        while 0 <= at + step < len(self.column.items):
            at += step
            item = self.column.items[at]
            if item.group is not self.cursor and self._sought in item.source().casefold():
                self._select(item.group, at)
                return True
        return False
