"""A plan before any change: recorded once, in force until it is revoked, and agreed to where the operator wants that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_cli.compose.plan import NEEDED
from agent_cli.config import plans
from agent_cli.engine.parts import Plans
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Mode, Replan
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.messages import text_of
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import STARTED, is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool


class Shelf:
    """Keeps plans in memory."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.broken = ""

    def keep(self, session: str, plan: str) -> str:
        if self.broken:
            raise ToolError(self.broken)
        self.held.append(plan)
        return f"plan-{len(self.held)}.md"

    def revoke(self, path: str) -> str:
        if self.broken:
            raise ToolError(self.broken)
        return path.replace(".md", "-revoked.md")


def opened(
    provider: Playing,
    log: ListLog,
    shelf: Shelf,
    *,
    needs: str = NEEDED,
    approves: bool = False,
    attended: bool = True,
    mode: Mode = "yolo",
    **more: Any,
) -> tuple[Session, FakeTool]:
    write = FakeTool("write_file", read_only=False)
    facts = Facts(mode, attended, (("/p", "rw"),), needs_plan=needs, approves_plans=approves)
    session = open_session(
        provider,
        write,
        FakeTool("read_file"),
        log=log,
        facts=facts,
        judge=judge,
        started=msgspec.structs.replace(STARTED, mode=mode),
        plans=Plans(shelf.keep, shelf.revoke),
        own_tools=frozenset({"record_plan"}),
        **more,
    )
    return session, write


def texts(log: ListLog) -> list[str]:
    return [ev.as_text(event.output) for event in log.events if isinstance(event, ev.ToolReturned)]


WRITE = ("write_file", {"path": "a"})
PLAN: tuple[str, dict[str, object]] = ("record_plan", {"plan": "# Mend it\n1. write a"})


async def test_nothing_is_changed_before_a_plan_is_recorded_and_reading_is_free() -> None:
    log, shelf = ListLog(), Shelf()
    provider = Playing(wants(("read_file", {"path": "a"}), WRITE), wants(PLAN), wants(WRITE), says("done"))
    session, write = opened(provider, log, shelf)
    await run(session, say("go"))
    refused, read, recorded, written = texts(log)
    assert read == "content of a"
    assert refused.startswith("Refused (plan-gate): plan mode is 'required'")
    assert "record_plan" in refused
    assert recorded == "Recorded in plan-1.md. Calls that change something may run now."
    assert (written, write.ran) == ("content of a", ["a"])
    assert shelf.held == ["# Mend it\n1. write a"]
    assert (session.state.plan, session.state.plan_path) == (shelf.held[0], "plan-1.md")
    await session.close()


async def test_the_same_plan_again_is_no_new_plan() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), wants(PLAN), says("ok")), log, shelf)
    await run(session, say("go"))
    outputs = [event.output for event in log.events if isinstance(event, ev.ToolReturned)]
    assert [output.no_op for output in outputs] == [False, True]
    assert len([event for event in log.events if isinstance(event, ev.PlanRecorded)]) == 1
    await session.close()


async def test_an_empty_plan_and_a_shelf_that_breaks_open_no_gate() -> None:
    log, shelf = ListLog(), Shelf()
    shelf.broken = "the disk is full"
    provider = Playing(wants(("record_plan", {"plan": "  "})), wants(PLAN), wants(WRITE), says("ok"))
    session, write = opened(provider, log, shelf)
    await run(session, say("go"))
    empty, broken, refused = texts(log)
    assert "is empty" in empty
    assert broken == "the disk is full"
    assert refused.startswith("Refused (plan-gate)")
    assert write.ran == []
    await session.close()


async def test_a_revoked_plan_closes_the_gate_and_the_model_is_told_why() -> None:
    log, shelf = ListLog(), Shelf()
    provider = Playing(wants(PLAN), says("planned"), wants(WRITE), says("stuck"))
    session, write = opened(provider, log, shelf)
    await run(session, say("go"))
    await run(session, Replan("too wide"), say("go on"))
    assert session.state.plan == ""
    assert ev.PlanRevoked("plan-1-revoked.md", "too wide") in log.events
    assert "revoked by the operator (too wide)" in texts(log)[-1]
    assert write.ran == []
    told = [text_of(event.content) for event in log.events if isinstance(event, ev.OperatorMessage)]
    assert told[-1].startswith("The operator revoked the plan. The reason: too wide. Make a new one")
    await session.close()


async def test_without_a_plan_there_is_nothing_to_revoke() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(), log, shelf)
    session.send(Replan())
    assert isinstance(log.events[-1], ev.OperatorNote)
    assert "no plan in force" in log.events[-1].text
    await session.close()


async def test_a_plan_that_cannot_be_renamed_stays_in_force() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), says("ok")), log, shelf)
    await run(session, say("go"))
    shelf.broken = "read-only"
    session.send(Replan())
    assert session.state.plan
    assert isinstance(log.events[-1], ev.OperatorNote)
    assert "stays in force: read-only" in log.events[-1].text
    await session.close()


