"""Nobody is asked about a change that cannot be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.around import Around
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts
from agent_cli.tools.edit_file import EditFile
from agent_cli.tools.workspace import Workspace
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until


def edit(path: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_file", {"path": str(path), "edits": [{"old": old, "new": new}]}


def opened(log: ListLog, project: Path, *wanted: tuple[str, dict[str, Any]]) -> Any:
    facts = Facts("ask", True, ((str(project), "rw"),))
    tool = Around(EditFile(Workspace(project)))
    return open_session(Playing(wants(*wanted), says("done")), tool, log=log, judge=judge, facts=facts)


def asked(log: ListLog) -> list[str]:
    return [event.call_id for event in log.events if isinstance(event, ev.ApprovalRequested)]


def results(log: ListLog) -> list[ev.ToolReturned]:
    return [event for event in log.events if isinstance(event, ev.ToolReturned)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.txt").write_text("one\ntwo\n")
    return tmp_path / "p"


async def test_an_edit_whose_old_text_is_not_there_fails_unasked(project: Path):
    log = ListLog()
    session = opened(log, project, edit(project / "a.txt", "three", "3"))
    await run(session, say("go"))
    assert asked(log) == []
    (result,) = results(log)
    assert not result.executed
    told = ev.as_text(result.output)
    assert "Nobody was asked" in told
    assert "`old` of the edit is not in" in told
    await session.close()


async def test_what_an_earlier_call_may_make_possible_is_asked_about(project: Path):
    log = ListLog()
    first, second = edit(project / "a.txt", "two", "three"), edit(project / "a.txt", "three", "3")
    session = opened(log, project, first, second)
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    assert len(asked(log)) == 2
    for call in asked(log):
        session.send(Answer(call, allowed=True))
    await session.idle()
    assert (project / "a.txt").read_text() == "one\n3\n"
    await session.close()


async def test_behind_one_that_cannot_succeed_the_next_is_looked_at_too(project: Path):
    log = ListLog()
    session = opened(
        log, project, edit(project / "a.txt", "x", "y"), edit(project / "a.txt", "z", "y"), edit(project / "a.txt", "one", "1")
    )  # fmt: skip
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    (third,) = asked(log)
    session.send(Answer(third, allowed=True))
    await session.idle()
    assert [result.executed for result in results(log)] == [False, False, True]
    await session.close()


async def test_a_file_that_may_not_be_read_unasked_tells_nothing_of_itself_unasked(project: Path):
    log, secret = ListLog(), project.parent / "secret.txt"
    secret.write_text("token\n")
    session = opened(log, project, edit(secret, "guess", "y"))
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    (call,) = asked(log)
    session.send(Answer(call, allowed=False))
    await session.idle()
    assert "token" not in "".join(ev.as_text(result.output) for result in results(log))
    await session.close()
