"""The pool that a run shares with others: from settings, history and ceilings to a gate before its turns."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import msgspec

from agent_cli.compose.budgets import limits
from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.compose.subtasks import children
from agent_cli.config.settings import Settings
from agent_cli.guardrails.admission import (
    Lacking,
    Pool,
    Tree,
    estimate,
    worst_tree,
)
from agent_cli.guardrails.gate import Refused, Room, Slice, Terms
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConfigError

if TYPE_CHECKING:  # sqlite3 is imported when there is a pool
    from agent_cli.config.sections.limits import Admission
    from agent_cli.store.lease import Lease
    from agent_cli.store.pools import Held, Pools

LEAST_SLICE = 0.01
"""Dollars that a degraded run must have."""


def gate_of(options: RunOptions, settings: Settings, session: str, task: str) -> PoolGate | None:
    """None where no pool is named. Raises ConfigError for one that nobody made, StoreError."""
    said = settings.admission
    if said.pool is None:
        return None
    from agent_cli.store.pools import open_pools

    pools = open_pools(session_db(options, settings))
    known = {pool.name: pool for pool in pools.books.pools()}
    if said.pool not in known:
        pools.close()
        there = f"There are: {', '.join(known)}. " if known else ""
        raise ConfigError(
            f"There is no pool '{said.pool}'. {there}`agent-cli pool set {said.pool} --runs 4 --usd 18` makes one."
        )
    ceilings = limits(settings, attended=options.attended)
    most = worst_tree(ceilings, children(settings), said.estimate_usd, said.estimate_calls_per_minute)
    return PoolGate(pools, said, session, task, most)


class PoolGate:
    """One run's place in a pool; every turn enters anew. `most` is what it takes where nothing is known of its kind."""

    def __init__(self, pools: Pools, said: Admission, session: str, task: str, most: Tree) -> None:
        self._pools = pools
        self._said = said
        self._session = session
        self._task = task
        self._most = most
        self._held: Held | None = None
        self._lock: Lease | None = None
        self._spent = 0.0
        self._under_way = 0.0
        self._queued = False
        self._run = ""  # of this turn, also while it waits

    @property
    def terms(self) -> Terms:
        said = self._said
        queues, refuses = said.when_full == "queue", said.when_full == "reject"
        wait, patience = said.wait if queues else 0.0, 0.0 if refuses else said.wait
        return Terms(said.pool or "", wait, patience, said.lease, thins=said.when_full == "degrade")

    def expected(self) -> Tree:
        """What this run is expected to take with all its subtasks, never more than its ceilings let it."""
        tree = estimate(self._pools.books.past(self.terms.pool, self._task), self._most)
        return msgspec.structs.replace(tree, usd=min(tree.usd, self._most.usd)) if self._most.usd else tree

    def enter(self, now: float, *, last: bool = False) -> Slice | Refused | None:
        tree = self.expected()
        held = self._asking(tree, now)
        short = self._admit(held, now)
        if not short:
            return None
        reason = "; ".join(map(str, short))
        match self._said.when_full:
            case "degrade":
                return self._degraded(held, short, now) or self._rejected(held, reason, now, waits=False)
            case "queue" if not last and not _hopeless(short):
                if not self._queued:
                    self._queued = True
                    self._pools.note(held, "queued", reason, now)
                return Refused(reason, waits=True)
            case "queue" | "reject":
                return self._rejected(held, reason, now, waits=not _hopeless(short))

    def renew(self, now: float) -> None:
        if self._held is not None:
            self._pools.renew(self._held, now + self._said.lease)

    def saw(self, event: ev.Recorded, now: float) -> None:
        if self._held is None:
            return
        if isinstance(event, ev.UsageReported):
            self._spent += event.cost or 0.0
            self._pools.consume(self._held, event.cost or 0.0, now)

    def begin(self, calls: int, now: float) -> Room:
        return self._pools.begin(self._held, calls, now) if self._held is not None else Room(calls)

    def held_up(self, reason: str, now: float) -> None:
        if self._held is not None:
            self._pools.note(self._held, "throttled", reason, now)

    def cover(self, worst: float | None, now: float) -> str:
        if self._held is None or not self._said.hard:
            return ""
        if worst is None:
            return "the model has no price, and the pool is hard"
        needed = self._spent + self._under_way + worst - self._held.usd
        if needed > 1e-9:
            more = math.ceil(round(needed * 100, 6)) / 100
            short = self._pools.top_up(self._held, more, now)
            if short:
                return "; ".join(map(str, short))
            self._held = msgspec.structs.replace(self._held, usd=self._held.usd + more)
        self._under_way += worst
        return ""

    def uncover(self, worst: float | None) -> None:
        self._under_way = max(self._under_way - (worst or 0.0), 0.0)

    def leave(self, now: float) -> None:
        held, self._held = self._held, None
        self._queued, self._run = False, ""
        try:
            if held is not None:
                self._pools.release(held, now)
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def close(self) -> None:
        self.leave(time.time())
        self._pools.close()

    def _asking(self, tree: Tree, now: float) -> Held:
        from agent_cli.store.pools import Held

        self._run = self._run or f"{self._session}-{os.urandom(3).hex()}"
        owner = f"{os.getpid()}"
        return Held(
            self._run,
            self.terms.pool,
            self._session,
            self._task,
            tree.usd,
            tree.calls,
            0.0,
            0,
            now,
            now + self._said.lease,
            owner,
        )

    def _admit(self, held: Held, now: float) -> tuple[Lacking, ...]:
        """The lock comes first: who reclaims must see an owner from the moment the reservation is there."""
        from agent_cli.store.lease import take
        from agent_cli.store.pools import lock_of

        lock = take(self._pools.locks, lock_of(held.run))
        try:
            short = self._pools.admit(held, now)
        except BaseException:
            lock.release()
            raise
        if short:
            lock.release()
        else:
            self._lock, self._held, self._spent = lock, held, 0.0
        return short

    def _degraded(self, held: Held, short: tuple[Lacking, ...], now: float) -> Slice | None:
        """What is left of the dollars and calls; a run that has no place at all gets none."""
        if any(each.dimension == "runs" for each in short):
            return None
        by = {each.dimension: max(each.limit - each.used, 0.0) for each in short}
        usd = math.floor(min(by.get("dollars", held.usd), held.usd) * 100 + 1e-6) / 100
        if usd < LEAST_SLICE:
            return None
        less = msgspec.structs.replace(held, usd=usd, calls=by.get("tool calls a minute", held.calls))
        if self._admit(less, now):
            return None
        self._pools.note(less, "degraded", "; ".join(map(str, short)), now)
        return Slice(usd, self._said.degraded_concurrency)

    def _rejected(self, held: Held, reason: str, now: float, *, waits: bool) -> Refused:
        self._pools.note(held, "rejected", reason, now)
        self._queued, self._run = False, ""
        return Refused(reason, waits=waits and self._said.when_full == "queue")


def _hopeless(short: tuple[Lacking, ...]) -> bool:
    """Whether the run needs more than the whole pool has: waiting would not help."""
    return any(each.asked > each.limit for each in short)


def pool_from(
    name: str, before: Pool | None, runs: int | None, usd: float | None, calls: float | None
) -> Pool:
    """What is not said stays; 0 takes a limit away. Raises ConfigError."""
    was = before or Pool(name)

    def chosen(said: float | None, kept: float | None) -> float | None:
        return kept if said is None else (said or None)

    if calls is not None and 0 < calls < 1:
        raise ConfigError("A pool lets at least one tool call a minute through; 0 takes the limit away.")
    at_once = chosen(runs, was.runs)
    return Pool(name, int(at_once) if at_once else None, chosen(usd, was.usd), chosen(calls, was.calls))
