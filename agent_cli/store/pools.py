"""Pools in the session database: reservations in one transaction each, and a ledger from which they can be replayed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from agent_cli.guardrails.admission import MINUTE, Committed, Kind, Lacking, Past, Pool, Tree, lacking, room
from agent_cli.guardrails.gate import Room
from agent_cli.kernel.errors import SessionLocked, StoreError
from agent_cli.kernel.values import Plain
from agent_cli.store.lease import take
from agent_cli.store.opening import connect, settled
from agent_cli.store.troubles import told

HISTORY = 500
"""Ended runs from which estimates are made, the latest."""
POOLS = "SELECT name, runs, usd, calls FROM pool ORDER BY name"
SET = """
INSERT INTO pool (name, runs, usd, calls, by, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET runs = excluded.runs, usd = excluded.usd, calls = excluded.calls,
    by = excluded.by, at = excluded.at
"""
HELD = """
SELECT run, pool, session, task, usd, calls, spent, made, began, lease, owner FROM reservation
WHERE pool = ? ORDER BY began
"""
COMMITTED = "SELECT COUNT(*), COALESCE(SUM(usd), 0), COALESCE(SUM(calls), 0) FROM reservation WHERE pool = ?"
RESERVE = """
INSERT INTO reservation (run, pool, session, task, usd, calls, began, lease, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
NOTE = (
    "INSERT INTO pool_ledger (time, pool, run, kind, task, usd, calls, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
LEDGER = """
SELECT seq, time, pool, run, kind, task, usd, calls, why FROM pool_ledger WHERE pool = ? AND time >= ? ORDER BY seq
"""
BEGUN = """
SELECT time, calls FROM pool_ledger WHERE pool = ? AND kind = 'consumed' AND time > ? AND calls > 0 ORDER BY time
"""
PAST = """
SELECT SUM(CASE WHEN kind IN ('reserved', 'topped-up') THEN usd ELSE 0 END),
       SUM(CASE WHEN kind = 'consumed' THEN usd ELSE 0 END),
       SUM(CASE WHEN kind = 'consumed' THEN calls ELSE 0 END),
       MAX(time) - MIN(CASE WHEN kind = 'reserved' THEN time END)
FROM pool_ledger WHERE pool = :pool AND run IN (
    SELECT run FROM pool_ledger WHERE pool = :pool AND kind = 'released' AND (:task IS NULL OR task = :task)
    ORDER BY seq DESC LIMIT :most)
GROUP BY run
"""


class Held(Plain, frozen=True):
    """A reservation: USD and calls a minute that it holds, USD and calls that it used, until when its lease is."""

    run: str
    pool: str
    session: str
    task: str
    usd: float
    calls: float
    spent: float
    made: int
    began: float
    lease: float
    owner: str


class Posting(Plain, frozen=True):
    """A line of the ledger. `usd` and `calls` are what the kind says: reserved, added, used, or given back."""

    seq: int
    time: float
    pool: str
    run: str
    kind: Kind
    task: str
    usd: float
    calls: float
    why: str


def open_pools(path: Path, busy_timeout: float = 10.0) -> Pools:
    """A connection of its own. Raises StoreError."""
    path = settled(path)
    return Pools(connect(path, busy_timeout), path)


class Books:
    """What stands in them. Raises StoreError."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def pools(self) -> tuple[Pool, ...]:
        with told(self._path):
            return tuple(Pool(*row) for row in self._connection.execute(POOLS).fetchall())

    def held(self, pool: str) -> tuple[Held, ...]:
        with told(self._path):
            return tuple(Held(*row) for row in self._connection.execute(HELD, (pool,)).fetchall())

    def past(self, pool: str, task: str | None = None) -> tuple[Past, ...]:
        """Runs that ended: of that kind of work, of all for None."""
        with told(self._path):
            values = {"pool": pool, "task": task, "most": HISTORY}
            rows = self._connection.execute(PAST, values).fetchall()
        return tuple(Past(row[0], row[1], int(row[2]), row[3]) for row in rows)

    def begun(self, pool: str, since: float) -> tuple[tuple[float, float], ...]:
        """When tool calls of the pool's runs began after that moment, and how many; the oldest first."""
        with told(self._path):
            return tuple(self._connection.execute(BEGUN, (pool, since)).fetchall())

    def ledger(self, pool: str, since: float = 0.0) -> tuple[Posting, ...]:
        with told(self._path):
            return tuple(Posting(*row) for row in self._connection.execute(LEDGER, (pool, since)).fetchall())


class Pools:
    """Every method is one transaction. Times are seconds since the epoch. Raises StoreError."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.books = Books(connection, path)
        self.locks = path.with_name(f"{path.name}-locks")

    def set(self, pool: Pool, by: str, now: float) -> None:
        with told(self._path):
            self._connection.execute(SET, (pool.name, pool.runs, pool.usd, pool.calls, by, now))

    def admit(self, held: Held, now: float) -> tuple[Lacking, ...]:
        """Reserves all of it, or nothing and says what lacks. What nobody owns any more is reclaimed first."""
        with told(self._path), _Transaction(self._connection):
            pool = self._pool(held.pool)
            self._reclaim(held.pool, now)
            short = lacking(pool, self._committed(held.pool), Tree(held.usd, held.calls))
            if not short:
                values = (held.run, held.pool, held.session, held.task, held.usd, held.calls, now, held.lease)
                self._connection.execute(RESERVE, (*values, held.owner))
                self._note(now, held, "reserved", held.usd, held.calls)
        return short

    def top_up(self, run: Held, usd: float, now: float) -> tuple[Lacking, ...]:
        """More dollars for a run that is under way, if they are there."""
        with told(self._path), _Transaction(self._connection):
            pool = self._pool(run.pool)
            self._reclaim(run.pool, now)
            committed = self._committed(run.pool)
            short = lacking(Pool(pool.name, usd=pool.usd), committed, Tree(usd))
            if not short:
                raised = self._connection.execute(
                    "UPDATE reservation SET usd = usd + ? WHERE run = ?", (usd, run.run)
                )
                if not raised.rowcount:
                    raise StoreError(
                        f"The reservation of run {run.run} is gone, so nothing can be added to it."
                    )
                self._note(now, run, "topped-up", usd)
        return short

    def begin(self, run: Held, calls: int, now: float) -> Room:
        """Counts as many of the calls as may begin now, over all runs of the pool."""
        query = "UPDATE reservation SET made = made + ? WHERE run = ?"
        with told(self._path), _Transaction(self._connection):
            begun = self.books.begun(run.pool, now - MINUTE - 1)
            found = room(self._pool(run.pool).calls, begun, calls, now)
            if found.granted:
                self._connection.execute(query, (found.granted, run.run))
                self._note(now, run, "consumed", 0.0, found.granted)
        return found

    def renew(self, run: Held, lease: float) -> None:
        with told(self._path):
            self._connection.execute("UPDATE reservation SET lease = ? WHERE run = ?", (lease, run.run))

    def consume(self, run: Held, usd: float, now: float) -> None:
        query = "UPDATE reservation SET spent = spent + ? WHERE run = ?"
        with told(self._path), _Transaction(self._connection):
            self._connection.execute(query, (usd, run.run))
            self._note(now, run, "consumed", usd)

    def release(self, run: Held, now: float) -> None:
        with told(self._path), _Transaction(self._connection):
            self._end(run.run, "released", now)

    def note(self, run: Held, kind: Kind, why: str, now: float) -> None:
        """What became of a request that was not simply admitted."""
        with told(self._path):
            self._note(now, run, kind, run.usd, run.calls, why)

    def close(self) -> None:
        self._connection.close()

    def _pool(self, name: str) -> Pool:
        row = self._connection.execute(
            "SELECT name, runs, usd, calls FROM pool WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise StoreError(f"There is no pool '{name}'. `agent-cli pool set {name} --runs 4` makes one.")
        return Pool(*row)

    def _committed(self, pool: str) -> Committed:
        return Committed(*self._connection.execute(COMMITTED, (pool,)).fetchone())

    def _reclaim(self, pool: str, now: float) -> None:
        """Only after its lease, and only where nobody holds the run any more: a run that is merely slow keeps it."""
        late = [row for row in self._connection.execute(HELD, (pool,)).fetchall() if Held(*row).lease < now]
        for row in late:
            try:
                take(self.locks, lock_of(row[0])).release()
            except SessionLocked:
                continue
            self._end(row[0], "expired", now)

    def _end(self, run: str, kind: Kind, now: float) -> None:
        row = self._connection.execute(
            "SELECT run, pool, session, task, usd, calls, spent, made, began, lease, owner FROM reservation WHERE run = ?",
            (run,),
        ).fetchone()
        if row is not None:
            held = Held(*row)
            self._connection.execute("DELETE FROM reservation WHERE run = ?", (run,))
            self._note(now, held, kind, max(held.usd - held.spent, 0.0), held.calls)

    def _note(
        self, now: float, run: Held, kind: Kind, usd: float = 0.0, calls: float = 0.0, why: str = ""
    ) -> None:
        self._connection.execute(NOTE, (now, run.pool, run.run, kind, run.task, usd, calls, why))


def lock_of(run: str) -> str:
    """The name of the lock that a run holds as long as it lives."""
    return f"run-{run}"


def replay(postings: Iterable[Posting]) -> Committed:
    """What the ledger of a pool says that admitted runs hold now."""
    usd: dict[str, float] = {}
    calls: dict[str, float] = {}
    for posting in postings:
        match posting.kind:
            case "reserved":
                usd[posting.run], calls[posting.run] = posting.usd, posting.calls
            case "topped-up":
                usd[posting.run] += posting.usd
            case "released" | "expired":
                del usd[posting.run], calls[posting.run]
            case "consumed" | "queued" | "throttled" | "degraded" | "rejected":
                pass  # changes nothing of what is held
    return Committed(len(usd), sum(usd.values()), sum(calls.values()))


class _Transaction:
    """All of it or nothing, and nobody else writes meanwhile."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK" if kind else "COMMIT")
