"""Subtasks with real tools, a real project and a service on loopback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_cli import Agent
from agent_cli.compose.subtasks import OWN_MODEL, children, small_name, told_of
from agent_cli.config.settings import Settings
from agent_cli.config.sources import load
from agent_cli.engine.own_tools.agentic import WRAPPERS
from agent_cli.kernel import events as ev
from agent_cli.providers import catalog
from tests.fakes.http_server import FakeService, Say

USAGE = {"input_tokens": 1_000, "output_tokens": 100}


def asks(tool: str, **arguments: str) -> Say:
    return Say("I ask.", calls=((tool, json.dumps(arguments)),), usage=USAGE)


def opened(service: FakeService, project: Path, settings: Mapping[str, Any] | None = None) -> Agent:
    environ = {"ANTHROPIC_BASE_URL": service.url, "ANTHROPIC_API_KEY": "k", "HOME": str(project.parent)}
    return Agent.open("claude-opus-5", cwd=project, environ=environ, settings=settings or {})


def settings_of(tmp_path: Path, **flags: Any) -> Settings:
    return load(tmp_path, {}, {name.replace("__", "."): value for name, value in flags.items()}).settings


async def test_a_subtask_runs_on_the_small_model_and_costs_what_the_service_bills(tmp_path: Path):
    (tmp_path / "a.py").write_text("secret = 3\n")
    replies = [
        asks("agentic_grep", question="where is secret set?"),
        Say("I look.", calls=(("grep", '{"pattern": "secret"}'),), usage=USAGE),
        Say("secret is set in a.py:1", usage=USAGE),
        Say("In a.py.", usage=USAGE),
    ]
    async with FakeService(list(replies)) as service, opened(service, tmp_path) as agent:
        reply = await agent.run("where?")
        assert reply.text == "In a.py."
        bodies = [request.body for request in service.requests]
        assert [body["model"] for body in bodies] == [
            "claude-opus-5",
            "claude-haiku-4-5",
            "claude-haiku-4-5",
            "claude-opus-5",
        ]
        assert [tool["name"] for tool in bodies[1]["tools"]] == ["grep", "read_file"]
        assert "a.py" in json.dumps(bodies[2]["messages"]), "the search ran in the project"
        assert "agentic_research" in {tool["name"] for tool in bodies[0]["tools"]}
        assert bodies[0]["tools"] == bodies[3]["tools"], "the schema of the tools stays the same bytes"
        large, small = (catalog.card(name) for name in ("claude-opus-5", "claude-haiku-4-5"))
        assert large is not None
        assert small is not None
        billed = sum(
            2 * (1_000 * card.prices[-1].input + 100 * card.prices[-1].output) / 1e6
            for card in (large, small)
        )
        assert reply.cost == pytest.approx(billed)
        assert agent.context_stats().subtask_cost < billed / 2
        assert service.violations == []


async def test_what_a_subtask_read_does_not_count_as_read_by_the_session(tmp_path: Path):
    (tmp_path / "a.py").write_text("secret = 3\n")
    replies = [
        asks("agentic_read_file", path="a.py", question="what is secret?"),
        Say("I read.", calls=(("read_file", '{"path": "a.py"}'),), usage=USAGE),
        Say("3", usage=USAGE),
        Say("I write.", calls=(("write_file", '{"path": "a.py", "content": "secret = 4\\n"}'),), usage=USAGE),
        Say("Done.", usage=USAGE),
    ]
    allow = {"permissions.mode": "acceptEdits"}
    async with FakeService(list(replies)) as service, opened(service, tmp_path, allow) as agent:
        await agent.run("change it")
        assert (tmp_path / "a.py").read_text() == "secret = 3\n", (
            "the session never saw what it would overwrite"
        )


async def test_what_is_refused_to_the_session_is_refused_in_a_subtask(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "outside.txt").write_text("secret\n")
    replies = [
        asks("agentic_read_file", path="../outside.txt", question="what is in it?"),
        Say("I read.", calls=(("read_file", '{"path": "../outside.txt"}'),), usage=USAGE),
        Say("It was refused.", usage=USAGE),
        Say("No.", usage=USAGE),
    ]
    async with FakeService(list(replies)) as service, opened(service, project) as agent:
        await agent.run("read it")
        inner = json.dumps(service.requests[2].body["messages"])
        assert "Refused (path-scope)" in inner
        assert "secret" not in inner


@pytest.mark.parametrize(
    ("settings", "there"),
    [
        ({}, set(WRAPPERS)),
        ({"agentic.enabled": False}, set[str]()),
        ({"tools.disable": ["glob", "agentic_grep"]}, {"agentic_read_file", "agentic_fetch_url"}),
    ],
)
async def test_which_of_them_there_are(tmp_path: Path, settings: dict[str, Any], there: set[str]):
    async with FakeService([Say("ok")]) as service, opened(service, tmp_path, settings) as agent:
        await agent.run("hi")
        offered = {tool["name"] for tool in service.requests[0].body["tools"]}
        assert {name for name in offered if name.startswith("agentic_")} == there


async def test_what_a_task_class_leaves_out_is_left_out_of_its_subtasks(tmp_path: Path):
    """The class drops the shell, and one of the operator's own drops the search, too: neither is there further down."""
    (tmp_path / "a.py").write_text("secret = 3\n")
    replies = [
        asks("agentic_read_file", path="a.py", question="what is secret?"),
        Say("I try.", calls=(("bash", '{"command": "cat a.py"}'), ("grep", '{"pattern": "s"}')), usage=USAGE),
        Say("I could not.", usage=USAGE),
        Say("No.", usage=USAGE),
    ]
    settings: dict[str, Any] = {
        "session.task_class": "probe",
        "task_classes.probe.drop_tools": ["bash", "grep", "write_file"],
    }
    async with FakeService(list(replies)) as service, opened(service, tmp_path, settings) as agent:
        await agent.run("look")
        above, below = ({tool["name"] for tool in service.requests[at].body["tools"]} for at in (0, 1))
        assert not above & {"bash", "grep", "write_file", "agentic_grep", "agentic_research"}
        assert below <= above
        assert below == {"read_file"}
        told = json.dumps(service.requests[2].body["messages"])
        assert "There is no tool 'bash'" in told
        assert "There is no tool 'grep'" in told


