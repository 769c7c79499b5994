"""Approvals, in place: what wants to run, why it asks, and keys that answer. The text above stays readable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.segment import Segment
from textual import on
from textual.containers import Vertical
from textual.events import Blur, DescendantBlur, Focus, Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from agent_cli.kernel.commands import Answer, GrantScope
from agent_cli.kernel.events import ApprovalRequested, FileDiff, Shown
from agent_cli.talk.untrusted import clean, clean_line
from agent_cli.tui.blocks.diff import diff_lines, parse
from agent_cli.tui.editing import Edit
from agent_cli.tui.grace import Grace
from agent_cli.tui.ink import Ink
from agent_cli.tui.keys import Keys, pressed
from agent_cli.tui.lines import Lines
from agent_cli.tui.wrap import Line, cut, wrap

_SCOPES: dict[str, GrantScope] = {
    "approve": "once",
    "approve-call": "call",
    "approve-tool": "tool",
    "approve-always": "always",
}


HOLD = 0.4
"""Seconds that a deciding key waits: a letter that follows makes both the beginning of a message."""

AROUND = 5
"""Cells of the margins, the border and the padding."""
WHY = "why not? Enter denies, Esc goes back"
WORDS = "your answer: Enter sends it, Esc goes back"
ONCE = "each such change needs its own approval"


class Approvals(Vertical, can_focus=True):
    """The pending approvals as a list; the chosen one is shown in full.

    `stray` gets keys that were not meant as an answer; they belong to the composer, and the focus with them.
    """

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

    def __init__(self, ink: Ink, keys: Keys, stray: Callable[..., None]) -> None:
        super().__init__()
        self._ink = ink
        self._keys = keys
        self._stray = stray
        self._held: tuple[str, Key] | None = None  # an action and the key that asked for it
        self._timer: Timer | None = None
        self._pending: list[ApprovalRequested] = []
        self._answered: set[str] = set()
        self._at = 0
        self._grace = Grace()

    def compose(self):  # noqa: ANN201  Textual's ComposeResult costs an import
        yield Lines(id="what")
        yield Lines(id="keys")
        yield Input(placeholder=WHY, compact=True)

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
            self._let_go()
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
        keys = len(self._offered(max(self.screen.size.width - AROUND, 8)))
        what.most = max(self.screen.size.height * 6 // 10 - keys - 1, 2)
        what.put(self._what)
        self.query_one("#keys", Lines).put(self._offered)

    def _what(self, width: int) -> list[Line]:
        ink, asked = self._ink, self._pending[self._at]
        count = f"  {self._at + 1} of {len(self._pending)}" if len(self._pending) > 1 else ""
        asks = f"{cut(clean_line(asked.agent), 40)} asks for permission to use" if asked.agent else ""
        tool = cut(clean_line(asked.tool), 40)
        if asked.options is not None:
            asks, tool = f"{cut(clean_line(asked.agent), 40) or 'the agent'} asks you", ""
        title = f"? {asks} {tool}{count}" if asks else f"? {tool} asks for permission{count}"
        lines: list[Line] = [[Segment(cut(title, width), ink.warning)]]
        why = clean_line(asked.reason) + (f"  ({clean_line(asked.rule)})" if asked.rule else "")
        lines.extend([Segment("  "), *row] for row in wrap([Segment(f"why: {why}", ink.dim)], width - 2))
        if asked.once_only and asked.options is None:
            lines.extend([Segment("  "), *row] for row in wrap([Segment(ONCE, ink.warn)], width - 2))
        for at, other in enumerate(self._pending):
            if len(self._pending) > 1:
                mark = "▸ " if at == self._at else "  "
                who = f"{other.agent}: {other.tool}" if other.agent else other.tool
                line = cut(f"{mark}{clean_line(who)}  {clean_line(other.subject)}", width)
                lines.append([Segment(line, ink.text if at == self._at else ink.dim)])
        return [*lines, [], *_preview(asked, width, ink)]

    def _offered(self, width: int) -> list[Line]:
        if self._held is not None:
            return [[Segment(f"{self._held[1].character} …", self._ink.dim)]]
        focused = self.screen.focused
        here = focused is not None and self in focused.ancestors_with_self
        lines = _flow(self._labels(short=False), width, self._ink, strong=here)
        if len(lines) > 2:
            lines = _flow(self._labels(short=True), width, self._ink, strong=here)
        if not here:
            way = f"{self._keys.first('switch')} comes here, to answer:"
            lines.insert(0, [Segment(cut(way, width), self._ink.accent)])
        return lines

    def _labels(self, *, short: bool) -> list[tuple[str, str]]:
        """Keys with what they do."""
        asked, first = self._pending[self._at], self._keys.first
        if asked.options is not None:
            numbers = [(str(number), clean_line(option)) for number, option in enumerate(asked.options, 1)]
            own = [(first("deny-why"), "answer in your words"), (first("deny"), "do not answer")]
            return [*numbers, *own]
        offered = [(first("approve"), "once")]
        if asked.editable:
            offered.append((first("approve-changed"), "change it, then agree"))
        if not asked.once_only:
            offered += [
                (first("approve-call"), "exact call" if short else "this exact call"),
                (first("approve-tool"), "every call" if short else "every call of this tool"),
            ]
        if asked.suggestion and not asked.once_only:
            rule = clean_line(asked.suggestion)
            offered.append((first("approve-always"), f"always {rule}" if short else f"always ({rule})"))
        offered += [(first("deny"), "deny"), (first("deny-why"), "say why" if short else "deny, and say why")]
        if len(self._pending) > 1:
            offered.append((f"{first('next-approval')}/{first('previous-approval')}", "next, previous"))
        return offered

    @on(Focus)
    @on(Blur)
    @on(DescendantBlur)
    def _moved(self) -> None:
        self._let_go()
        self._draw()

    async def _on_key(self, event: Key) -> None:
        if self.has_class("-why") or not self._pending:
            return
        action = self._numbered(event) or self._keys.action("approval", pressed(event))
        if self.screen.focused is not self:  # it came before the focus moved on
            self._stray(event)
        elif self._held is not None:
            self._settle(event)
        elif event.is_printable and (not self._grace.over or not self._offers(action)):
            self._grace.restart()
            self._stray(event)
        elif action in ("next-approval", "previous-approval") and self._offers(action):
            step = 1 if action == "next-approval" else -1
            self._at = (self._at + step) % len(self._pending)
            self._draw()
        elif event.key in ("pagedown", "pageup"):
            self.query_one("#what", Lines).page(1 if event.key == "pagedown" else -1)
        elif self._offers(action) and self._grace.over:
            self._hold(action, event)
        elif not self._offers(action):
            return
        event.stop()
        event.prevent_default()

    def _hold(self, action: str, event: Key) -> None:
        """A key that types nothing cannot begin a message, and decides at once."""
        if not event.is_printable:
            self._choose(action)
            return
        self._held = action, event
        self._timer = self.set_timer(HOLD, self._take)
        self._draw()

    def _settle(self, event: Key) -> None:
        """Another key while one is held: Enter confirms, a letter makes a message of both, others take it back."""
        if event.key == "enter":
            self._take()
            return
        held = self._let_go()
        if event.is_printable and held is not None:
            self._grace.restart()
            self._stray(held[1], event)
        self._draw()

    def _take(self) -> None:
        held = self._let_go()
        if held is not None and self._pending:
            self._choose(held[0])
            self._draw()

    def _let_go(self) -> tuple[str, Key] | None:
        """Nothing is held any more; returns what was."""
        if self._timer is not None:
            self._timer.stop()
        held, self._held, self._timer = self._held, None, None
        return held

    def _offers(self, action: str) -> bool:
        """Whether the chosen request can be answered like that."""
        asked = self._pending[self._at]
        if asked.options is not None:
            return action.isdecimal() or action in ("deny", "deny-why") or self._turns(action)
        if action == "approve-changed":
            return asked.editable
        if action == "approve-always":
            return bool(asked.suggestion) and not asked.once_only
        if action in ("next-approval", "previous-approval"):
            return self._turns(action)
        return bool(action) and (action not in ("approve-call", "approve-tool") or not asked.once_only)

    def _turns(self, action: str) -> bool:
        return action in ("next-approval", "previous-approval") and len(self._pending) > 1

    def _numbered(self, event: Key) -> str:
        """The number of an option of the question that is shown, "" for another key."""
        options, char = self._pending[self._at].options or (), event.character or ""
        return char if char in map(str, range(1, len(options) + 1)) else ""

    def _choose(self, action: str) -> None:
        asked = self._pending[self._at]
        if asked.options and action.isdecimal():
            self._decide(Answer(asked.call_id, allowed=True, edit=asked.options[int(action) - 1]))
            return
        if action == "deny-why":
            self.add_class("-why")
            reason = self.query_one(Input)
            reason.value = ""
            reason.placeholder = WHY if asked.options is None else WORDS
            reason.focus()
        elif action == "deny":
            self._decide(Answer(asked.call_id, allowed=False))
        elif action == "approve-changed":
            self.post_message(Edit(_text(asked), partial(self._agree, asked.call_id)))
        else:
            self._decide(Answer(asked.call_id, allowed=True, scope=_SCOPES[action]))

    def _agree(self, call_id: str, changed: str) -> None:
        """To what the operator made of the text of that call, if it still waits and he left anything of it."""
        asked = next((asked for asked in self._pending if asked.call_id == call_id), None)
        if asked is not None and changed.strip():
            self._decide(
                Answer(call_id, allowed=True, edit="" if changed == _text(asked).rstrip() else changed)
            )

    def _decide(self, answer: Answer) -> None:
        self._answered.add(answer.call_id)
        self.post_message(self.Decided(answer))
        self.sync({asked.call_id: asked for asked in self._pending})

    @on(Input.Submitted)
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        asked = self._pending[self._at]
        self.leave_reason()
        said = event.value.strip()
        if asked.options is None:
            self._decide(Answer(asked.call_id, allowed=False, message=said))
        elif said:
            self._decide(Answer(asked.call_id, allowed=True, edit=said))


def _text(asked: ApprovalRequested) -> str:
    return asked.preview.text if isinstance(asked.preview, Shown) else asked.subject


def _preview(asked: ApprovalRequested, width: int, ink: Ink) -> list[Line]:
    match asked.preview:
        case FileDiff(path, diff, added, removed):
            title = [Segment(f"  {clean_line(path)}", ink.strong), Segment(f"  +{added} -{removed}", ink.dim)]
            return [title, *([Segment("  "), *line] for line in diff_lines(parse(diff), width - 2, ink))]
        case Shown() | None:
            shown = _text(asked)
    rows = [
        row
        for line in clean(shown).split("\n")
        for row in wrap([Segment(line, ink.text)], width - 2, words=False)
    ]
    return [[Segment("  "), *row] for row in rows]


def _flow(offered: list[tuple[str, str]], width: int, ink: Ink, *, strong: bool) -> list[Line]:
    """Keys with their meanings, as many a line as fit; `strong` where the keys work now."""
    lines: list[Line] = [[]]
    used = 0
    for key, whole in offered:
        meaning = cut(whole, max(width - len(key) - 1, 1))
        size = len(key) + 1 + len(meaning)
        if used and used + 3 + size > width:
            lines.append([])
            used = 0
        if used:
            lines[-1].append(Segment(" · ", ink.faint))
        lines[-1].extend([Segment(key, ink.heading if strong else ink.dim), Segment(f" {meaning}", ink.dim)])
        used += size + (3 if used else 0)
    return lines
