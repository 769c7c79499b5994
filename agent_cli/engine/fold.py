"""What a long log came to, kept beside it, so that opening the session again reads only its end.

The log stays the only truth: a kept fold counts only where it was made by this program from this log, as the entry
that it ends with shows, and is left out otherwise. It ends before a message of the operator, where no call is open,
no subtask runs and the watchdog begins anew.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import Protocol

import msgspec

from agent_cli.context.view import KeptView, View
from agent_cli.engine.state import State
from agent_cli.kernel.events import Entry, OperatorMessage, SessionStarted
from agent_cli.kernel.values import Plain
from agent_cli.kernel.wire import to_json
from agent_cli.ports import Folds, Log

EVERY = 5_000
"""Facts from one kept fold to the next: what is read again at most, and one turn."""
LARGEST = 16_000_000
"""Bytes; a larger one would save nothing."""
OF_NOW = ("session", "card", "limits", "cwd", "effort", "task_class", "checkpoint", "context_limit", "branch")
"""What the state has from how the session is opened, not from its log."""


class Fold(Plain, frozen=True):
    """`mark` is of the entry `seq`, the last one in it. `undone` are ranges of entries, begin and end."""

    seq: int
    mark: str
    state: State
    view: KeptView
    started: SessionStarted
    last_model: tuple[str, str]
    call_ids: set[str]
    undone: list[tuple[int, int]]


class Folded(Protocol):
    """What a core knows from its log."""

    state: State
    view: View
    started: SessionStarted
    last_model: tuple[str, str]
    call_ids: set[str]
    undone: list[range]


class Keeper:
    """Of one session's core. Does nothing where nothing is kept."""

    def __init__(self, core: Folded, log: Log, folds: Folds | None) -> None:
        self._core = core
        self._log = log
        self._folds = folds
        self._last: Entry | None = None
        self._at = 0
        self._waiting: bytes | None = None

    def restored(self) -> Entry | None:
        """The last entry of the kept fold, which the core then has in it; None where none fits."""
        raw = self._folds.get() if self._folds is not None else None
        if raw is None:
            return None
        try:
            fold = msgspec.msgpack.decode(raw, type=Fold)
        except (msgspec.MsgspecError, RecursionError):
            return None
        last = next(iter(self._log.read(fold.seq - 1)), None)
        if last is None or last.seq != fold.seq or _mark(last) != fold.mark:
            return None
        _put(self._core, fold)
        self._last, self._at = last, fold.seq
        return last

    def see(self, entry: Entry, *, live: bool) -> None:
        """Before the core folds it."""
        if self._folds is None:
            return
        last, self._last = self._last, entry
        event = entry.event
        if not isinstance(event, OperatorMessage) or event.by != "operator" or entry.branch:
            return
        if last is None or last.seq - self._at < EVERY:
            return
        self._at = last.seq
        with contextlib.suppress(ValueError, OverflowError, TypeError, RecursionError):
            # Halves of surrogate pairs and numbers of more than 64 bits: the log holds them, a fold does not.
            self._waiting = msgspec.msgpack.encode(_of(self._core, last))
        if live:
            self.settle()

    def settle(self) -> None:
        """Writes what waits. While a log is read, only the last one counts."""
        if self._waiting is not None and self._folds is not None and len(self._waiting) <= LARGEST:
            self._folds.put(self._waiting)
        self._waiting = None


def _of(core: Folded, last: Entry) -> Fold:
    undone = [(some.start, some.stop) for some in core.undone]
    kept = core.view.kept()
    return Fold(last.seq, _mark(last), core.state, kept, core.started, core.last_model, core.call_ids, undone)


def _put(core: Folded, fold: Fold) -> None:
    for name in OF_NOW:
        setattr(fold.state, name, getattr(core.state, name))
    core.state = fold.state
    core.view.restore(fold.view)
    core.started, core.last_model = fold.started, fold.last_model
    core.call_ids.update(fold.call_ids)
    core.undone.extend(range(start, stop) for start, stop in fold.undone)


def _mark(entry: Entry) -> str:
    said = f"{entry.session} {entry.seq} {entry.time!r} {entry.turn} {entry.step} {entry.branch} "
    return hashlib.blake2b((said + to_json(entry.event)).encode(), digest_size=16).hexdigest()
