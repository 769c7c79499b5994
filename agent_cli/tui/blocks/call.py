"""A tool call as one line with its output under it, folded to head and tail."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal, TypeAlias

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent_cli.kernel.events import Display, FileDiff, Output, Shown, as_text
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN
from agent_cli.kernel.todo import TodoItem
from agent_cli.talk.untrusted import clean, clean_line
from agent_cli.tui.blocks.diff import diff_lines, parse
from agent_cli.tui.blocks.item import INDENT, Item, head_and_tail
from agent_cli.tui.blocks.todo import todo_lines
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, cut, wrap

Progress: TypeAlias = Literal[
    "preparing", "queued", "waiting", "running", "done", "unchanged", "failed", "denied", "not run", "unknown"
]

TODO = "todo"
NAMED = 16
"""Cells of a name that what is told behind it leaves to it."""
HEAD, TAIL = 2, 3
LIVE = 4
"""Lines of output that a running call shows."""
DIFF_HEAD = 16
KEPT = 40_000
"""Characters that are kept of each end of an output; all of it stands in the log."""
UNFOLDED = 400
"""Lines that an unfolded output shows of each end."""

QUIET = frozenset(
    {
        "read_file",
        "read_many_files",
        "list_dir",
        "glob",
        "grep",
        "stat",
        "json_query",
        "retrieve_output",
        "fetch_url",
    }
)
"""Tools whose output the operator rarely wants to see: folded, only its size is shown."""

_MAIN = ("command", "path", "pattern", "url", "query", "question", "task", "id", "check")

_MARKS: dict[Progress, str] = {
    "preparing": "·",
    "queued": "○",
    "waiting": "?",
    "running": "●",
    "done": "✓",
    "unchanged": "=",
    "failed": "✗",
    "denied": "✗",
    "not run": "-",
    "unknown": "!",
}


class Call(Item):
    """Follows one call from the first letter of its arguments to its result."""

    __slots__ = (
        "_display",
        "_folded",
        "_live",
        "_size",
        "_todo",
        "_typed",
        "call_id",
        "duration",
        "name",
        "note",
        "progress",
        "subject",
    )

    def __init__(self, call_id: str, name: str, *, gap: int = 1) -> None:
        super().__init__(gap=gap)
        self.call_id = call_id
        self.name = name
        self.subject = ""
        self.note = ""  # of its subtask
        self.progress: Progress = "preparing"
        self.duration = 0.0
        self._display: Display | None = None
        self._live: deque[str] = deque(maxlen=LIVE + 1)
        self._typed = 0
        self._size = 0  # of what the model got
        self._folded = True
        self._todo: tuple[TodoItem, ...] = ()  # the list that a call of the todo tool sets

    def typed(self, name: str, text: str) -> None:
        """A piece of the arguments came."""
        self.name = name or self.name
        self._typed += len(text)
        self.changed()

    def proposed(self, name: str, arguments: dict[str, Any] | None) -> None:
        self.name = name
        self.subject = self.subject or subject_of(arguments)
        if name == TODO and arguments:
            self._todo = _items(arguments.get("items"))
        self.to("queued")

    def to(self, progress: Progress, subject: str = "") -> None:
        self.progress = progress
        self.subject = subject or self.subject
        self.changed()

    def say(self, text: str) -> None:
        """A piece of the output of the running tool."""
        first, *rest = text.split("\n")
        last = self._live.pop() if self._live else ""
        self._live.append((last + first)[-KEPT:])
        self._live.extend(rest)
        self.changed()

    def at_work(self, note: str, doing: str) -> None:
        """A subtask works for this call: what it took so far, and what it does."""
        self.note = note
        self._live.clear()
        self._live.extend([doing] if doing else [])
        self.changed()

    def returned(self, output: Output, duration: float, *, executed: bool) -> None:
        self.duration = duration
        self._display = output.for_human
        result = as_text(output).strip("\n")
        self._size = result.count("\n") + 1 if result else 0
        if not isinstance(self._display, FileDiff):
            shown = self._display.text if isinstance(self._display, Shown) else as_text(output)
            self._display = Shown(_bounded(shown.strip("\n")))
        self._live.clear()
        self.to(_result(output, executed=executed, denied=self.progress == "denied"))

    def ended(self) -> None:
        """Its turn is over, and no result came."""
        if self.progress == "running":
            self._display = Shown(OUTCOME_UNKNOWN)
            self._live.clear()
            self.to("unknown")
        else:
            self.to("not run")

    def body(self, width: int, ink: Ink) -> list[Line]:
        inner = max(width - 6, 8)
        lead = [Segment(INDENT + "  ")]
        if self._display is None:
            live = [clean(line) for line in list(self._live)[-LIVE:] if line.strip()]
            output = [[Segment("│ ", ink.faint), Segment(cut(line, inner - 2), ink.dim)] for line in live]
        elif self._todo and self.progress == "done":
            output = todo_lines(self._todo, inner, ink)
        elif isinstance(self._display, FileDiff):
            output = self._diff(self._display, inner, ink)
        else:
            output = self._output(self._display.text, inner, ink)
        return [self._title(width, ink), *([*lead, *line] for line in output)]

    def source(self) -> str:
        title = f"{self.name} {self.subject}".rstrip()
        match self._display:
            case Shown(text):
                return f"{title}\n{text}"
            case FileDiff(diff=diff):
                return f"{title}\n{diff}"
            case None:
                return title

    def codes(self) -> tuple[str, ...]:
        match self._display:
            case Shown(text):
                return (text,)
            case FileDiff(diff=diff):
                return (diff,)
            case None:
                return ()

    def toggle(self, *, folded: bool | None = None) -> bool:
        if self._display is None:
            return False
        self._folded = not self._folded if folded is None else folded
        self.changed()
        return True

    def _title(self, width: int, ink: Ink) -> Line:
        name, style = clean_line(self.name) or "call", self._style(ink)
        meta = cut(" · ".join(self._meta()), max(width - min(cell_len(name), NAMED) - 8, NAMED))
        name = cut(name, max(min(width - len(meta) - 8, 40), 4))
        lead = [Segment(INDENT), Segment(_MARKS[self.progress] + " ", style), Segment(name, ink.strong)]
        room = width - len(INDENT) - 2 - cell_len(name) - 4 - (len(meta) + 2 if meta else 0)
        subject = cut(clean_line(self.subject), room) if room > 3 else ""
        tail = ink.dim if self.progress in ("done", "unchanged", "queued", "preparing") else style
        return [
            *lead,
            *([Segment("  " + subject, ink.text)] if subject else []),
            *([Segment("  " + meta, tail)] if meta else []),
        ]

    def _meta(self) -> list[str]:
        facts = {
            "preparing": f"{self._typed:,} characters" if self._typed > 400 else "",
            "waiting": "waits for you",
            "running": "running",
            "unchanged": "nothing to change",
            "failed": "failed",
            "denied": "denied",
            "not run": "not run",
            "unknown": "outcome unknown",
        }.get(self.progress, "")
        meta = [facts] if facts else []
        if self.note:
            meta.append(clean_line(self.note))
        if isinstance(self._display, FileDiff):
            meta.append(f"+{self._display.added} -{self._display.removed}")
        elif self._display is not None and self._folded and self._quiet and self._size:
            meta.append(f"{self._size:,} line{'s' * (self._size > 1)}")
        if self.duration >= 0.05:
            meta.append(seconds(self.duration))
        return meta

    @property
    def _quiet(self) -> bool:
        return self.name in QUIET and self.progress in ("done", "unchanged")

    def _style(self, ink: Ink) -> Style:
        match self.progress:
            case "done" | "unchanged":
                return ink.good
            case "failed" | "denied":
                return ink.bad
            case "waiting" | "not run" | "unknown":
                return ink.warn
            case "running":
                return ink.accent
            case "preparing" | "queued":
                return ink.dim

    @property
    def _is_wide(self) -> bool:
        return isinstance(self._display, FileDiff)

    def _diff(self, display: FileDiff, inner: int, ink: Ink) -> list[Line]:
        rows, sides = parse(display.diff), self._over is None
        hidden = len(rows) - DIFF_HEAD if self._folded else 0
        if hidden <= 2:
            return diff_lines(rows, inner, ink, sides=sides)
        return [*diff_lines(rows[:DIFF_HEAD], inner, ink, sides=sides), _more(hidden, ink)]

    def _output(self, text: str, inner: int, ink: Ink) -> list[Line]:
        if not text or (self._folded and self._quiet):
            return []
        lines = clean(text).split("\n")
        heads, tails = (HEAD, TAIL) if self._folded else (UNFOLDED, UNFOLDED)
        head, hidden, tail = head_and_tail(lines, heads, tails)
        bar = Segment("│ ", ink.faint)
        style = ink.dim if self._folded else ink.text
        shown: list[Line] = []
        for part in (head, tail):
            for line in part:
                rows = (
                    [[Segment(cut(line, inner - 2), style)]] if self._folded else _wrapped(line, inner, style)
                )
                shown.extend([bar, *row] for row in rows)
            if part is head and hidden:
                shown.append(_more(hidden, ink, unfolds=self._folded))
        return shown


def _items(given: object) -> tuple[TodoItem, ...]:
    """The list as the call gives it; none where it is no list of that kind."""
    try:
        return msgspec.convert(given, tuple[TodoItem, ...])
    except msgspec.ValidationError:
        return ()


def subject_of(arguments: dict[str, Any] | None) -> str:
    """The argument that tells a person what a call is about."""
    if not arguments:
        return ""
    named = next((arguments[name] for name in _MAIN if arguments.get(name)), None)
    found = named or next((value for value in arguments.values() if isinstance(value, str)), "")
    return found if isinstance(found, str) else str(found).strip("[]")


def seconds(duration: float) -> str:
    if duration < 60:
        return f"{duration:.1f}s" if duration < 10 else f"{duration:.0f}s"
    minutes, rest = divmod(int(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"


def _result(output: Output, *, executed: bool, denied: bool) -> Progress:
    if not executed:
        return "denied" if denied else "not run"
    if not output.ok:
        return "failed"
    return "unchanged" if output.no_op else "done"


def _bounded(text: str) -> str:
    if len(text) <= 2 * KEPT + 200:
        return text
    left_out = len(text) - 2 * KEPT
    return f"{text[:KEPT]}\n[… {left_out:,} characters are not kept here …]\n{text[-KEPT:]}"


def _wrapped(line: str, inner: int, style: Style) -> list[Line]:
    return wrap([Segment(line, style)], inner - 2, words=False)


def _more(hidden: int, ink: Ink, *, unfolds: bool = True) -> Line:
    hint = " (Ctrl+O unfolds)" if unfolds else ""
    return [Segment("│ ", ink.faint), Segment(f"… {hidden:,} more lines{hint}", ink.faint)]
