"""Approvals, in place: what wants to run, why it asks, and keys that answer. The text above stays readable."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from textual import on
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widgets import Input

from agent_cli.kernel.commands import Answer, GrantScope
from agent_cli.kernel.events import ApprovalRequested, FileDiff, Shown
from agent_cli.tui.blocks.diff import diff_lines, parse
from agent_cli.tui.grace import Grace
from agent_cli.tui.ink import Ink
from agent_cli.tui.keys import Keys, pressed
from agent_cli.tui.lines import Lines
from agent_cli.tui.untrusted import clean, clean_line
from agent_cli.tui.wrap import Line, cut, wrap

_SCOPES: dict[str, GrantScope] = {
    "approve": "once",
    "approve-call": "call",
    "approve-tool": "tool",
    "approve-always": "always",
}


ONCE = "each such change needs its own approval"


class Approvals(Vertical, can_focus=True):
    """The pending approvals as a list; the chosen one is shown in full."""

    DEFAULT_CSS = """
    Approvals {
        height: auto;
        max-height: 60%;
        margin: 1 1 0 1;
        padding: 0 1;
        display: none;
        background: $surface;
        border-left: outer $warning;
    }
    Approvals.-open { display: block; }
    Approvals Input {
        display: none; height: 1; border: none; padding: 0; margin-top: 1; background: $surface;
    }
    Approvals Input:focus { border: none; }
    Approvals.-why Input { display: block; }
    Approvals #keys { margin-top: 1; }
    """

    @dataclass
    class Decided(Message):
        answer: Answer

    @dataclass
    class Typed(Message):
        """A key that was not meant as an answer belongs to the composer."""

        text: str

    def __init__(self, ink: Ink, keys: Keys) -> None:
        super().__init__()
        self._ink = ink
        self._keys = keys
        self._pending: list[ApprovalRequested] = []
        self._answered: set[str] = set()
        self._at = 0
        self._grace = Grace()

    def compose(self):  # noqa: ANN201  Textual's ComposeResult costs an import
        yield Lines(id="what")
        yield Lines(id="keys")
        yield Input(placeholder="why not? Enter denies, Esc goes back", compact=True)

    @property
    def pending(self) -> tuple[ApprovalRequested, ...]:
        return tuple(self._pending)

    def sync(self, pending: dict[str, ApprovalRequested]) -> bool:
        """Takes over what waits now; True where the first one has come."""
        self._answered &= pending.keys()
        fresh = [asked for asked in pending.values() if asked.call_id not in self._answered]
        if fresh == self._pending:
            return False
        came = bool(fresh) and not self._pending
        shown = self._pending[self._at].call_id if self._pending else ""
        ids = [asked.call_id for asked in fresh]
        self._pending = fresh
        self._at = ids.index(shown) if shown in ids else 0
        if shown not in ids:
            self._grace.restart()
            self.remove_class("-why")
        self.set_class(bool(fresh), "-open")
        self._draw()
        return came

    def repaint(self, ink: Ink) -> None:
        self._ink = ink
        self._draw()

    def leave_reason(self) -> bool:
        """Back from the reason to the keys; False where no reason was being written."""
        if not self.has_class("-why"):
            return False
        self.remove_class("-why")
        self.focus()
        return True

    def _draw(self) -> None:
        what = self.query_one("#what", Lines)
        if not self._pending:
            return
        what.most = max(self.screen.size.height * 6 // 10 - 4, 2)
        what.put(self._what)
        self.query_one("#keys", Lines).put(self._offered)

    def _what(self, width: int) -> list[Line]:
        ink, asked = self._ink, self._pending[self._at]
        count = f"  {self._at + 1} of {len(self._pending)}" if len(self._pending) > 1 else ""
        title = f"? {cut(clean_line(asked.tool), 40)} asks for permission{count}"
        lines: list[Line] = [[Segment(cut(title, width), ink.warning)]]
        why = clean_line(asked.reason) + (f"  ({clean_line(asked.rule)})" if asked.rule else "")
        lines.extend([Segment("  "), *row] for row in wrap([Segment(f"why: {why}", ink.dim)], width - 2))
        if asked.once_only:
            lines.extend([Segment("  "), *row] for row in wrap([Segment(ONCE, ink.warn)], width - 2))
        for at, other in enumerate(self._pending):
            if len(self._pending) > 1:
                mark = "▸ " if at == self._at else "  "
                line = cut(f"{mark}{clean_line(other.tool)}  {clean_line(other.subject)}", width)
                lines.append([Segment(line, ink.text if at == self._at else ink.dim)])
        return [*lines, [], *_preview(asked, width, ink)]

    def _offered(self, width: int) -> list[Line]:
        asked, first = self._pending[self._at], self._keys.first
        offered = [(first("approve"), "once")]
        if not asked.once_only:
            offered += [(first("approve-call"), "this call"), (first("approve-tool"), "this tool")]
        if asked.suggestion and not asked.once_only:
            offered.append((first("approve-always"), f"always {clean_line(asked.suggestion)}"))
        offered += [(first("deny"), "deny"), (first("deny-why"), "deny, and say why")]
        if len(self._pending) > 1:
            offered.append((f"{first('next-approval')}/{first('previous-approval')}", "next, previous"))
        return _flow(offered, width, self._ink)

    async def _on_key(self, event: Key) -> None:
        if self.has_class("-why") or not self._pending:
            return
        action = self._keys.action("approval", pressed(event))
        if event.is_printable and (not self._grace.over or not action):
            self._grace.restart()
            self.post_message(self.Typed(event.character or ""))
        elif action in ("next-approval", "previous-approval"):
            step = 1 if action == "next-approval" else -1
            self._at = (self._at + step) % len(self._pending)
            self._draw()
        elif event.key in ("pagedown", "pageup"):
            self.query_one("#what", Lines).page(1 if event.key == "pagedown" else -1)
        elif action:
            if self._grace.over:
                self._choose(action)
        else:
            return
        event.stop()
        event.prevent_default()

    def _choose(self, action: str) -> None:
        asked = self._pending[self._at]
        if action == "deny-why":
            self.add_class("-why")
            reason = self.query_one(Input)
            reason.value = ""
            reason.focus()
        elif action == "deny":
            self._decide(Answer(asked.call_id, allowed=False))
        elif action == "approve" or not (
            asked.once_only or (action == "approve-always" and not asked.suggestion)
        ):
            self._decide(Answer(asked.call_id, allowed=True, scope=_SCOPES[action]))

    def _decide(self, answer: Answer) -> None:
        self._answered.add(answer.call_id)
        self.post_message(self.Decided(answer))
        self.sync({asked.call_id: asked for asked in self._pending})

    @on(Input.Submitted)
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        asked = self._pending[self._at]
        self.leave_reason()
        self._decide(Answer(asked.call_id, allowed=False, message=event.value.strip()))


def _preview(asked: ApprovalRequested, width: int, ink: Ink) -> list[Line]:
    match asked.preview:
        case FileDiff(path, diff, added, removed):
            title = [Segment(f"  {clean_line(path)}", ink.strong), Segment(f"  +{added} -{removed}", ink.dim)]
            return [title, *([Segment("  "), *line] for line in diff_lines(parse(diff), width - 2, ink))]
        case Shown(text):
            shown = text
        case None:
            shown = asked.subject
    rows = [
        row
        for line in clean(shown).split("\n")
        for row in wrap([Segment(line, ink.text)], width - 2, words=False)
    ]
    return [[Segment("  "), *row] for row in rows]


def _flow(offered: list[tuple[str, str]], width: int, ink: Ink) -> list[Line]:
    """Keys with their meanings, as many a line as fit."""
    lines: list[Line] = [[]]
    used = 0
    for key, whole in offered:
        meaning = cut(whole, max(width - len(key) - 3, 1))
        size = len(key) + 1 + len(meaning) + 3
        if used and used + size - 3 > width:
            lines.append([])
            used = 0
        lines[-1].extend([Segment(key, ink.heading), Segment(f" {meaning}   ", ink.dim)])
        used += size
    return lines
