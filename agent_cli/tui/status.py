"""The status bar: what is going on, what it fills, what it costs. Pieces shorten and drop as the width shrinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from agent_cli.engine.state import State
from agent_cli.kernel.commands import Mode
from agent_cli.talk.amounts import dollars, gauge, money, tokens
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.call import seconds
from agent_cli.tui.ink import Ink
from agent_cli.tui.repository import Repository
from agent_cli.tui.wrap import Line, cut

BAR = 8
SPINNER = "◐◓◑◒"


NEAR = 0.8
"""Share of a ceiling from which on it is marked."""
LONG = 10.0
"""Seconds after which it is told how long a question waits."""


@dataclass(slots=True)
class Activity:
    """What the state does not know. `rate` is tokens a second, estimated, 0 while nothing streams.

    `broken` says that the session cannot go on. `work` is what goes on between turns, "" for nothing; `elapsed` are the seconds of it, or of the turn.
    `halted` says that every turn is refused. `stops` is the key that interrupts. `typing` is the mode of the keys, "" where there is only one. `watchdog` is its mode, "" where nobody knows it. `queued` counts messages that wait. `held` says how long an approval has waited and what it holds up.
    """

    connecting: bool = True
    broken: bool = False
    halted: bool = False
    rate: float = 0.0
    elapsed: float = 0.0
    waiting: str = ""
    work: str = ""
    stops: str = "Esc"
    typing: str = ""
    beat: int = 0
    hint: str = ""
    below: bool = False
    queued: int = 0
    held: str = ""
    watchdog: str = ""
    alerts: int = 0
    repository: Repository | None = None


class Piece(NamedTuple):
    """`forms` go from long to short; an empty one drops the piece. The highest `rank` gives way first.

    `drops` is the rank by which it drops and comes back, where that is another one.
    """

    rank: int
    forms: tuple[tuple[tuple[str, Style], ...], ...]
    right: bool = False
    drops: int | None = None

    def yields(self, form: int) -> tuple[int, bool]:
        """How soon that form gives way to the next one; of equals one that only shortens goes first."""
        shortens = bool(self.forms[form + 1])
        return (self.rank if self.drops is None or shortens else self.drops), shortens

    def returns(self, form: int) -> int:
        """How soon it is given back what is left over."""
        return self.rank if self.drops is None or self.forms[form] else self.drops


class StatusBar(Widget):
    DEFAULT_CSS = """
    StatusBar { height: 1; margin: 0 1; background: $background; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[Piece] = []
        self._shown = Strip([], 0)
        self.draws = 0

    def put(self, pieces: list[Piece]) -> None:
        if pieces != self._pieces:
            self._pieces = pieces
            self.refresh()

    def render_line(self, y: int) -> Strip:
        self.draws += 1
        width = self.size.width
        return Strip(fitted(self._pieces, width)).crop_extend(0, width, None).apply_style(self.rich_style)


def pieces(state: State | None, activity: Activity, model: str, mode: Mode, ink: Ink) -> list[Piece]:
    """All there is to say, in the order of the screen."""
    found = [_doing(state, activity, ink), _mode(state.mode if state else mode, ink)]
    if activity.typing:
        found.append(Piece(2, (((activity.typing, ink.accent),), ((activity.typing[:1], ink.accent),))))
    name = clean_line(f"{state.card.id} {state.effort}".strip() if state else model)
    if name:
        short = name.rpartition("/")[2]
        found.append(Piece(5, (((name, ink.dim),), ((short, ink.dim),), ((cut(short, 14), ink.dim),), ())))
    if state is not None and state.task_class:
        kind = clean_line(state.task_class)
        found.append(Piece(7, (((f"{kind} work", ink.dim),), ((cut(kind, 12), ink.dim),), ())))
    if activity.repository is not None:
        found.append(_branch(activity.repository, ink))
    if activity.rate >= 1:
        found.append(Piece(7, (((f"~{activity.rate:.0f} tok/s", ink.dim),), ())))
    if activity.queued:
        count = str(activity.queued)
        found.append(Piece(5, (((f"↳ {count} queued", ink.accent),), ((f"↳{count}", ink.accent),), ())))
    if activity.watchdog or activity.alerts:
        found.append(_watchdog(activity, ink))
    if state is not None:
        found.extend(_figures(state, ink))
    return found


def fitted(wanted: list[Piece], width: int) -> Line:
    """The pieces as one line of at most `width` cells."""
    forms = _chosen(wanted, width)
    shown = [
        (piece, piece.forms[form]) for piece, form in zip(wanted, forms, strict=True) if piece.forms[form]
    ]
    spare = max(width - _total(wanted, forms), 0)
    line: Line = []
    turned = False
    for number, (piece, form) in enumerate(shown):
        gap = 2 if number else 0
        if piece.right and not turned:
            gap, turned = gap + spare, True
        line.extend([Segment(" " * gap), *(Segment(text, style) for text, style in form)])
    return line


def _chosen(wanted: list[Piece], width: int) -> list[int]:
    """Which form of each piece: the least important shorten first, and what then is left over is given back."""
    forms = [0] * len(wanted)
    while _total(wanted, forms) > width:
        candidates = [at for at, piece in enumerate(wanted) if forms[at] + 1 < len(piece.forms)]
        if not candidates:
            break
        forms[max(candidates, key=lambda at: wanted[at].yields(forms[at]))] += 1
    for at in sorted(range(len(wanted)), key=lambda at: wanted[at].returns(forms[at])):
        for form in range(forms[at]):
            longer = [*forms[:at], form, *forms[at + 1 :]]
            if _total(wanted, longer) <= width:
                forms = longer
                break
    return forms


def _total(wanted: list[Piece], forms: list[int]) -> int:
    lengths = [_length(piece.forms[form]) for piece, form in zip(wanted, forms, strict=True)]
    return sum(lengths) + 2 * max(sum(map(bool, lengths)) - 1, 0)


def _length(form: tuple[tuple[str, Style], ...]) -> int:
    return sum(cell_len(text) for text, _ in form)


def _doing(state: State | None, activity: Activity, ink: Ink) -> Piece:
    if activity.hint:
        return Piece(0, tuple(((cut(activity.hint, room), ink.accent),) for room in (200, 60, 36, 24, 12)))
    if state is None and activity.connecting:
        return Piece(1, ((("◌ starting", ink.dim),), (("◌", ink.dim),)))
    if state is None:
        return Piece(1, ((("✗ no session", ink.bad),), (("✗", ink.bad),)))
    if activity.broken:
        return Piece(1, ((("✗ cannot go on", ink.bad),), (("✗", ink.bad),)))
    if state.pending:
        forms = dict.fromkeys(
            (f"? waits for your answer{activity.held}", "? waits for your answer", "? waits")
        )
        return Piece(0, tuple(((text, ink.warn),) for text in forms))
    if not state.running and not activity.work:
        return _resting(activity, ink)
    spin = SPINNER[activity.beat % len(SPINNER)]
    passed = int(activity.elapsed)
    time = "" if not passed else f"{passed}s" if passed < 60 else seconds(passed)
    what = activity.work or activity.waiting or "working"
    below = "  ↓ more below" if activity.below else ""
    head = (f"{spin} {what} {time}".rstrip(), ink.accent)
    brief = (f"{spin} {what.partition(':')[0]} {time}".rstrip(), ink.accent)
    stops = (f"  {activity.stops} interrupts", ink.faint)
    return Piece(
        1,
        (
            (head, stops, (below, ink.accent)),
            (head, (below, ink.accent)),
            (head,),
            *(((brief, stops), (brief,)) if brief != head else ()),
            ((f"{spin} {time}".rstrip(), ink.accent),),
            ((spin, ink.accent),),
        ),
    )


def _resting(activity: Activity, ink: Ink) -> Piece:
    if activity.halted:
        halt, below = ("■ halted", ink.bad), ("  ↓ more below" if activity.below else "", ink.accent)
        return Piece(1, ((halt, below), (halt,), (("■", ink.bad),)))
    if activity.waiting:
        return Piece(
            1, tuple(((f"! {cut(activity.waiting, room)}", ink.warn),) for room in (200, 60, 36, 20))
        )
    if activity.below:
        return Piece(6, ((("↓ more below", ink.accent),), (("↓", ink.accent),), ()), drops=1)
    return Piece(6, ((("○ ready", ink.dim),), (("○", ink.dim),), ()), drops=1)


def held_up(state: State, waited: float) -> str:
    """Of a question that waits for long: since when, and what cannot go on before it is answered."""
    if waited < LONG:
        return ""
    calls = max(state.open_calls - len(state.pending), 0)
    held = [f"{calls} more call{'s' * (calls != 1)}"] * bool(calls)
    held += [f"{len(state.waiting)} message{'s' * (len(state.waiting) != 1)}"] * bool(state.waiting)
    return f" {seconds(waited)}" + (f", holds up {' and '.join(held)}" if held else "")


def _mode(mode: Mode, ink: Ink) -> Piece:
    style = {"ask": ink.dim, "acceptEdits": ink.accent, "allow": ink.dim, "plan": ink.good, "yolo": ink.bad}[
        mode
    ]
    word = {"acceptEdits": "accept edits", "yolo": "! yolo"}.get(mode, mode)
    return Piece(3, (((f"{word} mode", style),), ((word, style),)))


def _branch(repository: Repository, ink: Ink) -> Piece:
    """A star behind the branch says that something is not committed."""
    mark = "*" if repository.dirty else ""
    name = clean_line(repository.branch)
    forms = dict.fromkeys((cut(name, 32) + mark, cut(name, 12) + mark))
    return Piece(8, (*(((text, ink.dim),) for text in forms), ()))


def _watchdog(activity: Activity, ink: Ink) -> Piece:
    """With alerts it stays longer than without."""
    mode = f"watchdog {clean_line(activity.watchdog)}" if activity.watchdog else "watchdog"
    if not activity.alerts:
        return Piece(10, (((mode, ink.dim),), ()))
    count = f"{activity.alerts} alert{'s' * (activity.alerts != 1)}"
    texts = (f"{mode}: {count}", f"! {count}", f"!{activity.alerts}")
    return Piece(3, (*(((text, ink.warn),) for text in texts), ()), drops=1)


def _figures(state: State, ink: Ink) -> list[Piece]:
    found: list[Piece] = []
    limits = state.limits
    if state.turn_steps and state.running:
        steps = f"step {state.turn_steps}" + (f"/{limits.max_steps}" if limits.max_steps else "")
        made = state.turn_calls + (state.turn_calls_below if limits.max_tool_calls else 0)
        most = f"/{limits.max_tool_calls}" if limits.max_tool_calls else ""
        calls = f"{made}{most} call{'s' * (made != 1 or bool(most))}"
        found.append(Piece(6, (((f"{steps} · {calls}", ink.dim),), ((steps, ink.dim),), ())))
    if state.started:
        found.append(_cost(state, ink))
    if state.context_limit is not None:
        found.append(_distance(state, state.context_limit, ink))
    found.append(_context(state, ink))
    return found


def _cost(state: State, ink: Ink) -> Piece:
    """The turn and the session, each with its ceiling, and how much of the prompts came from a cache."""
    total, turn = money(state.total), money(state.turn_row)
    limit = state.limits.max_session_cost
    ceiling = limit + state.halts.added_usd if limit is not None else None
    whole = f"{total} of {_ceiling(ceiling)}" if ceiling else total
    most = state.limits.max_turn_cost
    of_turn = f"{turn} of {_ceiling(most)}" if most else turn
    share = state.total.usage.cached_share
    cached = f"{share:.0%} cached" if share else ""
    near = (ceiling is not None and state.total.cost >= NEAR * ceiling) or (
        most is not None and state.turn_row.cost >= NEAR * most
    )
    style = ink.warn if near else ink.dim
    turned = f"turn {of_turn} · {whole}" if state.turn_row.steps and (turn != total or most) else whole
    long = " · ".join(part for part in (turned, cached) if part)
    forms = tuple(((text, style),) for text in dict.fromkeys((long, turned, whole, total)))
    return Piece(4, (*forms, ()), right=True, drops=2)


def _ceiling(usd: float) -> str:
    """In cents, unless it has parts of one."""
    return f"${usd:.2f}" if usd >= 1 or round(usd, 2) == usd else dollars(usd)


def _distance(state: State, limit: int, ink: Ink) -> Piece:
    """How far it is to the next compaction."""
    left = limit - state.context_tokens
    if left <= 0:
        return Piece(5, ((("compaction due", ink.warn),), ()), right=True)
    return Piece(9, (((f"compacts in {tokens(left)}", ink.dim),), ()), right=True)


def _context(state: State, ink: Ink) -> Piece:
    window, used = state.card.window, state.context_tokens
    about = "~" if state.context_estimated else ""
    amount = about + tokens(used)
    if not window:
        return Piece(
            2, (((f"context {amount} / unknown", ink.dim),), ((f"{amount} / ?", ink.dim),)), right=True
        )
    share = min(used / window, 1.0)
    percent = f"{about}{used / window:.0%}"
    near = 0.9 * state.context_limit if state.context_limit is not None else 0.75 * window
    style = ink.bad if share >= 0.9 else ink.warn if used >= near else ink.accent
    full, empty = gauge(used, window, state.context_limit, BAR)
    bar = ((full, style), (empty, ink.faint), (" ", ink.dim))
    figures = f"{amount} / {tokens(window)}"
    low = (percent + ("!" if share >= 0.9 else ""), ink.dim if style is ink.accent else style)
    return Piece(
        2,
        (
            (*bar, (f"{figures}  ", ink.dim), low),
            (*bar, low),
            (low,),
        ),
        right=True,
    )
