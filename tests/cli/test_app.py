"""Help, completion, and the words for a mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_cli import __version__
from agent_cli.cli.app import app
from agent_cli.cli.entry import run
from agent_cli.cli.options import COMMANDS, FLAGS
from agent_cli.config import places

ROOT = Path(__file__).resolve().parents[2]


def mistake(capfd, *argv):
    code = run(list(argv))
    said = capfd.readouterr()
    return code, said.out, said.err


def test_help_names_every_option_and_command(capfd):
    assert run(["--help"]) == 0
    shown = capfd.readouterr().out
    for flag in FLAGS:
        for name in flag.names:
            assert name in shown
    for name in COMMANDS:
        assert f"\n  {name} " in shown
    assert "Examples:" in shown
    assert "Exit codes:" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_the_word_help_is_no_message(capfd):
    assert run(["help"]) == 0
    assert "Exit codes:" in capfd.readouterr().out
    assert run(["help", "sessions"]) == 0
    assert "Usage: agent-cli sessions" in capfd.readouterr().out
    assert run(["-p", "help", "--provider", "echo", "--ephemeral"]) == 0
    assert capfd.readouterr().out == "help\n"


def test_help_has_a_short_name_and_comes_before_everything(capfd):
    assert run(["-h"]) == 0
    whole = capfd.readouterr().out
    assert run(["-p", "hello", "--effort", "nonsense", "--help"]) == 0
    assert capfd.readouterr().out == whole


def test_the_version_is_that_of_the_package(capfd):
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert run(["-p", "--version"]) == 0
    assert capfd.readouterr().out == f"agent-cli {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--modle", "x"], "No such option: --modle. Did you mean --model? Try 'agent-cli --help'."),
        (["-x"], "No such option: -x. Try 'agent-cli --help'."),
        (["--model"], "Option '--model' requires an argument. Try 'agent-cli --help'."),
        (["--quiet=1"], "Option '--quiet' does not take a value. Try 'agent-cli --help'."),
        (
            ["-p", "x", "--agentic-tools=maybe"],
            "--agentic-tools is true or false, as in --agentic-tools=false. Try 'agent-cli --help'.",
        ),
        (
            ["-p", "x", "--effort", "hihg"],
            "--effort is one of low, medium, high, not 'hihg'. Did you mean 'high'?",
        ),
        (
            ["-p", "x", "-C", "/nowhere"],
            "-C /nowhere: No such file or directory. Name a directory that exists.",
        ),
        (
            ["models", "--provder", "x"],
            "No such option: --provder. Did you mean --provider? Try 'agent-cli models --help'.",
        ),
        (["sessions", "lst"], "No such command 'lst'. Did you mean 'list'? Try 'agent-cli sessions --help'."),
    ],
)
def test_a_mistake_is_one_line_with_what_would_be_right(capfd, argv, said):
    assert mistake(capfd, *argv) == (2, "", f"agent: {said} (exit 2)\n")


@pytest.mark.parametrize("words", [["--output-format", "json"], ["--output-format=json"]])
def test_a_mistake_is_an_object_where_one_was_asked_for(capfd, words):
    for argv in (["-p", "x", *words, "--modle"], ["-p", "x", "-c", "-r", "y", *words], ["-p", *words]):
        code, out, err = mistake(capfd, *argv)
        result = json.loads(out)
        assert code == 2 == result["exit_code"]
        assert result["error"]["kind"] == "usage"
        assert result["error"]["message"] in err
        assert (result["answer"], result["session"], result["outcome"]) == (None, None, "error")


def test_stream_json_ends_with_the_object_of_a_mistake(capfd):
    _, out, _ = mistake(capfd, "-p", "x", "--output-format", "stream-json", "--modle")
    line = json.loads(out)
    assert (line["v"], line["type"], line["exit_code"]) == (1, "result", 2)


@pytest.mark.parametrize("prompt", [[], [""], ["  \n"], ["-"]])
def test_nothing_to_say_is_a_mistake(capfd, prompt):
    code, out, err = mistake(capfd, "-p", *prompt)
    assert (code, out) == (2, "")
    assert "give a prompt" in err


def asking(words: str, count: int) -> dict[str, str]:
    """The variables with which bash asks."""
    return {"_AGENT_CLI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}


def complete(words: str, count: int) -> list[str]:
    """What bash is offered for a line of which the word at `count` is being typed."""
    return CliRunner().invoke(app, [], prog_name="agent-cli", env=asking(words, count)).stdout.split()


def test_the_command_itself_answers_a_shell():
    asked = {**os.environ, **asking("agent-cli sessions se", 2)}
    told = subprocess.run(
        [sys.executable, "-m", "agent_cli"], env=asked, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["search"]


def test_completion_offers_options_values_and_commands():
    assert complete("agent-cli --perm", 1) == ["--permission-mode"]
    assert complete("agent-cli --permission-mode a", 2) == ["ask", "acceptEdits", "allow"]
    assert "sessions" in complete("agent-cli ", 1)
    assert complete("agent-cli sessions ", 2)[:2] == ["list", "show"]


def test_completion_knows_models_providers_recipes_kinds_of_work_and_sessions(ask):
    assert "claude-opus-5" in complete("agent-cli -m claude-o", 2)
    assert complete("agent-cli --provider anth", 2) == ["anthropic", "anthropic-vertex"]
    assert "guarded" in complete("agent-cli --recipe g", 2)
    assert complete("agent-cli --task re", 2) == ["research", "review"]
    assert complete("agent-cli --resume ", 2) == []
    assert ask("-p", "hello", "--provider", "echo", "--name", "parser")[0] == 0
    assert complete("agent-cli --resume ", 2)[0] == "parser"
    assert complete("agent-cli -r pa", 2) == ["parser"]
    assert complete("agent-cli sessions show pa", 3) == ["parser"]
    assert complete("agent-cli guardrails show pa", 3) == ["parser"]


def test_completion_knows_config_keys_and_recipes_behind_commands():
    assert complete("agent-cli config set ui.th", 3) == ["ui.theme"]
    assert complete("agent-cli recipes check gu", 3) == ["guarded"]


def test_completion_that_cannot_be_made_offers_nothing(ask):
    file = places.database(os.environ)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 100)
    assert complete("agent-cli --resume ", 2) == []
