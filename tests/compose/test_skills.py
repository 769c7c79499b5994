"""Skills through the whole product: what the model is told of them, and when."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_cli import Agent
from agent_cli.compose import RunOptions
from agent_cli.compose.health import examine
from agent_cli.compose.recipes import problems
from agent_cli.compose.session import prepare
from agent_cli.compose.trust import ask
from agent_cli.compose.workplace import Workplace
from agent_cli.config import trust
from agent_cli.config.skills import Place, read_skills
from agent_cli.context.skills import Row, listed, missing
from agent_cli.engine.own_tools import book
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.events import as_text
from agent_cli.tools.builtin import NAMES

SKILL = "---\nname: {0}\ndescription: How to {0} here.\n{1}---\nFirst look, then {0}.\n"


def write(directory: Path, name: str, more: str = "") -> Path:
    path = directory / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL.format(name, more))
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "p").mkdir()
    return tmp_path / "home" / "p"


def opened(project: Path, environ: dict[str, str], *steps: dict[str, Any], **settings: Any) -> Agent:
    script = project.parent / "script.jsonl"
    script.write_text("\n".join(json.dumps(step) for step in steps or ({"text": "ok"},)))
    return Agent.open("scripted", cwd=project, script=script, environ=environ, settings=settings)


def system(session: Session) -> str:
    return "".join(session._core.prefix().system)


def names(session: Session) -> list[str]:
    return [tool.name for tool in session.tools()]


def believe(project: Path, environ: dict[str, str]) -> None:
    place = trust.place(project, environ)
    assert place is not None
    trust.trust(place, environ)


async def test_the_prompt_holds_only_the_names_and_the_body_comes_when_it_is_used(
    project: Path, environ: dict[str, str]
) -> None:
    path = write(project / ".agents" / "skills", "deploy", "allowed-tools: Read, Browser\n")
    (path.parent / "check.sh").write_text("true")
    believe(project, environ)
    used = {"calls": [{"name": "skill", "arguments": {"name": "deploy"}}]}
    async with opened(project, environ, used, {"text": "done"}) as agent:
        assert "- deploy: How to deploy here." in system(agent.session)
        assert "First look" not in system(agent.session)
        await agent.run("deploy it")
        (result,) = [
            entry.event for entry in agent.session.past(0, 99) if isinstance(entry.event, ev.ToolReturned)
        ]
    text = as_text(result.output)
    assert text.endswith("First look, then deploy.")
    assert "Paths in it begin at .agents/skills/deploy. Beside it are: check.sh." in text
    assert "names tools that you do not have: Browser." in text


async def test_without_skills_there_is_no_tool_and_not_a_byte(project: Path, environ: dict[str, str]) -> None:
    async with opened(project, environ) as agent:
        before = system(agent.session)
        assert "skill" not in names(agent.session)
    (project / ".agents" / "skills").mkdir(parents=True)
    async with opened(project, environ) as agent:
        assert system(agent.session) == before
        assert "skill" not in names(agent.session)


async def test_a_skill_that_is_turned_off_is_not_told_of(project: Path, environ: dict[str, str]) -> None:
    write(project.parent / ".agents" / "skills", "deploy")
    async with opened(project, environ) as agent:
        assert "skill" in names(agent.session)
    async with opened(project, environ, **{"tools.disable": ["skill"]}) as agent:
        assert "skill" not in names(agent.session)
        assert "deploy" not in system(agent.session)


async def test_the_project_wins_and_our_directory_wins_over_that_of_others(
    project: Path, environ: dict[str, str]
) -> None:
    write(project.parent / ".agents" / "skills", "deploy")
    write(project.parent / ".claude" / "skills", "deploy").write_text(
        SKILL.format("deploy", "").replace("How", "Not how")
    )
    write(project.parent / ".claude" / "skills", "theirs")
    mine = write(project / ".claude" / "skills", "test")
    believe(project, environ)
    async with opened(project, environ) as agent:
        told = system(agent.session)
    assert [line for line in told.splitlines() if line.startswith("- ")][-3:] == [
        "- deploy: How to deploy here.",
        "- test: How to test here.",
        "- theirs: How to theirs here.",
    ]
    own = write(project / ".agents" / "skills", "test")
    options = RunOptions(project, environ, True, {"model.provider": "echo"}, trust=True)
    rows = {each.name: each for each in Workplace(options, project / "log").skills()}
    assert (rows["test"].path, rows["test"].scope, rows["theirs"].scope) == (str(own), "project", "user")
    assert str(mine) not in {each.path for each in rows.values()}


async def test_skills_of_a_project_count_only_where_it_is_trusted(
    project: Path, environ: dict[str, str]
) -> None:
    path = write(project / ".claude" / "skills", "deploy")
    options = RunOptions(project, environ, True, {"model.provider": "echo"})
    assert prepare(options).left_out == (".claude/skills",)
    assert Workplace(options, project / "log").skills() == ()
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "y"

    answered = ask(options, answer)
    assert answered is not None
    assert ".claude/skills" in asked[0]
    assert [each.name for each in Workplace(answered, project / "log").skills()] == ["deploy"]
    assert prepare(options).left_out == ()
    path.write_text(SKILL.format("deploy", "") + "And something else.")
    assert prepare(options).left_out == (".claude/skills",)


async def test_a_bad_skill_ends_no_session_and_is_told(project: Path, environ: dict[str, str]) -> None:
    path = write(project.parent / ".agents" / "skills", "deploy")
    path.write_text("no front matter")
    write(project.parent / ".agents" / "skills", "test", "color: red\n")
    async with opened(project, environ) as agent:
        await agent.run("hello")
        notes = [
            entry.event.text
            for entry in agent.session.past(0, 99)
            if isinstance(entry.event, ev.OperatorNote) and entry.event.level == "warning"
        ]
    assert any(f"{path}:1: it begins with no front matter" in note for note in notes)
    options = RunOptions(project, environ, True, {"model.provider": "echo"})
    found = {each.what: each for each in await asyncio.to_thread(examine, options)}
    assert found["skills"].status == "note"
    assert "`color` has no meaning here" in found["skills"].says
    assert "left out" in found["skills"].says


async def test_an_unknown_skill_is_answered_with_the_nearest(project: Path, environ: dict[str, str]) -> None:
    write(project.parent / ".agents" / "skills", "deploy")
    used = {"calls": [{"name": "skill", "arguments": {"name": "depoly"}}]}
    async with opened(project, environ, used, {"text": "done"}) as agent:
        await agent.run("deploy it")
        (result,) = [
            entry.event for entry in agent.session.past(0, 99) if isinstance(entry.event, ev.ToolReturned)
        ]
    assert not result.output.ok
    assert "Did you mean 'deploy'?" in as_text(result.output)


async def test_files_beside_a_skill_of_the_users_may_be_read(project: Path, environ: dict[str, str]) -> None:
    path = write(project.parent / ".agents" / "skills", "deploy")
    (path.parent / "more.md").write_text("the details")
    read = {"calls": [{"name": "read_file", "arguments": {"path": str(path.parent / "more.md")}}]}
    async with opened(project, environ, read, {"text": "done"}) as agent:
        await agent.run("deploy it")
        (result,) = [
            entry.event for entry in agent.session.past(0, 99) if isinstance(entry.event, ev.ToolReturned)
        ]
    assert "the details" in as_text(result.output)


async def test_an_agent_that_may_use_skills_is_told_of_them(project: Path, environ: dict[str, str]) -> None:
    write(project.parent / ".agents" / "skills", "deploy")
    agents = project.parent / ".agents" / "agents"
    agents.mkdir()
    for name, tools in (("may", "read_file, skill"), ("not", "read_file")):
        (agents / f"{name}.md").write_text(f"---\ndescription: {name}\ntools: {tools}\n---\nLook.\n")
    async with opened(project, environ) as agent:
        core = agent.session._core
        staff = core.parts.staff
        assert staff is not None
        told = {
            each.name: "- deploy: How to deploy here." in staff.system(each, core.started, core.model.card)
            for each in staff.offered
        }
    assert (told["may"], told["not"], told["general"]) == (True, False, True)


def test_a_recipe_with_a_bad_skill_is_not_right(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# x\n\ny\n")
    write(tmp_path / ".agents" / "skills", "deploy", "allowed-tools: bash, browser\n")
    (wrong,) = problems(tmp_path, {"HOME": str(tmp_path)})
    assert "names tools that a run with this recipe does not have: browser" in wrong


def test_tools_are_known_by_the_names_that_others_give_them() -> None:
    needs = ("Read", "Bash(git add:*)", "bash:git*", "Edit", "grep", "Task", "Task")
    assert missing(needs, ("read_file", "bash", "grep")) == ("Edit", "Task")


def test_the_skills_of_this_project_are_right() -> None:
    root = Path(__file__).resolve().parents[2]
    found = read_skills([Place(root / ".agents" / "skills", "project", root)])
    assert found.problems == ()
    for each in found.found:
        named = re.findall(r"`((?:agent_cli|tests|docs)/[\w/.]+)`", each.body())
        assert named
        assert [path for path in named if "NAME" not in path and not (root / path).exists()] == []
        assert missing(each.needs, (*NAMES, *book.NAMES)) == ()


def test_many_descriptions_share_their_room() -> None:
    few, many = [listed(Row(f"s{at}", "d" * 1000) for at in range(count)) for count in (16, 200)]
    assert few.count("d" * 1000) == 16
    assert len(many) < 20_000
    assert many.count("d…") == 200
    assert listed(()) == ""
