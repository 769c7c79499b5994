"""Tools that files describe, and checkers behind an edit: what they run, what is refused, and whose project counts."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.compose.custom_tools import Own, definitions, with_own
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.compose.toolset import check
from agent_cli.kernel import wire
from agent_cli.kernel.errors import ArgumentsError, ConfigError
from agent_cli.kernel.events import as_text
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts, Proposal, Tool
from agent_cli.tools import diagnosed
from agent_cli.tools.custom import CustomTool, read
from agent_cli.tools.diagnosed import matches
from agent_cli.tools.template import TemplateError, filled
from agent_cli.tools.template import check as check_template
from tests.tools.bench import Bench

GREET = """name = "greet"
description = "Greet somebody."
command = "printf '%s-%s\\\\n' {who} --times={times} $HOME"

[arguments.who]
description = "whom"

[arguments.times]
type = "integer"
default = 1
"""


def test_values_are_one_word_each_whatever_stands_in_them() -> None:
    line = "printf '<%s>' {a} --b={b}"
    check_template(line, ("a", "b"))
    for value in ("", "two words", "'", '"; rm -rf ~; "', "$(touch x)", "`id`", "a\nb", "{b}", "-x"):
        done = subprocess.run(
            ["bash", "-c", filled(line, {"a": value, "b": value})], capture_output=True, check=True
        )
        assert done.stdout.decode() == f"<{value}><--b={value}>"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_the_words_of_a_line_do_not_depend_on_the_values(value: str) -> None:
    assert shlex.split(filled("run {a} x{b}", {"a": value, "b": value})) == ["run", value, f"x{value}"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("echo '{a}'", "stands in quotes"),
        ('echo "{a}"', "stands in quotes"),
        ("echo x # {a}", "stands in quotes or in a comment"),
        ("echo `cat {a}`", "backquotes"),
        ("cat <<END\n{a}\nEND", "here-document"),
        ("echo $(( {a} ))", "arithmetic"),
        ("[[ {a} -eq 1 ]]", "may run"),
        ("eval {a}", "a second time"),
        ("echo {b} {a}", "{b} is no argument"),
        ("echo ${a}", "does not stand in the command"),
        ("echo", "does not stand in the command"),
    ],
)
def test_where_no_value_is_safe_the_template_is_refused(line: str, said: str) -> None:
    with pytest.raises(TemplateError) as caught:
        check_template(line, ("a",))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (GREET.replace('= "greet"', "= greet"), 1, "Invalid value"),
        (GREET.replace("integer", "whole"), 9, "Invalid enum value 'whole'"),
        (GREET.replace("{who}", "'{who}'"), 3, "stands in quotes"),
        (GREET.replace("default = 1", 'default = "x"'), 1, "Expected `int`"),
        (GREET + "extra = 1\n", 11, "unknown field `extra`"),
        (GREET.replace("greet", "Greet Me"), 1, "matching regex"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text, "greet.toml")
    assert str(caught.value).startswith(f"greet.toml:{line}: ")
    assert said in str(caught.value)


def made(bench: Bench, text: str) -> Tool:
    return CustomTool(read(text, "x.toml"), bench.tools["bash"])


async def test_it_runs_with_typed_arguments(bench: Bench) -> None:
    tool = made(bench, GREET)
    properties = tool.spec.schema["properties"]
    assert properties["who"] == {"type": "string", "description": "whom"}
    assert tool.spec.schema["required"] == ["who"]
    args = wire.arguments(tool.arguments, {"who": "Jo & Co", "times": 3})
    tool.touches(args)
    text = as_text(await tool.run(args, bench.said.append))
    assert text.startswith("Jo & Co---times=3\n")
    with pytest.raises(ArgumentsError, match="Expected `int`"):
        wire.arguments(tool.arguments, {"who": "x", "times": "many"})


def ruling(tool: Tool, facts: Facts, **given: Any) -> str:
    touches = tool.touches(wire.arguments(tool.arguments, given))
    return judge(Proposal(tool.spec.name, tool.read_only, touches), facts).verdict


def test_the_gate_sees_the_line_as_it_sees_one_of_bash(bench: Bench) -> None:
    roots = ((str(bench.root), "rw"),)
    text = 'name = "push"\ndescription = "Push."\ncommand = "git push origin {to}"\n[arguments.to]\n'
    tool = made(bench, text)
    assert ruling(tool, Facts("ask", True, roots), to="main") == "ask"
    assert ruling(tool, Facts("yolo", True, roots, deny=("bash:git push*",)), to="main") == "deny"
    assert ruling(tool, Facts("ask", True, roots, allow=("push:git push*",)), to="main") == "allow"
    reads = made(
        bench, text.replace("push origin", "log") + "[arguments.more]\n".replace("[arguments.more]\n", "")
    )
    assert ruling(reads, Facts("ask", True, roots), to="main") == "allow"
    vouched = made(bench, "read_only = true\n" + text)
    assert ruling(vouched, Facts("ask", True, roots), to="main") == "allow"
    assert ruling(vouched, Facts("ask", True, roots, deny=("bash:git push*",)), to="main") == "deny"


def options(root: Path, **more: Any) -> RunOptions:
    environ = {"HOME": str(root / "home"), "AGENT_CLI_HOME": str(root / "home/.agents")}
    return RunOptions(
        root / "project", environ, attended=False, flags={"model.provider": "echo", **more}, ephemeral=True
    )


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_of_a_project_they_count_only_where_it_is_trusted(tmp_path: Path) -> None:
    put(tmp_path / "project/.agents/tools/greet.toml", GREET)
    put(tmp_path / "project/.agents/config.json", '{"tools": {"diagnostics": {".py": "touch {path}.seen"}}}')
    put(tmp_path / "home/.agents/tools/mine.toml", GREET.replace("greet", "mine"))
    run = options(tmp_path)
    loaded = prepare(run)
    assert list(definitions(loaded)) == ["mine"]
    assert loaded.settings.tools.diagnostics == {}
    assert {"tools", "tools.diagnostics"} <= set(loaded.left_out)
    trusted = prepare(
        RunOptions(run.cwd, run.environ, attended=False, flags=run.flags, ephemeral=True, trust=True)
    )
    assert list(definitions(trusted)) == ["mine", "greet"]
    assert trusted.settings.tools.diagnostics == {".py": "touch {path}.seen"}


def test_names_that_are_taken_and_names_to_turn_off(tmp_path: Path) -> None:
    put(tmp_path / "home/.agents/tools/a.toml", GREET)
    check(prepare(options(tmp_path, **{"tools.disable": ("greet",)})))
    with pytest.raises(ConfigError, match="There is no tool 'gret'"):
        check(prepare(options(tmp_path, **{"tools.disable": ("gret",)})))
    put(tmp_path / "home/.agents/tools/b.toml", GREET)
    with pytest.raises(ConfigError, match="another file"):
        definitions(prepare(options(tmp_path)))
    put(tmp_path / "home/.agents/tools/b.toml", GREET.replace("greet", "grep"))
    with pytest.raises(ConfigError, match="is a tool of this program"):
        definitions(prepare(options(tmp_path)))


# ── checkers ──


def checked(bench: Bench, **checks: str) -> None:
    own = Own(checks={pattern.replace("_", "."): line for pattern, line in checks.items()})
    bench.tools = dict(with_own(bench.tools, bench.workspace, own, frozenset()))


async def test_what_a_checker_says_is_added_to_the_result(bench: Bench) -> None:
    checked(bench, _py="grep -n bad {path} && exit 3; true")
    good = await bench.text("write_file", path="a b.py", content="fine\n")
    assert "Diagnostics" not in good
    output = await bench.call("edit_file", path="a b.py", edits=[{"old": "fine", "new": "bad"}])
    assert output.ok
    told = as_text(output)
    assert f"Diagnostics (grep -n bad '{bench.root}/a b.py'" in told
    assert told.endswith("1:bad\n[exit code 3]")
    patch = (
        "*** Begin Patch\n*** Update File: a b.py\n-bad\n+bad bad\n*** Add File: c.txt\n+bad\n*** End Patch\n"
    )
    assert (await bench.text("apply_patch", patch=patch)).count("Diagnostics") == 1


async def test_the_name_of_a_file_is_never_read_by_the_shell(bench: Bench) -> None:
    checked(bench, _py="ls {path} && exit 1")
    told = await bench.text("write_file", path="a$(touch made)'`\";.py", content="x\n")
    assert "[exit code 1]" in told
    assert [path.name for path in bench.root.iterdir()] == ["a$(touch made)'`\";.py"]
    with pytest.raises(ConfigError, match=r"tools\.diagnostics, \*\.py: \{path\} stands in quotes"):
        diagnosed.check({"*.py": 'ruff check "{path}"'})
    diagnosed.check({"*.py": "make lint"})


async def test_a_checker_without_end_of_words_is_cut(bench: Bench) -> None:
    checked(bench, _py="seq 100000; exit 1")
    told = await bench.text("write_file", path="a.py", content="x\n")
    assert "more characters are not shown" in told
    assert len(told) < 5_000
    assert "Diagnostics" not in await bench.text("write_file", path="a.txt", content="x\n")


def test_which_files_a_checker_is_for() -> None:
    assert matches(".py", "src/a.py")
    assert matches("*.py", "src/a.py")
    assert matches("*.py", "a.py")
    assert matches("src/**/*.ts", "src/x/y.ts")
    assert not matches("src/**/*.ts", "test/y.ts")
    assert not matches("*.py", "a.pyc")
