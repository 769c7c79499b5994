"""What stops a session across turns: a fold of its log, so that a halt survives a restart."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from agent_cli.guardrails.budgets import SESSION_RESERVE, TURN_COST, halted_by_cost, least_to_add
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits

IN_A_ROW = 3
"""Turns that end in the same turn-scoped stop, one after the other, before the session halts."""


class Halt(NamedTuple):
    """Why turns are refused. `least_usd` is what a reset has to add at least, 0 where a bare one is enough.

    `how` are the words that clear it where no reset does.
    """

    guardrail: str
    reason: str
    least_usd: float = 0.0
    how: str = ""


class Halts(msgspec.Struct):
    """Fed every event of a session, in order. Counts are of turns in a row.

    `ceiling` is the session's cost ceiling as the last trip knew it, without what was granted. `mode` is that of the
    watchdog in the latest turn, "" where nobody knows it, `ceilings` what that turn had; `unread` are trips and resets that could not be read.
    """

    trips: list[ev.GuardrailTrip] = msgspec.field(default_factory=list[ev.GuardrailTrip])
    watchdog: ev.GuardrailTrip | None = None
    cost: ev.GuardrailTrip | None = None
    added_usd: float = 0.0
    ceiling: float | None = None
    dear_turns: int = 0
    cuts: int = 0
    cut_by: str = ""
    mode: str = ""
    ceilings: Limits | None = None
    unread: int = 0
    _dear: bool = False
    _cut: str = ""

    def feed(self, event: ev.Recorded) -> None:
        match event:
            case ev.GuardrailTrip():
                self._trip(event)
            case ev.GuardrailReset(guardrail, added):
                self._reset(guardrail, added)
            case ev.TurnStarted(guards=guards, ceilings=ceilings):
                self._dear, self._cut = False, ""
                self.mode, self.ceilings = guards.rpartition(" ")[2], ceilings
            case ev.TurnCompleted():
                self._end_turn()
            case ev.TurnError(error_kind) if error_kind != "refused":
                self._end_turn()
            case ev.OperatorNote(unread="guardrail-trip" | "guardrail-reset"):
                self.unread += 1
            case _:
                pass  # nothing else is about what stops a session

    def _trip(self, trip: ev.GuardrailTrip) -> None:
        self.trips.append(trip)
        if trip.guardrail == "watchdog":
            self._cut = trip.signal
            self.watchdog = trip if trip.scope == "session" else self.watchdog
        elif trip.guardrail == "cost_ceiling":
            self._dear = self._dear or trip.signal == TURN_COST
            if trip.scope == "session" and trip.signal in (TURN_COST, SESSION_RESERVE):
                self.cost = trip
            if trip.scope == "session" and trip.signal != TURN_COST and trip.limit is not None:
                self.ceiling = trip.limit - self.added_usd

    def _reset(self, guardrail: str, added: float) -> None:
        self.added_usd += added
        if guardrail in ("watchdog", "all"):
            self.watchdog, self.cuts, self.cut_by = None, 0, ""
        if guardrail in ("cost_ceiling", "all"):
            self.cost, self.dear_turns = None, 0

    def _end_turn(self) -> None:
        self.dear_turns = self.dear_turns + 1 if self._dear else 0
        self.cuts = (self.cuts if self._cut == self.cut_by else 0) + 1 if self._cut else 0
        self.cut_by = self._cut
        self._dear, self._cut = False, ""

    def dear_again(self) -> int:
        """The how-manieth turn in a row this one is, if it costs too much."""
        return self.dear_turns + 1

    def cut_again(self, signal: str) -> int:
        """The how-manieth turn in a row this one is, if that signal cuts it."""
        return self.cuts + 1 if signal == self.cut_by else 1

    def limits(self, limits: Limits) -> Limits:
        """The ceilings in force: granted budget raises the session's, if there still is one."""
        if not (limits.max_session_cost and self.added_usd):
            return limits
        return msgspec.structs.replace(limits, max_session_cost=limits.max_session_cost + self.added_usd)

    def standing(self, cost: float, limits: Limits, *, enforced: bool) -> tuple[Halt, ...]:
        """Everything that refuses turns now. What the log restored never overrules the live `limits` (as configured)
        and whether the watchdog is `enforced`. `cost` is what the session has cost, in USD.
        """
        found: list[Halt] = []
        now = self.limits(limits)
        breach = halted_by_cost(cost, now)
        if breach is not None:
            found.append(Halt("cost_ceiling", breach.reason, breach.least))
        elif self.cost is not None:
            found += _restored(self.cost, now)
        if self.watchdog is not None and enforced:
            found.append(Halt("watchdog", self.watchdog.reason))
        return tuple(found)


def _restored(trip: ev.GuardrailTrip, now: Limits) -> list[Halt]:
    """A cost halt that the figures alone do not show."""
    if trip.signal == TURN_COST:
        return [Halt("cost_ceiling", trip.reason)] if now.max_turn_cost else []
    needed, ceiling = trip.used or 0.0, now.max_session_cost
    if not ceiling or needed <= ceiling:
        return []
    return [Halt("cost_ceiling", trip.reason, least_to_add(needed, ceiling, met=False))]


def refused(halts: tuple[Halt, ...], guardrail: str, added: float) -> float:
    """The least USD that a reset of `guardrail` has to add, where `added` is not enough; 0 where it may be done."""
    least = max((halt.least_usd for halt in halts if guardrail in (halt.guardrail, "all")), default=0.0)
    return least if added + 1e-9 < least else 0.0
