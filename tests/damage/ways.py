"""Ways in which the file of a session may come to harm, each drawn from a seed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

Way = Callable[[Path, Random], None]
NUMBERS = (0, -1, 1, 2, 7, 30, 99, 10**6, 2**31, 2**53, 2**63 - 1, -(2**63), 1.5, -0.5, 1e308)
TEXTS = ("", " ", "x", "x:sub:1", "\0", "\u202e", "tool-result", "p-1", "9" * 30)
BLOBS = (b"", b"\xff\xfe", b"\0" * 40, b'{"kind":"operator-note"}')
ODD: tuple[Any, ...] = (*NUMBERS, *TEXTS, *BLOBS)
PAGE = 4096


def _on(path: Path, work: Callable[[sqlite3.Connection], object]) -> None:
    """On the rows; a file that earlier damage made unreadable stays as it is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            connection.execute("DROP TRIGGER IF EXISTS entry_follows")
            work(connection)
        except (sqlite3.Error, OverflowError, TypeError, ValueError):
            return


def _seqs(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    rows = connection.execute("SELECT session, seq FROM entry ORDER BY session, seq").fetchall()
    return [(int(session), int(seq)) for session, seq in rows] or [(1, 1)]


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────


def delete_rows(path: Path, random: Random) -> None:
    def work(connection: sqlite3.Connection) -> None:
        seqs = _seqs(connection)
        for at in random.sample(seqs, min(len(seqs), random.choice((1, 1, 3, 10)))):
            connection.execute("DELETE FROM entry WHERE session = ? AND seq = ?", at)

    _on(path, work)


def delete_a_range(path: Path, random: Random) -> None:
    def work(connection: sqlite3.Connection) -> None:
        begin, end = sorted(random.choices([seq for _, seq in _seqs(connection)], k=2))
        connection.execute("DELETE FROM entry WHERE seq BETWEEN ? AND ?", (begin, end))

    _on(path, work)


def cut_the_end(path: Path, random: Random) -> None:
    _on(path, lambda c: c.execute("DELETE FROM entry WHERE seq > ?", (random.choice(_seqs(c))[1],)))


def cut_the_beginning(path: Path, random: Random) -> None:
    _on(path, lambda c: c.execute("DELETE FROM entry WHERE seq < ?", (random.choice(_seqs(c))[1],)))


def delete_a_kind(path: Path, random: Random) -> None:
    def work(connection: sqlite3.Connection) -> None:
        kinds = [kind for (kind,) in connection.execute("SELECT DISTINCT kind FROM entry ORDER BY kind")]
        connection.execute("DELETE FROM entry WHERE kind = ?", (random.choice(kinds or [""]),))

    _on(path, work)


def swap_two(path: Path, random: Random) -> None:
    """What stands in two rows, so that later facts come first."""

    def work(connection: sqlite3.Connection) -> None:
        for _ in range(random.choice((1, 1, 5))):
            one, other = random.choice(_seqs(connection)), random.choice(_seqs(connection))
            rows = [
                connection.execute(
                    "SELECT kind, body FROM entry WHERE session = ? AND seq = ?", at
                ).fetchone()
                for at in (one, other)
            ]
            for at, row in ((one, rows[1]), (other, rows[0])):
                connection.execute(
                    "UPDATE entry SET kind = ?, body = ? WHERE session = ? AND seq = ?", (*row, *at)
                )

    _on(path, work)


def shuffle_a_range(path: Path, random: Random) -> None:
    def work(connection: sqlite3.Connection) -> None:
        seqs = _seqs(connection)
        begin = random.randrange(len(seqs))
        places = seqs[begin : begin + random.choice((3, 8, 200))]
        rows = [
            connection.execute("SELECT kind, body FROM entry WHERE session = ? AND seq = ?", at).fetchone()
            for at in places
        ]
        random.shuffle(rows)
        for at, row in zip(places, rows, strict=True):
            connection.execute(
                "UPDATE entry SET kind = ?, body = ? WHERE session = ? AND seq = ?", (*row, *at)
            )

    _on(path, work)


def repeat_rows(path: Path, random: Random) -> None:
    """Copies of some, at the end of the session or far behind it."""

    def work(connection: sqlite3.Connection) -> None:
        seqs = _seqs(connection)
        end = seqs[-1][1] + random.choice((1, 1, 1000, 2**40, 2**62))
        begin = random.randrange(len(seqs))
        for step, (session, seq) in enumerate(seqs[begin : begin + random.choice((1, 5, 30))]):
            connection.execute(
                "INSERT INTO entry SELECT session, ?, time, turn, step, branch, kind, body FROM entry "
                "WHERE session = ? AND seq = ?",
                (end + step, session, seq),
            )

    _on(path, work)


def move_rows(path: Path, random: Random) -> None:
    """Everything from a place on moves back by some numbers: a gap."""

    def work(connection: sqlite3.Connection) -> None:
        at, far = random.choice(_seqs(connection))[1], random.choice((1, 50, 2**33))
        connection.execute("UPDATE entry SET seq = -seq WHERE seq >= ? AND 0", (at,))
        for session, seq in reversed(_seqs(connection)):
            if seq >= at:
                connection.execute(
                    "UPDATE entry SET seq = ? WHERE session = ? AND seq = ?", (seq + far, session, seq)
                )

    _on(path, work)


def odd_columns(path: Path, random: Random) -> None:
    def work(connection: sqlite3.Connection) -> None:
        for _ in range(random.choice((1, 4))):
            column = random.choice(("time", "turn", "step", "branch", "kind"))
            session, seq = random.choice(_seqs(connection))
            connection.execute(
                f"UPDATE entry SET {column} = ? WHERE session = ? AND seq = ?",
                (random.choice(ODD), session, seq),
            )

    _on(path, work)


# ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────


def _change_bodies(path: Path, random: Random, change: Callable[[bytes], Any]) -> None:
    def work(connection: sqlite3.Connection) -> None:
        for _ in range(random.choice((1, 1, 3, 12))):
            at = random.choice(_seqs(connection))
            query = "SELECT CAST(body AS BLOB) FROM entry WHERE session = ? AND seq = ?"
            found = connection.execute(query, at).fetchone()
            connection.execute(
                "UPDATE entry SET body = ? WHERE session = ? AND seq = ?", (change(found[0] or b""), *at)
            )

    _on(path, work)


def flip_in_bodies(path: Path, random: Random) -> None:
    def change(body: bytes) -> bytes:
        held = bytearray(body or b"x")
        for _ in range(random.choice((1, 3, 20))):
            held[random.randrange(len(held))] ^= 1 << random.randrange(8)
        return bytes(held)

    _change_bodies(path, random, change)


def cut_bodies(path: Path, random: Random) -> None:
    _change_bodies(path, random, lambda body: body[: random.randrange(len(body) + 1)])


def odd_bodies(path: Path, random: Random) -> None:
    _change_bodies(path, random, lambda body: random.choice((*ODD, "[]", "{}", "[" * 3000, body * 2)))


def odd_values(path: Path, random: Random) -> None:
    """JSON that still is JSON, with another value somewhere in it."""

    def change(body: bytes) -> str:
        try:
            tree = json.loads(body)
        except ValueError:
            return "{}"
        held = list(_places(tree)) if isinstance(tree, dict | list) else []
        for holder, key in random.sample(held, min(len(held), random.choice((1, 1, 3)))):
            holder[key] = random.choice((_near(holder[key], random), *NUMBERS, *TEXTS, None, True, [], {}))
        return json.dumps(tree)

    _change_bodies(path, random, change)


def _near(value: Any, random: Random) -> Any:
    """Another value of that type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return random.choice(NUMBERS)
    if isinstance(value, str):
        return random.choice((*TEXTS, value[::-1], value * 3, "c-1", "toolu_1_0", "call_1_0"))
    return type(value)()


def _places(tree: Any) -> Any:
    for key, value in list(tree.items()) if isinstance(tree, dict) else enumerate(tree):
        if key != "kind":
            yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


# ── what stands beside the entries ───────────────────────────────────────────────────────────────────────


def odd_sessions(path: Path, random: Random) -> None:
    """The row of the session: what is a read model may be anything; so may the name."""

    def work(connection: sqlite3.Connection) -> None:
        for _ in range(random.choice((1, 3))):
            columns = ("cwd", "title", "model", "created", "updated", "events", "turns")
            connection.execute(f"UPDATE session SET {random.choice(columns)} = ?", (random.choice(ODD),))

    _on(path, work)


def no_session(path: Path, random: Random) -> None:
    del random
    _on(path, lambda c: c.execute("DELETE FROM session"))


def another_session(path: Path, random: Random) -> None:
    _on(path, lambda c: c.execute("UPDATE session SET number = ?", (random.choice((7, -3, 2**40)),)))


def no_index(path: Path, random: Random) -> None:
    """The index of what was said, as a whole or in its own tables."""
    ways = ("DROP TABLE said", "DELETE FROM said_data", "UPDATE said_data SET block = x'ff00'", "DELETE FROM said_docsize",
            "DELETE FROM said_content", "DROP TABLE said_idx", "DELETE FROM said_config")  # fmt: skip
    _on(path, lambda c: (c.execute("PRAGMA writable_schema = ON"), c.execute(random.choice(ways))))


def no_tables(path: Path, random: Random) -> None:
    table = random.choice(("entry", "session"))
    _on(path, lambda c: c.execute(f"DROP TABLE {table}"))


def odd_marks(path: Path, random: Random) -> None:
    number = random.choice((0, 1, 3, 99))
    _on(path, lambda c: c.execute(f"PRAGMA {random.choice(('user_version', 'application_id'))} = {number}"))


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────


def _change_bytes(path: Path, change: Callable[[bytearray], None]) -> None:
    held = bytearray(path.read_bytes())
    if held:
        change(held)
        path.write_bytes(held)


def flip_bytes(path: Path, random: Random) -> None:
    def change(held: bytearray) -> None:
        for _ in range(random.choice((1, 8, 60, 800))):
            held[random.randrange(len(held))] ^= 1 << random.randrange(8)

    _change_bytes(path, change)


def flip_in_the_head(path: Path, random: Random) -> None:
    def change(held: bytearray) -> None:
        held[random.randrange(min(len(held), 120))] = random.randrange(256)

    _change_bytes(path, change)


def truncate(path: Path, random: Random) -> None:
    os.truncate(path, random.randrange(path.stat().st_size + 1))


def blank_a_page(path: Path, random: Random) -> None:
    def change(held: bytearray) -> None:
        at = random.randrange(0, len(held), PAGE)
        held[at : at + PAGE] = (
            bytes(min(PAGE, len(held) - at)) if random.random() < 0.5 else random.randbytes(PAGE)
        )

    _change_bytes(path, change)


def exchange_pages(path: Path, random: Random) -> None:
    def change(held: bytearray) -> None:
        one, other = (random.randrange(0, len(held), PAGE) for _ in range(2))
        held[one : one + PAGE], held[other : other + PAGE] = (
            held[other : other + PAGE],
            held[one : one + PAGE],
        )

    _change_bytes(path, change)


def grow(path: Path, random: Random) -> None:
    with path.open("ab") as opened:
        opened.write(random.randbytes(random.choice((1, 100, PAGE, 3 * PAGE))))


def odd_log_beside(path: Path, random: Random) -> None:
    """A write-ahead log that is not this file's."""
    path.with_name(f"{path.name}-wal").write_bytes(random.randbytes(random.choice((1, 32, 5000))))


WAYS: tuple[Way, ...] = (
    delete_rows, delete_a_range, cut_the_end, cut_the_beginning, delete_a_kind, swap_two, shuffle_a_range, repeat_rows,
    move_rows, odd_columns, flip_in_bodies, cut_bodies, odd_bodies, odd_values, odd_values, odd_values, odd_sessions,
    no_session, another_session, no_index, no_tables, odd_marks, flip_bytes, flip_in_the_head, truncate, blank_a_page,
    exchange_pages, grow, odd_log_beside,
)  # fmt: skip


def harm(path: Path, random: Random) -> list[str]:
    """Does one to three of them; says which."""
    done = random.choices(WAYS, k=random.choice((1, 1, 2, 3)))
    for way in done:
        way(path, random)
    return [way.__name__ for way in done]
