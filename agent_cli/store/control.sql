-- What holds for all runs over this file: kill switches, and the account that they share.

-- Times are seconds since the epoch; `restored` is 0 while the switch is on. Rows stay: they are the record.
CREATE TABLE kill_switch (
    number       INTEGER PRIMARY KEY,
    scope        TEXT NOT NULL,
    why          TEXT NOT NULL,
    by           TEXT NOT NULL,
    at           REAL NOT NULL,
    restored     REAL NOT NULL DEFAULT 0,
    restored_by  TEXT NOT NULL DEFAULT '',
    restored_why TEXT NOT NULL DEFAULT ''
);

CREATE UNIQUE INDEX kill_switch_on ON kill_switch (scope) WHERE restored = 0;

-- Limits of a pool; NULL means none. `calls` is tool calls a minute.
CREATE TABLE pool (
    name TEXT PRIMARY KEY,
    runs INTEGER,
    usd  REAL,
    calls REAL,
    by   TEXT NOT NULL,
    at   REAL NOT NULL
);

-- What running runs hold of a pool: a read model of pool_ledger. `lease` is when it may be looked at for reclaiming.
CREATE TABLE reservation (
    run     TEXT PRIMARY KEY,
    pool    TEXT NOT NULL,
    session TEXT NOT NULL,
    task    TEXT NOT NULL,
    usd     REAL NOT NULL,
    calls   REAL NOT NULL,
    spent   REAL NOT NULL DEFAULT 0,
    made    INTEGER NOT NULL DEFAULT 0,
    began   REAL NOT NULL,
    lease   REAL NOT NULL,
    owner   TEXT NOT NULL
);

-- Append only. `kind` is reserved, topped-up, consumed, released, expired, queued, throttled, degraded or rejected.
CREATE TABLE pool_ledger (
    seq   INTEGER PRIMARY KEY,
    time  REAL NOT NULL,
    pool  TEXT NOT NULL,
    run   TEXT NOT NULL,
    kind  TEXT NOT NULL,
    task  TEXT NOT NULL,
    usd   REAL NOT NULL DEFAULT 0,
    calls REAL NOT NULL DEFAULT 0,
    why   TEXT NOT NULL DEFAULT ''
);

CREATE INDEX pool_ledger_pool ON pool_ledger (pool, kind, time);
