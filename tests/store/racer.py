"""A process that wants the last slot of a pool, as often as it is told to: `racer.py DATABASE NAME ROUNDS`.

Each round begins when a line comes on stdin; it says on stdout whether it won, and holds what it won until the next.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from agent_cli.store.lease import Lease, take
from agent_cli.store.pools import Held, lock_of, open_pools


def main(database: str, name: str) -> None:
    pools = open_pools(Path(database))
    held: Held | None = None
    lock: Lease | None = None
    for line in sys.stdin:
        if line.startswith("release"):
            if held is not None and lock is not None:
                pools.release(held, time.time())
                lock.release()
                held = lock = None
            print("free", flush=True)
            continue
        run, now = f"{name}-{line.strip()}", time.time()
        wanted = Held(run, "p", name, "", 1.0, 0.0, 0.0, 0, now, now + 60, name)
        lock = take(pools.locks, lock_of(run))
        if pools.admit(wanted, now):
            lock.release()
            lock = None
            print("lost", flush=True)
        else:
            held = wanted
            print("won", flush=True)
    pools.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
