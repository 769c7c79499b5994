"""The operator's own commands through the whole product: what they run is judged, and what they choose ends with their turn."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli import Agent
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Say, Wanted
from agent_cli.kernel.events import as_text
from agent_cli.kernel.messages import Text
from agent_cli.talk.commands.own import parts_of, put_in, rules


def opened(tmp_path: Path, *steps: dict[str, Any], attended: bool = False, **settings: Any) -> Agent:
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(step) for step in steps or ({"text": "ok"},)))
    (tmp_path / "p").mkdir(exist_ok=True)
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h")}
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return Agent.open(
        "scripted", cwd=tmp_path / "p", script=script, environ=environ, attended=attended, settings=named
    )


def entries(agent: Agent) -> list[Any]:
    return [entry.event for entry in agent.session.past(0, 999)]


BASH = Wanted("bash", {"command": "echo one; touch made"})


async def test_what_a_command_runs_is_judged_like_the_models_calls(tmp_path: Path) -> None:
    async with opened(tmp_path, permissions__deny=["bash:curl*"]) as agent:
        wanted = [
            Wanted("bash", {"command": "echo hello"}),
            BASH,
            Wanted("bash", {"command": "curl evil.example"}),
            Wanted("read_file", {"path": "/etc/hostname"}),
        ]
        found = [as_text(each) for each in await agent.session.subtasks.gather("/ship", wanted)]
        assert found[0] == "hello\n[exit code 0]"
        assert "nobody is here to be asked" in found[1]
        assert found[2].startswith("Refused (deny: bash:curl*)")
        assert "Refused" in found[3]
        assert not agent.session.state.running
        assert agent.session._core.view.messages() == ()
    assert not (tmp_path / "p" / "made").exists()


async def test_rules_of_a_command_allow_what_it_runs_and_never_what_is_denied(tmp_path: Path) -> None:
    async with opened(tmp_path, permissions__deny=["bash:curl*"]) as agent:
        wanted = [BASH, Wanted("bash", {"command": "curl evil.example"})]
        allow = ("bash:echo*", "bash:touch*", "bash:curl*")
        found = [as_text(each) for each in await agent.session.subtasks.gather("/ship", wanted, allow)]
        assert found[0] == "one\n[exit code 0]"
        assert found[1].startswith("Refused (deny: bash:curl*)")
        (again,) = await agent.session.subtasks.gather("/ship", [BASH])
        assert not again.ok
    assert (tmp_path / "p" / "made").exists()


async def test_the_operator_is_asked_about_what_a_command_runs(tmp_path: Path) -> None:
    async with opened(tmp_path, attended=True) as agent:
        events = agent.session.events()
        running = asyncio.create_task(agent.session.subtasks.gather("/ship", [BASH]))
        async for event in events:
            if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
                assert event.event.subject == "echo one; touch made"
                agent.send(Answer(event.event.call_id, allowed=True))
                break
        (found,) = await running
        assert as_text(found) == "one\n[exit code 0]"


async def test_what_a_message_chooses_ends_with_its_turn(tmp_path: Path) -> None:
    call = {"calls": [{"name": "bash", "arguments": {"command": "touch made"}}]}
    async with opened(tmp_path, call, {"text": "one"}, call, {"text": "two"}) as agent:
        agent.send(Say((Text("go"),), allow=("bash:touch*",)))
        await agent.session.idle()
        agent.send(Say((Text("again"),)))
        await agent.session.idle()
        first, second = [event.output.ok for event in entries(agent) if isinstance(event, ev.ToolReturned)]
        assert (first, second) == (True, False)
        before = agent.session.state.card.id
        agent.send(Say((Text("go"),), model="echo"))
        await agent.session.idle()
        switched = [event.reason for event in entries(agent) if isinstance(event, ev.ModelSwitched)]
        assert switched == ["for this turn", "the turn is over"]
        assert agent.session.state.card.id == before
        assert any(
            isinstance(event, ev.AssistantMessage) and event.provider == "echo" for event in entries(agent)
        )
        agent.send(Say((Text("go"),), model="no-such-model"))
        await agent.session.idle()
        assert any(
            isinstance(event, ev.OperatorNote) and "no-such-model" in event.text for event in entries(agent)
        )


def test_the_parts_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b c.md").write_text("x")
    body = 'Look:\n!git status --short\nOn !`git branch` and @a.py, @none.py, me@a.py, @"b c.md"\n! not this\n!!nor this'
    parts = parts_of(body, "and !`rm -rf x` @a.py", str(tmp_path))
    wanted = [part for part in parts if isinstance(part, Wanted)]
    assert [each.arguments for each in wanted] == [
        {"command": "git status --short"},
        {"command": "git branch"},
        {"path": "a.py"},
        {"path": "b c.md"},
    ]
    outputs = [ev.Output((Text(text),)) for text in ("M a.py\n[exit code 0]", "main ```x", "1\tx", "1\ty")]
    (text,) = put_in(parts, outputs)
    assert isinstance(text, Text)
    assert text.text.startswith(
        "Look:\n```\n$ git status --short\nM a.py\n```\nOn ````\n$ git branch\nmain ```x\n````"
    )
    assert "!!nor this\n\nand !`rm -rf x` @a.py" in text.text
    assert text.text.endswith('<file path="a.py">\n1\tx\n</file>\n\n<file path="b c.md">\n1\ty\n</file>')


def test_arguments_stand_in_commands_and_names_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    parts = parts_of("!grep $1 src\nIn @$2: $ARGUMENTS", "TODO a.py", str(tmp_path))
    assert parts == [
        "", Wanted("bash", {"command": "grep TODO src"}), "\nIn @a.py: TODO a.py", Wanted("read_file", {"path": "a.py"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Bash(git add:*)", "bash:git add*"), ("Bash(npm test)", "bash:npm test"), ("Read", "read_file:*"),
        ("bash:git diff*", "bash:git diff*"), ("edit_file", "edit_file:*"), ("mcp__x__y", "mcp__x__y:*"),
    ],
)  # fmt: skip
def test_allowed_tools_as_rules(said: str, rule: str) -> None:
    assert rules((said,)) == (rule,)
