"""Agents through the whole product: files that define them, real tools, git worktrees, and a service on loopback."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_cli import Agent
from agent_cli.compose import RunOptions
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.staff import found_agents
from agent_cli.config import trust
from agent_cli.engine.own_tools.book import AGENTS
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of
from tests.fakes.http_server import FakeService, Raw, Received, Say

PLAYED = {"model.name": "scripted"}
FILE = "---\nname: {0}\ndescription: does {0}\n{1}---\nYou do {0}.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "p"
    (made / ".agents" / "agents").mkdir(parents=True)
    return made


def define(project: Path, name: str, more: str = "") -> Path:
    file = project / ".agents" / "agents" / f"{name}.md"
    file.write_text(FILE.format(name, more))
    return file


def environ(project: Path, url: str = "") -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k", "HOME": str(project.parent)}


def opened(service: FakeService, project: Path, **settings: Any) -> Agent:
    given = {"permissions.mode": "yolo", **settings}
    around = environ(project, service.url)
    place = trust.place(project, around)
    assert place is not None
    trust.trust(place, around)
    return Agent.open("claude-opus-5", cwd=project, environ=around, settings=given)


def spawn(*orders: tuple[str, str], background: bool = False) -> Say:
    calls = [
        ("spawn_agent", json.dumps({"agent": agent, "task": task, "background": background}))
        for agent, task in orders
    ]
    return Say("I hand it out.", calls=tuple(calls))


def write(content: str) -> Say:
    return Say("", calls=(("write_file", json.dumps({"path": "shared.txt", "content": content})),))


class Scripts(FakeService):
    """Each conversation has replies of its own, found by what its first message says."""

    def __init__(self, **scripts: list[Say | Raw]) -> None:
        super().__init__([])
        self.scripts = scripts

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        said = json.dumps(request.body["messages"][0])
        self.replies = next(replies for name, replies in self.scripts.items() if name in said)
        return await super()._answer(request, reader, writer)


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *words], capture_output=True, check=True)
    return done.stdout.decode().strip()


def repository(project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.email", "dev@example.org")
    git(project, "config", "user.name", "Dev")
    (project / "a.py").write_text("x = 1\n")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "begin")


def digests(agent: Agent) -> list[str]:
    return [
        entry.event.digest
        for entry in agent.session.past(0, 9_999)
        if isinstance(entry.event, ev.SubtaskCompleted)
    ]


# ── definitions ──


def found(project: Path, **flags: Any) -> Any:
    options = RunOptions(project, environ(project), attended=False, flags=flags, trust=True)
    return found_agents(prepare(options))


def test_the_projects_win_over_the_users_and_the_users_over_ours(project: Path):
    define(project, "general")
    mine = project.parent / ".agents" / "agents"
    mine.mkdir(parents=True)
    (mine / "general.md").write_text(FILE.format("general", "model: small\n"))
    (mine / "explore.md").write_text(FILE.format("explore", "model: small\n"))
    agents = found(project).agents
    assert agents["general"].source == str(project / ".agents" / "agents" / "general.md")
    assert agents["explore"].source == str(mine / "explore.md")


def test_a_file_that_cannot_be_used_is_told_with_its_line_and_ends_nothing(project: Path):
    file = define(project, "broken", "tols: [read_file]\n")
    define(project, "misled", "tools: [read_fil]\n")
    define(project, "dear", "budgets:\n  max_steps: many\n")
    define(project, "good", "budgets:\n  max_steps: 50\n")
    (project / ".agents" / "agents" / "bytes.md").write_bytes(b"\xff\xfe\x00")
    told = found(project)
    assert "good" in told.agents
    assert sorted(line.partition(": ")[2] for line in told.problems) == [
        "it is no UTF-8 text. The agent is left out.",
        "max_steps must be a whole number from 1. The agent is left out.",
        "there is no fact 'tols'; did you mean 'tools'? The agent is left out.",
        "there is no tool 'read_fil'; did you mean 'read_file'? The agent is left out.",
    ]
    assert any(line.startswith(f"{file}:4: ") for line in told.problems)
    session = open_session(
        RunOptions(project, environ(project), attended=True, flags=PLAYED, trust=True, ephemeral=True)
    ).session
    notes = " ".join(str(note.text) for note in session._notices)
    assert f"{file}:4" in notes
    assert "max_steps 50 is more than budgets.child.max_steps allows: it gets 30" in notes


def test_what_another_agent_keeps_is_read_as_far_as_it_means_something_here(project: Path):
    define(project, "mine")
    theirs = project / ".claude" / "agents"
    theirs.mkdir(parents=True)
    facts = "name: {}\ndescription: Finds it.\\nSays where.\ntools: Read, Bash(git:*), WebSearch\nmodel: haiku\ncolor: blue"
    (theirs / "finder.md").write_text(f"---\n{facts.format('finder')}\n---\nFind it.\n")
    (theirs / "mine.md").write_text(f"---\n{facts.format('mine')}\n---\nNot that one.\n")
    (theirs / "odd.md").write_text("---\nname: odd\ndescription: d\ntools: WebSearch\n---\nx\n")
    told = found(project)
    finder = told.agents["finder"]
    assert (finder.tools, finder.model, finder.description) == (
        ("read_file", "bash"),
        "small",
        "Finds it. Says where.",
    )
    assert told.agents["mine"].instructions == "You do mine."
    assert [line.partition(": ")[2] for line in told.problems] == [
        "none of its tools is there in this program. The agent is left out."
    ]
    (theirs / "more.md").write_text(f"---\n{facts.format('more')}\n---\nx\n")
    assert "finder" not in found_agents(prepare(RunOptions(project, environ(project), attended=False))).agents


def test_a_project_that_is_not_trusted_brings_none(project: Path):
    define(project, "mine")
    loaded = prepare(RunOptions(project, environ(project), attended=False))
    assert "mine" not in found_agents(loaded).agents
    assert "agents" in loaded.left_out


@pytest.mark.parametrize(
    ("chosen", "defined", "there"),
    [(None, False, False), (None, True, True), (True, False, True), (False, True, False)],
)
def test_they_come_with_their_tools_where_one_is_defined_or_they_are_asked_for(
    project: Path, chosen: bool | None, defined: bool, there: bool
):
    if defined:
        define(project, "mine")
    flags = PLAYED if chosen is None else {**PLAYED, "agents.enabled": chosen}
    options = RunOptions(project, environ(project), attended=True, trust=True, flags=flags, ephemeral=True)
    session = open_session(options).session
    assert ({tool.name for tool in session.tools()} & set(AGENTS) == set(AGENTS)) == there
    assert bool(session.subtasks.agents) == there


# ── at work ──


async def test_an_agent_works_with_real_tools_and_its_own_words(project: Path):
    define(project, "counter", "tools: [glob]\nmodel: small\n")
    (project / "AGENTS.md").write_text("Say thank you.\n")
    replies = [
        spawn(("counter", "how many files?")),
        Say("", calls=(("glob", '{"pattern": "*.md"}'),)),
        Say("one: AGENTS.md"),
        Say("There is one."),
    ]
    async with FakeService(replies) as service, opened(service, project) as agent:
        assert (await agent.run("count")).text == "There is one."
        bodies = [request.body for request in service.requests]
        assert [body["model"] for body in bodies] == [
            "claude-opus-5", "claude-haiku-4-5", "claude-haiku-4-5", "claude-opus-5",
        ]  # fmt: skip
        words = json.dumps(bodies[1]["system"])
        assert "You do counter." in words
        assert "only your last message reaches it" in words
        assert "Say thank you." in words
        assert [tool["name"] for tool in bodies[1]["tools"]] == ["glob"]
        assert "AGENTS.md" in json.dumps(bodies[2]["messages"])
        (spec,) = [tool for tool in bodies[0]["tools"] if tool["name"] == "spawn_agent"]
        assert "- counter: does counter" in spec["description"]
        assert bodies[0]["tools"] == bodies[3]["tools"]
        assert digests(agent) == ["[counter-1 finished.]\none: AGENTS.md"]


async def test_what_a_task_class_leaves_out_agents_do_not_have_either(project: Path):
    replies = [spawn(("general", "look")), Say("seen"), Say("ok")]
    async with (
        FakeService(replies) as service,
        opened(service, project, **{"tools.disable": ("bash",), "agents.enabled": True}) as agent,
    ):
        await agent.run("go")
        inner = {tool["name"] for tool in service.requests[1].body["tools"]}
        assert "read_file" in inner
        assert not inner & {"bash", "bash_output", *AGENTS, "record_plan", "ask_user", "mark_task_done"}


# ── worktrees ──


async def test_two_in_worktrees_write_the_same_file_and_do_not_meet(project: Path):
    define(project, "maker", "isolation: worktree\n")
    repository(project)
    service = Scripts(
        one=[write("first\n"), Say("wrote")],
        two=[write("second\n"), Say("wrote")],
        go=[spawn(("maker", "one"), ("maker", "two")), Say("both are done")],
    )
    async with service, opened(service, project) as agent:
        await agent.run("go")
        told = digests(agent)
        session = agent.session.id
    assert not (project / "shared.txt").exists()
    branches = [f"agents/{session}/maker-{number}" for number in (1, 2)]
    contents = {git(project, "show", f"{branch}:shared.txt") for branch in branches}
    assert contents == {"first", "second"}
    for branch in branches:
        (digest,) = [digest for digest in told if branch in digest]
        assert "shared.txt | 1 +" in digest
        assert f"git merge {branch}" in digest
    git(project, "merge", "-q", branches[0])
    assert (project / "shared.txt").read_text() in {"first\n", "second\n"}


async def test_an_unchanged_worktree_is_removed_with_its_branch(project: Path):
    define(project, "maker", "isolation: worktree\n")
    repository(project)
    replies = [
        spawn(("maker", "look")),
        Say("", calls=(("bash", '{"command": "pwd && git branch --show-current"}'),)),
        Say("nothing to do"),
        Say("ok"),
    ]
    async with FakeService(replies) as service, opened(service, project) as agent:
        await agent.run("go")
        (digest,) = digests(agent)
        said = json.dumps(service.requests[2].body["messages"])
        assert f"agents/{agent.session.id}/maker-1" in said, "commands run in the worktree"
    assert digest == "[maker-1 finished.]\nnothing to do\n\nIt changed no file; its worktree was removed."
    assert git(project, "branch", "--list", "agents/*") == ""
    assert len(git(project, "worktree", "list").splitlines()) == 1


async def test_it_may_write_in_its_worktree_and_nowhere_else(project: Path):
    define(project, "maker", "isolation: worktree\n")
    repository(project)
    outside = json.dumps({"path": str(project / "a.py"), "content": "y = 2\n"})
    replies = [
        spawn(("maker", "write")),
        Say("", calls=(("read_file", json.dumps({"path": str(project / "a.py")})), ("write_file", outside))),
        write("inside\n"),
        Say("done"),
        Say("ok"),
    ]
    settings = {"permissions.mode": "acceptEdits"}
    async with FakeService(replies) as service, opened(service, project, **settings) as agent:
        await agent.run("go")
        refused = [
            text_of(entry.event.output.for_model)  # type: ignore[arg-type]  # texts
            for entry in agent.session.past(0, 9_999)
            if entry.branch and isinstance(entry.event, ev.ToolReturned) and not entry.event.output.ok
        ]
        assert len(refused) == 1
        assert "which is outside the project" in refused[0]
        assert "shared.txt" in digests(agent)[0]
    assert (project / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    ("commits", "why"), [(False, "is in no git repository"), (True, "there is no commit yet")]
)
async def test_where_there_can_be_no_worktree_it_says_so(project: Path, commits: bool, why: str):
    file = define(project, "maker", "isolation: worktree\n")
    if commits:
        git(project, "init", "-q")
    replies = [spawn(("maker", "look")), Say("ok")]
    async with FakeService(replies) as service, opened(service, project) as agent:
        await agent.run("go")
        said = json.dumps(service.requests[1].body["messages"])
    assert "No agent was started: it works in a git worktree of its own" in said
    assert str(file) in said
    assert why in said
