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
from textual.widget import Widget
from textual.widgets import Input

from agent_cli.kernel.commands import Answer, GrantScope
from agent_cli.kernel.events import ApprovalRequested
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.asking import Question, flow, text_of
from agent_cli.tui.editing import Edit
from agent_cli.tui.entry import Entry
from agent_cli.tui.grace import Grace
from agent_cli.tui.ink import Ink
from agent_cli.tui.keys import Keys, leaves, pressed
from agent_cli.tui.lines import Lines
from agent_cli.tui.wrap import Line, cut

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
SHARE = 0.6
"""Of the screen that it takes at most, as long as the question has `LEAST` rows of it and the transcript `ABOVE`."""
LEAST, ABOVE = 10, 1
WHY = "why not? Enter denies, Esc: back"
WORDS = "your answer: Enter sends it, Esc: back"


class Approvals(Vertical, can_focus=True):
    """The pending approvals as a list; the chosen one is shown in full.

    `stray` gets keys that were not meant as an answer; they belong to the composer, and the focus with them.
    """

    DEFAULT_CSS = """
    Approvals {
        height: auto;
        margin: 1 1 0 1;
        padding: 0 1;
        display: none;
        background: $surface;
        border-left: outer $warning;
    }
    Approvals.-open { display: block; }
    Approvals Input {
        display: none; height: 1; border: none; padding: 0; background: $surface;
    }
    Approvals Input:focus { border: none; }
    Approvals.-why Input { display: block; }
    Approvals #keys { margin-top: 1; }
    Approvals.-tight #keys { margin-top: 0; }
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
        self._room = 0
        self._folded = False  # a part of the question is left out
        self._asks = Question((), 0, ink, "")

    def compose(self):  # noqa: ANN201  Textual's ComposeResult costs an import
        yield Lines(id="what")
        yield Lines(id="keys")
        yield Entry()

    @property
    def pending(self) -> tuple[ApprovalRequested, ...]:
        return tuple(self._pending)

    def sync(self, pending: dict[str, ApprovalRequested]) -> bool:
        """Takes over what waits now; True where the first one has come."""
        self._answered &= pending.keys()
        fresh = [asked for asked in pending.values() if asked.call_id not in self._answered]
        if fresh == self._pending:
            if fresh and self._room != self._rows():
                self._draw()
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
        self._draw()
        return True

    def page(self, step: int) -> bool:
        """What it shows, all of it then; False where the keys are not here."""
        if not self.has_focus_within or not self._pending:
            return False
        what = self.query_one("#what", Lines)
        if self._folded:
            width = what.scrollable_content_region.width
            start = self._asks.left_out(width, what.most) if step > 0 else 0
            self._folded = False
            what.put(self._asks.whole)
            self.call_after_refresh(
                what.scroll_to, y=start, animate=False
            )  # before, it has no more rows than fit
        else:
            what.page(step)
        return True

    def _draw(self) -> None:
        if not self._pending:
            return
        self._room = room = self._rows()
        keys = len(self._offered(max(self.screen.size.width - AROUND, 8))) + self.has_class("-why")
        least = max(int(self.screen.size.height * SHARE), min(keys + 1 + LEAST, room - ABOVE))
        rows = min(least, room) - keys
        self.set_class(rows < LEAST, "-tight")
        what = self.query_one("#what", Lines)
        what.most = max(rows - (rows >= LEAST), 1)
        more = self._keys.first("page-down") if self.has_focus_within else ""
        self._asks = Question(self._pending, self._at, self._ink, more)
        self._folded = len(self._asks.whole(what.size.width or self.screen.size.width - AROUND)) > what.most
        what.put(lambda width: self._asks.brief(width, what.most))
        self._draw_keys()

    def _draw_keys(self) -> None:
        if self._pending:
            self.query_one("#keys", Lines).put(self._offered)

    def _rows(self) -> int:
        """Those that the rest of the screen leaves, without our margin. The transcript gives all but one of its rows."""
        around = self.parent.children if isinstance(self.parent, Widget) else ()
        others = [
            child
            for child in around
            if child.display and child is not self and child.layer != "above" and not _gives_way(child)
        ]
        taken = sum(child.outer_size.height + child.styles.margin.height for child in others)
        return max(self.screen.size.height - taken - self.styles.margin.height - 1, 1)

    def _offered(self, width: int) -> list[Line]:
        if self._held is not None:
            return [[Segment(f"{self._held[1].character} …", self._ink.dim)]]
        if self.has_class("-why"):
            hint = WHY if self._pending[self._at].options is None else WORDS
            return [[Segment(cut(hint, width), self._ink.dim)]]
        focused = self.screen.focused
        here = focused is not None and self in focused.ancestors_with_self
        lines = flow(self._labels(short=False), width, self._ink, strong=here)
        if len(lines) > 2:
            lines = flow(self._labels(short=True), width, self._ink, strong=here)
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
        late = self.screen.focused is not self  # it came before the focus moved on
        if late or (leaves(self._keys, event) and not action):
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
        self._draw_keys()

    def _settle(self, event: Key) -> None:
        """Another key while one is held: Enter confirms, a letter makes a message of both, others take it back."""
        if event.key == "enter":
            self._take()
            return
        held = self._let_go()
        if event.is_printable and held is not None:
            self._grace.restart()
            self._stray(held[1], event)
        self._draw_keys()

    def _take(self) -> None:
        held = self._let_go()
        if held is not None and self._pending:
            self._choose(held[0])
            self._draw_keys()

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
            reason.focus()
            self._draw()
        elif action == "deny":
            self._decide(Answer(asked.call_id, allowed=False))
        elif action == "approve-changed":
            self.post_message(Edit(text_of(asked), partial(self._agree, asked.call_id)))
        else:
            self._decide(Answer(asked.call_id, allowed=True, scope=_SCOPES[action]))

    def _agree(self, call_id: str, changed: str) -> None:
        """To what the operator made of the text of that call, if it still waits and he left anything of it."""
        asked = next((asked for asked in self._pending if asked.call_id == call_id), None)
        if asked is not None and changed.strip():
            self._decide(
                Answer(call_id, allowed=True, edit="" if changed == text_of(asked).rstrip() else changed)
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


def _gives_way(widget: Widget) -> bool:
    """Whether it takes what the others leave."""
    height = widget.styles.height
    return height is not None and height.is_fraction
