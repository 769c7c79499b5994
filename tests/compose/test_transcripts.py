"""What a run leaves beside the log is there whole, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_cli.compose.transcripts import save
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says
from tests.fakes.sessions import open_session, run, say

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size to run into")


async def a_run() -> ListLog:
    log = ListLog()
    session = open_session(Playing(says("one")), log=log)
    await run(session, say("first"))
    await session.close()
    return log


async def test_a_run_leaves_a_summary_and_a_transcript_for_nobody_else(tmp_path: Path):
    save(await a_run(), 0, tmp_path / "runs")
    files = sorted((tmp_path / "runs").iterdir())
    assert [file.name for file in files] == ["1.json", "1.md"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


async def test_a_full_disk_leaves_no_half_of_one(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    import resource

    log = await a_run()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        save(log, 0, tmp_path / "runs")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "runs").iterdir()) == []
    assert "could not be saved" in caplog.text
