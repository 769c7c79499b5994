"""Where the operator types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from textual.events import Key, Paste
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea

from agent_cli.kernel.messages import Block
from agent_cli.talk.history import History
from agent_cli.talk.untrusted import clean
from agent_cli.tui.editing import Edit
from agent_cli.tui.edits import EDITS
from agent_cli.tui.keys import Keys, pressed
from agent_cli.tui.past_search import PastSearch
from agent_cli.tui.pastes import Pastes
from agent_cli.tui.paths import quoted
from agent_cli.tui.vi import Vi
from agent_cli.tui.vi_line import takes

ROWS = 8
"""Lines up to which it grows."""

BURST_GAP = 0.008
"""Seconds: keys that follow each other faster were not typed by hand."""
BURST_KEYS = 3
BURST_END = 0.04
"""Seconds of quiet after which Enter at the end of a burst sends."""


class Menu(Protocol):
    """A list of completions above the composer, while it is open."""

    @property
    def is_open(self) -> bool: ...

    @property
    def sends(self) -> bool:
        """Whether Enter sends what is chosen, or only takes it."""
        ...

    def move(self, step: int) -> None: ...

    def chosen(self) -> str:
        """The text that stands for the highlighted completion, "" for none."""
        ...

    @property
    def path(self) -> str:
        """The file that the highlighted completion names behind its `@`, "" for none."""
        ...

    def close(self) -> None: ...


class Attaching(Protocol):
    """What comes into the composer from elsewhere: files that go along, messages that wait."""

    def chips(self, text: str, /) -> str | None:
        """What stands for the files whose paths are all of the text; None where it is anything else."""
        ...

    def chip(self, path: str, /) -> str:
        """What stands for that file, "" where it does not go along."""
        ...

    def take_back(self) -> bool:
        """The last message that waits comes before what is written, and waits no more; False where none does."""
        ...

    def asks(self) -> bool:
        """Whether the clipboard of the machine is asked, which takes a while; what comes is written then."""
        ...


class Composer(TextArea, inherit_bindings=False):
    """Enter sends; Shift+Enter, Ctrl+J, or Enter after a backslash break the line, or what `keys` has instead.

    A line break within a burst of keys, as a paste without brackets makes it, never sends.
    """

    DEFAULT_CSS = """
    Composer {
        height: 1;
        margin: 1 1 0 1;
        padding: 0 1;
        border: none;
        border-left: outer $panel;
        background: $surface;
        scrollbar-size-vertical: 1;
        &:focus { border: none; border-left: outer $primary; }
        &.-textual-compact { border: none; border-left: outer $panel !important; }
        &.-textual-compact:focus { border-left: outer $primary !important; }
        & .text-area--cursor-line { background: $surface; }
    }
    """

    @dataclass
    class Submitted(Message):
        """`text` is whole: chips are replaced by what was pasted; `typed` has the chips. `files` go along."""

        text: str
        when: Literal["steer", "after"]
        files: tuple[Block, ...] = ()
        typed: str = ""

    @dataclass
    class Sought(Message):
        """The earlier messages are searched for that text, None when no more."""

        text: str | None
        found: bool = True

    class Switched(Message):
        """Perhaps another mode of vi."""

    class Left(Message):
        """Ctrl+D on an empty composer."""

    class Asked(Message):
        """A question mark on an empty composer."""

    def __init__(self, history: History, placeholder: str, keys: Keys) -> None:
        super().__init__(compact=True, soft_wrap=True, show_line_numbers=False, placeholder=placeholder)
        self.cursor_blink = False
        self.highlight_cursor_line = False
        self._keys = keys
        self.menu: Menu | None = None
        self.attaching: Attaching | None = None
        self.past = history
        self.search: PastSearch | None = None
        self.pastes = Pastes()
        self.vi: Vi | None = None
        self._last_key = 0.0
        self._burst = 0
        self._held: Timer | None = None
        self._draft: str | None = None  # what was being written when a command was put in its place

    def took(self, said: str) -> None:
        """What was submitted is on its way: remembers it. What was typed since, or a command wrote, stays."""
        self.past.add(said)
        if not self.text:
            self.resume()
        if not self.text:
            self.pastes.forget()
        if self.vi is not None:
            self.vi.begin()
            self.post_message(self.Switched())

    def put(self, text: str) -> None:
        """Another text in the place of the draft; big ones are folded."""
        self._complete(_typed(self.pastes.fold(text)))

    def begin(self, command: str) -> None:
        """Writes the beginning of a command; what was being written comes back afterwards."""
        self.focus()
        if self.text.startswith(command):
            return
        if self._draft is None:
            self._draft = self.text
        self._complete(command)

    def resume(self) -> bool:
        """Back to what was being written before the command; False where none was put in its place."""
        if self._draft is None:
            return False
        draft, self._draft = self._draft, None
        self._complete(draft)
        return True

    def write(self, text: str) -> None:
        """Inserts a text that is sent whole, as one chip where it is big."""
        self.insert(_typed(self.pastes.fold(text)))

    def action_cursor_up(self, select: bool = False) -> None:
        if self._menu_open:
            self._move_menu(-1)
        elif not select and not self.text and self.attaching is not None and self.attaching.take_back():
            pass  # it waits no more, so that it does not go out twice
        elif not select and self.cursor_at_first_line:
            self._recall(self.past.older(self.text))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if self._menu_open:
            self._move_menu(1)
        elif not select and self.cursor_at_last_line:
            self._recall(self.past.newer())
        else:
            super().action_cursor_down(select)

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        chip = (
            self.pastes.chip_before(self.document.get_line(row)[:column]) if self.selection.is_empty else ""
        )
        if chip:
            self.delete((row, column - len(chip)), (row, column))
        else:
            super().action_delete_left()

    def fit(self, room: int) -> None:
        """As many rows as the text needs, at most `room` and ROWS."""
        rows = max(1, min(self.wrapped_document.height, ROWS, room))
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        return super().render_line(y) if width > 1 else Strip.blank(width)

    async def _on_key(self, event: Key) -> None:
        fast = event.time - self._last_key < BURST_GAP
        self._last_key = event.time
        self._burst = self._burst + 1 if fast else 0
        if self._held is not None:  # more keys came: that Enter was part of a burst
            self._held.stop()
            self._held = None
            self.insert("\n")
        if self.search is not None and self._searches(event):
            event.stop()
            event.prevent_default()
            return
        closes = event.key == "escape" and self._menu_open
        if self.vi is not None and not closes and takes(self.vi, event, self):
            self.post_message(self.Switched())
            event.stop()
            event.prevent_default()
            return
        for action in self._keys.actions("composer", pressed(event)):
            edits = action in EDITS and not event.is_printable
            if edits or self._does(action):
                event.stop()
                event.prevent_default()
            if edits:
                await self.run_action(EDITS[action])  # at once: by a binding it would come after later keys

    def _search_past(self) -> None:
        """Begins to search the earlier messages, or goes on to an older one."""
        if self.search is None:
            self.search = PastSearch(self.past, self.text)
        else:
            self._complete(self.search.step())
        self.post_message(self.Sought(self.search.sought))

    def _searches(self, event: Key) -> bool:
        """A key while the earlier messages are searched; False where it ends that and does what it does else."""
        search = self.search
        keys, key = self._keys, pressed(event)
        if (
            search is None
            or keys.action("composer", key) == "history"
            or keys.action("anywhere", key) == "back"
        ):
            return False
        sought = search.sought
        if event.is_printable and event.character:
            sought += event.character
        elif event.key == "backspace":
            sought = sought[:-1]
        else:
            self.search = None
            self.post_message(self.Sought(None))
            return False
        found = search.seek(sought)
        if found:
            self._complete(found)
        self.post_message(self.Sought(sought, found=bool(found)))
        return True

    def leave_search(self) -> bool:
        """Back to the draft; False where nothing was searched."""
        if self.search is None:
            return False
        draft, self.search = self.search.draft, None
        self._complete(draft)
        self.post_message(self.Sought(None))
        return True

    def _does(self, action: str) -> bool:
        """False where the key is to do what it does in any text."""
        match action:
            case "send":
                self._enter()
            case "send-after":
                self._submit("after")
            case "newline":
                self.insert("\n")
            case "complete" if self._menu_open:
                self._take_completion()
            case "paste":
                if self.attaching is None or not self.attaching.asks():
                    self.action_paste()
            case "take-back" if self.attaching is not None:
                self.attaching.take_back()
            case "editor":
                self.post_message(Edit(self.pastes.unfold(self.text), self.put))
            case "history":
                self._search_past()
            case "quit" if not self.text:
                self.post_message(self.Left())
            case "ask-help" if not self.text:
                self.post_message(self.Asked())
            case _:
                return False
        return True

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        chips = self.attaching.chips(event.text) if self.attaching is not None else None
        self.replace(chips or _typed(self.pastes.fold(event.text)), *self.selection)

    def _enter(self) -> None:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if line[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
        elif self._burst >= BURST_KEYS:
            self._held = self.set_timer(BURST_END, self._release)
        else:
            self._send()

    def _release(self) -> None:
        self._held = None
        self._send()

    def _send(self) -> None:
        if self.menu is not None and self._menu_open and not self.menu.sends:
            self._take_completion()
            return
        chosen = self.menu.chosen() if self.menu is not None and self._menu_open else ""
        if chosen:
            self._complete(chosen)
        self._submit("steer")

    def _submit(self, when: Literal["steer", "after"]) -> None:
        text = self.pastes.unfold(self.text)
        if text.strip():
            typed = self.text
            self.load_text("")  # at once: keys that follow begin the next message
            self.post_message(self.Submitted(text, when, self.pastes.files(typed), typed))

    @property
    def _menu_open(self) -> bool:
        return self.menu is not None and self.menu.is_open

    def _move_menu(self, step: int) -> None:
        if self.menu is not None:
            self.menu.move(step)

    def _take_completion(self) -> None:
        if self.menu is None:
            return
        chosen, path = self.menu.chosen(), self.menu.path
        self.menu.close()
        chip = self.attaching.chip(path) if self.attaching is not None and path else ""
        if chosen:
            self._complete((chosen.replace(f"@{quoted(path)}", chip) if chip else chosen) + " ")

    def _complete(self, text: str) -> None:
        """Undo takes the completion back, and nothing with it."""
        self.history.checkpoint()
        self.replace(text, self.document.start, self.document.end)
        self.history.checkpoint()
        self.move_cursor(self.document.end)

    def _recall(self, text: str | None) -> None:
        if text is None:
            return
        self.load_text(_typed(self.pastes.fold(text)))
        self.move_cursor(self.document.end)


def _typed(text: str) -> str:
    """The text without control codes; tabs stay."""
    return "\t".join(clean(part) for part in text.split("\t"))
