"""Everything that a session had is there again after it was left, and it says what."""

from __future__ import annotations

import json
from pathlib import Path

from agent_cli import Agent
from agent_cli.kernel.commands import AddRule, Say, SetEffort, SetMode, SetModel
from agent_cli.kernel.messages import Text
from agent_cli.kernel.todo import TodoItem
from agent_cli.talk.resumed import restored
from tests.compose.test_agent import calls


def opened(tmp_path: Path, *replies: object, resume: str | None = None) -> Agent:
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(reply) for reply in replies))
    settings = {
        "safety.watchdog": "enforce",
        "session.db": str(tmp_path / "sessions.db"),
        "permissions.plan_mode": "advisory",
    }
    model = "" if resume else "scripted"
    return Agent.open(
        model,
        cwd=tmp_path / "project",
        script=script,
        settings=settings,
        resume=resume,
        ephemeral=False,
        attended=True,
    )


async def test_a_session_has_again_what_it_had(tmp_path: Path) -> None:
    (tmp_path / "project" / ".agents").mkdir(parents=True)
    items = [{"text": "look", "status": "done"}, {"text": "mend", "status": "pending"}]
    replies = [
        calls("todo", items=items),
        calls("record_plan", plan="1. Mend it."),
        *[calls("list_dir", path=".")] * 9,
    ]
    agent = opened(tmp_path, *replies)
    session = agent.session
    session.send(SetEffort("high"))
    assert (await agent.run("go")).outcome == "loop-detected"
    session.send(SetModel("echo/echo"))
    session.send(SetMode("acceptEdits"))
    session.send(AddRule("allow", "bash:ls *"))
    session.send(AddRule("deny", "bash:rm *"))
    session.send(Say((Text("and hurry"),)))
    before, halted = session.state, session.halted
    assert before.plan, "the plan was recorded"
    await agent.close()

    agent = opened(tmp_path, resume=session.id)
    again = agent.session.state
    assert (again.card.provider, again.mode, again.effort) == ("echo", "acceptEdits", "high")
    assert (again.grants, again.denials) == (("bash:ls *",), ("bash:rm *",))
    assert again.todo == (TodoItem("look", "done"), TodoItem("mend", "pending"))
    assert (
        (again.plan, again.plan_path) == (before.plan, before.plan_path) == ("1. Mend it.", before.plan_path)
    )
    assert agent.session.halted == halted != ""
    assert [say.content for say in again.queued] == [(Text("and hurry"),)]
    assert restored(again, agent.session.halted) == (
        "resumed at turn 1: echo, acceptEdits mode, 1 grant, 1 message waiting, halted by a guardrail, a plan in force, "
        "to do: 1 of 2 done"
    )
    agent.reset_watchdog()
    await agent.session.idle()
    assert again.answer.startswith("and hurry"), "what waited goes out"
    assert again.halts.trips == before.halts.trips
    await agent.close()
