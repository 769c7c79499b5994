"""What guardrails did, from the session database: recorded sessions, pools, kill switches, and what signals cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.config.sources import Loaded
from agent_cli.guardrails.book import NAMES, signals
from agent_cli.guardrails.measure import replay_log
from agent_cli.guardrails.scorecard import LEAST, Scorecard, score
from agent_cli.guardrails.turns import Run, read
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import StoreUnwritable
from agent_cli.kernel.switching import KillSwitch

if TYPE_CHECKING:  # sqlite3 is imported when the store is opened
    from agent_cli.store.pools import Books

TIMED = 20
"""Sessions, the latest, over which signals are timed."""


class Admitted(NamedTuple):
    """Requests to one pool, and those of them that were refused; `per_10k` is None where there were too few."""

    pool: str
    requests: int
    rejected: int
    queued: int
    per_10k: float | None


class Cost(NamedTuple):
    """Microseconds a recorded fact, in a replay of the latest sessions."""

    signal: str
    microseconds: float


class Report(NamedTuple):
    card: Scorecard
    pools: tuple[Admitted, ...]
    switches: tuple[KillSwitch, ...]
    costs: tuple[Cost, ...]


def report(options: RunOptions, loaded: Loaded, since: float = 0.0) -> Report:
    """Of what began at `since` (seconds since the epoch) or later. Raises StoreError."""
    from agent_cli.store.sqlite import open_store

    path = session_db(options, loaded.settings)
    if not path.exists():
        return Report(score(()), (), (), ())
    store = open_store(path, read_only=True)
    try:
        infos = [info for info in store.sessions() if info.updated >= since]
        runs: list[Run] = [read(info.id, info.cwd, store.entries(info.id)) for info in infos]
        timed = [tuple(store.entries(info.id)) for info in infos[:TIMED]]
        switches = tuple(
            switch for switch in store.switches.every() if max(switch.at, switch.restored) >= since
        )
        return Report(score(runs, since), _pools(path, since), switches, _costs(timed))
    finally:
        store.close()


def _pools(path: Path, since: float) -> tuple[Admitted, ...]:
    from agent_cli.store.pools import open_pools

    try:
        pools = open_pools(path)
    except StoreUnwritable:
        return ()  # a copy that is only read has no pools that anybody uses
    try:
        return tuple(_admitted(pools.books, pool.name, since) for pool in pools.books.pools())
    finally:
        pools.close()


def _admitted(books: Books, pool: str, since: float) -> Admitted:
    kinds = [posting.kind for posting in books.ledger(pool, since)]
    rejected = kinds.count("rejected")
    asked = kinds.count("reserved") + rejected
    return Admitted(
        pool, asked, rejected, kinds.count("queued"), rejected / asked * 10_000 if asked >= LEAST else None
    )


def _costs(sessions: Sequence[tuple[ev.Entry, ...]]) -> tuple[Cost, ...]:
    """Each signal alone over the same facts."""
    facts = sum(len(entries) for entries in sessions)
    if not facts:
        return ()
    found: list[Cost] = []
    for name in NAMES:
        alone = [signal for signal in signals("default") if signal.name == name]
        begun = time.perf_counter()
        for entries in sessions:
            for _ in replay_log(entries)(alone):
                pass  # only its time is asked for
        found.append(Cost(name, (time.perf_counter() - begun) / facts * 1e6))
    return tuple(found)
