"""No key was found: three ways to a session, in place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rich.segment import Segment
from textual import on
from textual.containers import Vertical
from textual.events import Blur, Focus, Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input
from textual.worker import Worker

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.door import Door
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.entry import Entry
from agent_cli.tui.grace import Grace
from agent_cli.tui.ink import Ink
from agent_cli.tui.lines import Lines
from agent_cli.tui.setup import Setup
from agent_cli.tui.wrap import Line, cut, wrap

HOLD = 0.4
"""Seconds that a key which chooses waits: a letter that follows makes both the beginning of a message."""

FIRST = "Show me what you can do."
"""What the demo answers."""


class Offers(Vertical, can_focus=True):
    """Posts `Opened` with the session, or `Failed` with what went wrong and stays open. `way` is the key that leads to it."""

    DEFAULT_CSS = """
    Offers {
        height: auto; margin: 1 1 0 1; padding: 0 1; background: $surface; border-left: outer $primary;
    }
    Offers Input { display: none; height: 1; border: none; padding: 0; background: $surface; }
    Offers Input:focus { border: none; }
    Offers.-key Input { display: block; }
    """

    @dataclass
    class Opened(Message):
        """`first` is a message to begin with, "" for none."""

        session: Door
        first: str = ""

    class Stopped(Message):
        """The operator cancelled the download."""

    @dataclass
    class Failed(Message):
        error: AgentError

    @dataclass
    class Typed(Message):
        """A key that chooses nothing belongs to the composer."""

        text: str

    class Declined(Message):
        """None of them."""

    def __init__(self, setup: Setup, ink: Ink, way: str) -> None:
        super().__init__()
        self._setup = setup
        self._way = way
        self._ink = ink
        self._variable = 0
        self._busy = ""
        self._asking = ""  # what a download would fetch, while that is asked
        self._download: Worker[None] | None = None
        self._grace = Grace()
        self._at = 0  # the way that Enter takes
        self._held: tuple[str, Timer] | None = None

    def compose(self):  # noqa: ANN201  Textual's ComposeResult costs an import
        yield Lines(id="ways")
        yield Entry("the key; shown as dots, used for this run, kept nowhere", password=True)

    def on_mount(self) -> None:
        self._draw()
        self._grace.restart()

    def back(self) -> bool:
        """Out of the entry of the key, the question, or the download; False where none was open."""
        if self._let_go():
            return True
        if self._download is not None:
            self._download.cancel()
            self._download = None
            self.post_message(self.Stopped())
            return True
        if self._asking:
            self._asking = ""
            self._draw()
            return True
        if not self.has_class("-key"):
            return False
        self.remove_class("-key")
        self.focus()
        self._draw()
        return True

    def _draw(self) -> None:
        self.query_one(Lines).put(self._lines)

    def _lines(self, width: int) -> list[Line]:
        ink = self._ink
        if self._busy:
            stops = "Esc stops it; what has come is kept" if self._download is not None else ""
            rest = wrap([Segment(stops, ink.dim)], width) if stops else []
            return [*wrap([Segment(self._busy, ink.text)], width), *rest]
        if self._asking:
            text = f"Download {clean_line(self._asking)}? y/n"
            return wrap([Segment(text, ink.strong)], width)
        variable, provider = self._setup.variables[self._variable]
        if self.has_class("-key"):
            others = "  Tab: another provider" if len(self._setup.variables) > 1 else ""
            text = f"{clean_line(provider)} key ({clean_line(variable)})"
            return [[Segment(cut(text, width), ink.strong), Segment(others, ink.dim)]]
        lines: list[Line] = [[Segment("How shall we start?", ink.strong)]]
        if self._held is not None:
            lines[0].append(Segment(f"  {self._held[0]} …", ink.dim))
        elif self.screen.focused is not self:
            lines[0].append(Segment(f"  {self._way} comes here, to choose", ink.accent))
        for at, (key, text) in enumerate(self._ways()):
            marked = at == self._at and self.screen.focused is self
            rows = wrap([Segment(clean_line(text), ink.strong if marked else ink.text)], width - 4)
            lines.append([Segment(f"{'▸' if marked else ' '} {key} ", ink.heading), *rows[0]])
            lines.extend([Segment("    "), *row] for row in rows[1:])
        return lines

    def _ways(self) -> list[tuple[str, str]]:
        ways = [("k", f"enter a key ({', '.join(name for _, name in self._setup.variables)})")]
        if self._setup.local:
            ways.append(("l", f"install the local model ({self._setup.local})"))
        return [*ways, ("d", "play the demo, without any model"), ("q", "quit")]

    def _moves(self, key: str) -> bool:
        """Arrows go from way to way, and Enter takes the one they are at."""
        if self._held is not None or self._busy or self._asking or key not in ("up", "down", "enter"):
            return False
        ways = self._ways()
        if key != "enter":
            self._at = (self._at + (1 if key == "down" else -1)) % len(ways)
            self._draw()
        elif self._grace.over:
            self._choose(ways[self._at][0])
        return True

    async def _on_key(self, event: Key) -> None:
        if self.has_class("-key"):
            if event.key == "tab":
                self._variable = (self._variable + 1) % len(self._setup.variables)
                self._draw()
                event.stop()
                event.prevent_default()
            return
        if self._moves(event.key):
            event.stop()
            return
        keys = {"y", "n"} if self._asking else {"k", "l", "d", "q"}
        if self._held is not None:
            event.stop()
            self._settle(event)
        elif event.is_printable and (self._busy or not self._grace.over or event.key not in keys):
            event.stop()
            self._grace.restart()
            self.post_message(self.Typed(event.character or ""))
        elif event.is_printable:
            event.stop()
            self._hold(event.key)

    def _hold(self, key: str) -> None:
        if HOLD <= 0:
            self._choose(key)
        else:
            self._held = key, self.set_timer(HOLD, self._take)
            self._draw()

    def _settle(self, event: Key) -> None:
        """Another key while one is held: Enter confirms, a letter makes a message of both, others take it back."""
        if event.key == "enter":
            self._take()
            return
        held = self._let_go()
        if event.is_printable:
            self._grace.restart()
            self.post_message(self.Typed(held + (event.character or "")))

    def _take(self) -> None:
        held = self._let_go()
        if held:
            self._choose(held)

    def _let_go(self) -> str:
        """Nothing is held any more; returns what was, "" for nothing."""
        if self._held is None:
            return ""
        held, timer = self._held
        self._held = None
        timer.stop()
        self._draw()
        return held

    @on(Focus)
    @on(Blur)
    def _moved(self) -> None:
        self._draw()

    def _choose(self, key: str) -> None:
        if self._asking:
            self._asking = ""
            self._draw()
            if key == "y":
                self._install()
        elif key == "k":
            self.add_class("-key")
            self.query_one(Input).focus()
            self._draw()
        elif key == "l" and self._setup.local:
            self._asking = self._setup.download
            self._grace.restart()
            self._draw()
            if not self._asking:
                self._install()
        elif key == "d":
            self._try("The demo begins …", self._setup.demo, FIRST)
        elif key == "q":
            self.post_message(self.Declined())

    @on(Input.Submitted)
    def _key_given(self, event: Input.Submitted) -> None:
        event.stop()
        key, event.input.value = event.value.strip(), ""
        if key:
            variable = self._setup.variables[self._variable][0]
            self.back()
            self._try("The key is being tried …", lambda: self._setup.use_key(variable, key))

    def _install(self) -> None:
        self._download = self._try(
            "The local model is being prepared …", lambda: self._setup.install_local(self._progress)
        )
        self._draw()

    def _try(self, text: str, way: Callable[[], Awaitable[Door]], first: str = "") -> Worker[None]:
        self._busy = text
        self._draw()
        return self.run_worker(self._go(way, first), exclusive=True)

    async def _go(self, way: Callable[[], Awaitable[Door]], first: str) -> None:
        try:
            self.post_message(self.Opened(await way(), first))
        except AgentError as error:
            self.post_message(self.Failed(error))
        finally:
            self._busy = ""
            self._download = None
            if self.is_attached:
                self._draw()

    def _progress(self, done: int, whole: int, what: str) -> None:
        """May be called from any thread."""
        self.call_later(self._show_progress, done, whole, what)

    def _show_progress(self, done: int, whole: int, what: str) -> None:
        megabytes = f"{done / 1e6:,.0f} of {whole / 1e6:,.0f} MB" if whole else f"{done / 1e6:,.0f} MB"
        cells = round(done / whole * 24) if whole else 0
        bar = f"{'━' * cells}{'╌' * (24 - cells)}  " if whole else ""
        text = f"{bar}{megabytes}  {clean_line(what)}"
        if self._busy and text != self._busy:
            self._busy = text
            self._draw()
