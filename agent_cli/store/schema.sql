-- One file holds all sessions. `entry` is the truth; of `session`, id and name are facts and every other
-- column is a read model of the entries (rebuild.py makes it anew).

CREATE TABLE session (
    number  INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    name    TEXT    NOT NULL DEFAULT '',
    cwd     TEXT    NOT NULL DEFAULT '',
    title   TEXT    NOT NULL DEFAULT '',
    model   TEXT    NOT NULL DEFAULT '',
    created REAL    NOT NULL DEFAULT 0,
    updated REAL    NOT NULL DEFAULT 0,
    events  INTEGER NOT NULL DEFAULT 0,
    turns   INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX session_name ON session (name) WHERE name <> '';

-- `time` is seconds since the epoch, `body` the JSON of the event; `session` is session.number.
CREATE TABLE entry (
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL CHECK (seq > 0),
    time    REAL    NOT NULL,
    turn    INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    branch  TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Whoever writes: no gap, no rewriting.
CREATE TRIGGER entry_follows BEFORE INSERT ON entry
WHEN NEW.seq <> COALESCE((SELECT MAX(seq) FROM entry WHERE session = NEW.session), 0) + 1
BEGIN
    SELECT RAISE(ABORT, 'seq is not the next one');
END;
