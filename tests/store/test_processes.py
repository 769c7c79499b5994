"""What holds between processes, and when one of them is killed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from agent_cli.kernel.errors import SessionLocked
from agent_cli.store.sqlite import open_store
from tests.store.made import entry, writer


def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    acknowledged = 0
    for kill_after in range(1, 11):
        # Large entries now and then, so that the kill also falls into checkpoints and page splits.
        with writer(path, "s-1", size=20_000 * (kill_after % 2)) as process:
            assert process.stdout and process.stderr
            for _ in range(kill_after * 37):
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            acknowledged = max(acknowledged, *(int(line) for line in process.stdout), 0)
            assert process.wait() == -signal.SIGKILL, process.stderr.read()
        store = open_store(path)
        log = store.open("s-1")
        held = list(log.read())
        assert [each.seq for each in held] == list(range(1, len(held) + 1))
        assert acknowledged <= len(held) <= acknowledged + 1
        assert all(each.event.text.startswith(f"note {each.seq} of s-1") for each in held)
        assert store.find("s-1").events == len(held)
        store.close()


def test_one_writer_a_session_while_others_read(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    with writer(path, "s-1", count=3) as process:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(3)] == ["1\n", "2\n", "3\n"]
        with pytest.raises(SessionLocked, match=rf"process {process.pid}\b"):
            store.open("s-1")
        with pytest.raises(SessionLocked):
            store.create("s-1", "/")
        assert [each.seq for each in store.entries("s-1")] == [1, 2, 3]
        process.kill()
        process.wait()
        log = store.open("s-1")
        log.append(entry(4))
    store.close()


def test_processes_write_their_sessions_side_by_side_from_the_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sessions.db"
    names = ("a", "b", "c")
    with writer(path, "a", 300) as a, writer(path, "b", 300) as b, writer(path, "c", 300) as c:
        for process in (a, b, c):
            _, problems = process.communicate("\n", timeout=30)
            assert (process.returncode, problems) == (0, "")
    store = open_store(path)
    for name in names:
        assert [each.seq for each in store.entries(name)] == list(range(1, 301))
    store.close()


def test_an_unfinished_read_does_not_hinder_writing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    ours, theirs = open_store(path), open_store(path)
    log, other = ours.create("s-1", "/"), theirs.create("s-2", "/")
    for seq in range(1, 600):
        log.append(entry(seq))
    reading = log.read()
    assert next(reading).seq == 1
    other.append(entry(1, session="s-2"))
    log.append(entry(600))
    assert [each.seq for each in reading] == list(range(2, 601))
    ours.close()
    theirs.close()