def test_whose_small_model_it_is(tmp_path: Path):
    plain = settings_of(tmp_path)
    named = settings_of(tmp_path, agentic__small_model="ollama/qwen")
    sized = settings_of(tmp_path, model__tiers__small="my-small")
    opus, haiku = catalog.card("claude-opus-5"), catalog.card("claude-haiku-4-5")
    gpt = catalog.card("gpt-5")
    assert opus is not None
    assert haiku is not None
    assert gpt is not None
    assert small_name(plain, opus) == "anthropic/claude-haiku-4-5"
    assert small_name(plain, haiku) == "", "it is small itself"
    assert small_name(plain, gpt) == ""
    assert small_name(named, opus) == "ollama/qwen"
    assert small_name(sized, gpt) == "my-small"
    names = frozenset(WRAPPERS)
    assert told_of(plain, names, gpt) == (OWN_MODEL.format(model=gpt.id, provider="openai"),)
    assert told_of(plain, frozenset(), gpt) == ()
    assert told_of(plain, names, opus) == told_of(plain, names, haiku) == told_of(sized, names, gpt) == ()


def test_zero_means_no_ceiling_for_a_child(tmp_path: Path):
    found = children(settings_of(tmp_path, budgets__child__max_steps=0, budgets__child__max_duration=0.0))
    assert (found.max_steps, found.max_duration) == (None, None)
    usual = children(settings_of(tmp_path))
    assert (usual.max_steps, usual.max_duration, usual.budget) == (30, 1_800.0, "shared")


async def test_it_is_said_once_that_there_is_no_small_model(tmp_path: Path):
    environ = {"OPENAI_API_KEY": "k", "HOME": str(tmp_path)}
    async with FakeService([Say("one"), Say("two")]) as service:
        environ["OPENAI_BASE_URL"] = service.url
        async with Agent.open("gpt-5", cwd=tmp_path, environ=environ) as agent:
            await agent.run("a")
            await agent.run("b")
            last = agent.session.state.seq
            notes: list[str] = []
            async for event in agent.events():
                if isinstance(event, ev.Entry) and isinstance(event.event, ev.OperatorNote):
                    notes.append(event.event.text)
                if isinstance(event, ev.Entry) and event.seq == last:
                    break
            assert sum("no small model of openai is known" in note for note in notes) == 1
