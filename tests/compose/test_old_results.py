"""Results that outlived their session go, and nothing else does."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agent_cli.compose import RunOptions, open_session
from agent_cli.compose.log import session_ids
from agent_cli.compose.results import DAY, KEPT_DAYS, sweep
from agent_cli.config import places
from tests.fakes.sessions import run, say

ORPHAN, YOUNG, KNOWN = "20260101-000000-aaaaaa", "20260101-000000-bbbbbb", "20260101-000000-cccccc"


def kept(results: Path, name: str, days: float) -> None:
    directory = results / name
    directory.mkdir(parents=True)
    (directory / "call.txt").write_text("long")
    moment = time.time() - days * DAY
    os.utime(directory, (moment, moment))


def test_what_is_old_and_of_no_session_goes(tmp_path: Path):
    results = tmp_path / "results"
    kept(results, ORPHAN, KEPT_DAYS + 1)
    kept(results, YOUNG, KEPT_DAYS - 1)
    kept(results, KNOWN, KEPT_DAYS + 1)
    kept(results, "notes of mine", KEPT_DAYS + 1)
    elsewhere = tmp_path / "elsewhere"
    kept(elsewhere, ORPHAN, KEPT_DAYS + 1)
    (results / "20260101-000000-dddddd").symlink_to(elsewhere / ORPHAN)
    assert sweep(results, lambda: frozenset({KNOWN}), time.time()) == 1
    left = {entry.name for entry in results.iterdir()}
    assert left == {YOUNG, KNOWN, "notes of mine", "20260101-000000-dddddd"}
    assert (elsewhere / ORPHAN / "call.txt").exists()


def test_where_nothing_is_old_nobody_is_asked_which_sessions_there_are(tmp_path: Path):
    def never() -> frozenset[str]:
        raise AssertionError("it costs a look into the database")

    assert sweep(tmp_path / "none", never, time.time()) == 0
    kept(tmp_path / "results", YOUNG, 1)
    assert sweep(tmp_path / "results", never, time.time()) == 0


async def test_the_sessions_there_are_are_those_of_the_database(tmp_path: Path):
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    session = open_session(RunOptions(tmp_path, environ, False, {"model.provider": "echo"})).session
    await run(session, say("hello"))
    await session.close()
    assert session_ids(places.database(environ)) == {session.id}