async def test_a_resumed_session_knows_its_plan() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), says("ok")), log, shelf)
    await run(session, say("go"))
    await session.close()
    again, write = opened(Playing(wants(WRITE), says("ok")), log, shelf)
    await run(again, say("go on"))
    assert write.ran == ["a"]
    await again.close()


async def test_advisory_keeps_the_plan_and_refuses_nothing() -> None:
    log, shelf = ListLog(), Shelf()
    session, write = opened(Playing(wants(WRITE), wants(PLAN), says("ok")), log, shelf, needs="")
    await run(session, say("go"))
    assert (write.ran, texts(log)[1]) == (["a"], "Recorded in plan-1.md.")
    await session.close()


# ── agreeing to it ──


@pytest.mark.parametrize("mode", ["yolo", "ask", "allow"])
async def test_the_operator_is_asked_about_each_plan_in_every_mode(mode: Mode) -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), says("ok")), log, shelf, approves=True, mode=mode)
    session.send(say("go"))
    asked = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    assert isinstance(asked, ev.Entry)
    assert isinstance(asked.event, ev.ApprovalRequested)
    assert (asked.event.rule, asked.event.editable, asked.event.once_only) == ("plan-approval", True, True)
    assert asked.event.preview == ev.Shown("# Mend it\n1. write a")
    assert shelf.held == []
    session.send(Answer(asked.event.call_id, allowed=True))
    await session.idle()
    assert len(shelf.held) == 1
    await session.close()


async def test_a_rejected_plan_opens_nothing_and_its_reason_is_told() -> None:
    log, shelf = ListLog(), Shelf()
    session, write = opened(Playing(wants(PLAN), wants(WRITE), says("ok")), log, shelf, approves=True)
    session.send(say("go"))
    asked = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    assert isinstance(asked, ev.Entry)
    assert isinstance(asked.event, ev.ApprovalRequested)
    session.send(Answer(asked.event.call_id, allowed=False, message="smaller steps"))
    await session.idle()
    rejected, refused = texts(log)
    assert "smaller steps" in rejected
    assert refused.startswith("Refused (plan-gate)")
    assert (shelf.held, write.ran) == ([], [])
    await session.close()


async def test_a_plan_that_the_operator_changed_is_the_one_in_force_and_the_model_reads_it() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), says("ok")), log, shelf, approves=True)
    session.send(say("go"))
    asked = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    assert isinstance(asked, ev.Entry)
    assert isinstance(asked.event, ev.ApprovalRequested)
    session.send(Answer(asked.event.call_id, allowed=True, edit="# Mend less"))
    await session.idle()
    assert (shelf.held, session.state.plan) == (["# Mend less"], "# Mend less")
    assert "The operator changed the plan" in texts(log)[0]
    assert texts(log)[0].endswith("# Mend less")
    decided = next(event for event in log.events if isinstance(event, ev.ApprovalDecided))
    assert decided.edited
    await session.close()


async def test_where_nobody_is_there_a_plan_is_not_agreed_to() -> None:
    log, shelf = ListLog(), Shelf()
    session, _ = opened(Playing(wants(PLAN), says("ok")), log, shelf, approves=True, attended=False)
    await run(session, say("go"))
    assert texts(log)[0].startswith("Refused (plan-approval)")
    await session.close()


# ── files ──


def test_plans_are_numbered_files_with_front_matter(tmp_path: Path) -> None:
    agents = tmp_path / ".agents"
    agents.mkdir()
    assert plans.keep(agents, "s-1", "First\n") == ".agents/plans/plan-1.md"
    text = (agents / "plans" / "plan-1.md").read_text()
    assert text == '---\nplan: 1\nagent: "main"\nsession: "s-1"\n---\n\nFirst\n'
    assert plans.revoke(agents, ".agents/plans/plan-1.md") == ".agents/plans/plan-1-revoked.md"
    assert plans.keep(agents, "s-1", "Second") == ".agents/plans/plan-2.md"
    assert sorted(path.name for path in (agents / "plans").iterdir()) == ["plan-1-revoked.md", "plan-2.md"]


def test_a_plan_that_is_gone_is_revoked_and_one_in_the_way_is_kept(tmp_path: Path) -> None:
    agents = tmp_path / ".agents"
    agents.mkdir()
    path = plans.keep(agents, "s", "x")
    (tmp_path / path).unlink()
    plans.revoke(agents, path)
    again = plans.keep(agents, "s", "y")
    (tmp_path / ".agents/plans/plan-1-revoked.md").write_text("older")
    assert plans.revoke(agents, again).endswith("plan-1-revoked-2.md")
    assert (tmp_path / ".agents/plans/plan-1-revoked.md").read_text() == "older"


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("a file")
    with pytest.raises(ToolError, match="could not be written"):
        plans.keep(tmp_path, "s", "x")
