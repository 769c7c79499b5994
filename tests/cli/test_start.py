"""What a line asks for, and what does not go together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_cli.cli.options import FLAGS
from agent_cli.cli.start import enter, interpret
from agent_cli.cli.values import UsageError
from agent_cli.cli.words import read


def start(*argv, terminal=True):
    return interpret(read(list(argv)), terminal=terminal)


def test_a_bare_start_is_the_terminal_ui():
    asked = start()
    assert (asked.one_shot, asked.prompt, asked.flags) == (False, None, {})


def test_without_a_terminal_every_run_is_a_one_shot_run():
    assert start("hello", terminal=False).one_shot
    assert start("-p", "hello").one_shot


def test_only_what_was_given_becomes_a_setting():
    asked = start("-p", "hello", "-m", "opus", "--max-steps", "0", "--effort", "low")
    assert asked.flags == {"model.name": "opus", "budgets.max_steps": 0, "model.effort": "low"}


def test_the_old_word_for_no_checkpoints_works_with_a_notice():
    asked = start("-p", "x", "--no-checkpoint", "--checkpoint=off")
    assert asked.flags == {"checkpoint.mode": "off"}
    assert asked.notices == ("--no-checkpoint is the old word for --checkpoint=off; use that.",)


def test_yolo_is_a_permission_mode():
    assert start("--yolo").flags == {"permissions.mode": "yolo"}
    assert start("--yolo", "--permission-mode", "yolo").flags == {"permissions.mode": "yolo"}


def test_paths_come_on_top_of_the_configured_ones():
    asked = start("--add-dir", "/a", "--allow-path", "/b:rw")
    assert asked.allow_paths == ("/a", "/b:rw")
    assert asked.flags == {}


def test_a_script_names_its_provider():
    assert start("--script", "x.jsonl").flags == {"model.provider": "scripted"}


def test_options_may_follow_the_prompt():
    asked = start("-p", "hello", "--output-format", "json", "--strict", "-q")
    assert (asked.prompt, asked.output_format, asked.strict, asked.quiet) == ("hello", "json", True, True)


def test_bytes_that_are_no_text_are_replaced_in_a_prompt():
    assert start("-p", os.fsdecode(b"caf\xe9")).prompt == "caf\ufffd"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (
            ["--no-checkpoint", "--checkpoint=model"],
            "--no-checkpoint and --checkpoint model do not go together",
        ),
        (["-c", "-r", "x"], "--continue and --resume do not go together"),
        (["--ephemeral", "-r", "x"], "--ephemeral and --resume"),
        (["--ephemeral", "-c"], "--ephemeral and --continue"),
        (["--ephemeral", "--session-db", "x"], "--ephemeral and --session-db"),
        (["-q", "--verbose", "-p"], "--quiet and --verbose"),
        (["--yolo", "--permission-mode", "ask"], "--yolo and --permission-mode ask"),
        (["--script", "x", "--provider", "anthropic"], "--script is for the scripted provider"),
        (["--script-strict"], "--script-strict needs"),
        (["--output-format", "json"], "add -p"),
        (["--strict"], "add -p"),
        (["fix", "the", "bug"], "put it in quotes"),
        (["sesions", "list"], "Did you mean 'sessions'?"),
        (["modles"], "agent-cli -- modles"),
    ],
)
def test_what_makes_no_sense_is_refused_in_clear_words(argv, said):
    with pytest.raises(UsageError) as raised:
        start(*argv)
    assert said in str(raised.value)


def test_resume_without_an_id_asks_a_person_and_nobody_else():
    assert start("-r").resume == ""
    assert start("-r", "--model", "m").resume == ""
    assert start("-r", "01X").resume == "01X"
    with pytest.raises(UsageError, match="--resume needs an ID"):
        start("-p", "-r")


def test_a_word_like_a_command_is_a_message_where_one_is_meant():
    assert start("-p", "modles").prompt == "modles"
    assert start("--", "modles").prompt == "modles"
    assert start("models please").prompt == "models please"


def test_cd_goes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    enter(start("-C", "deep"))
    assert Path.cwd() == tmp_path / "deep"
    with pytest.raises(UsageError, match="No such file"):
        enter(start("-C", "nowhere"))


def test_the_old_spelling_of_plan_mode_is_read_both_ways() -> None:
    for words, wanted in (
        (["--plan-first"], True),
        (["--plan-first=true"], True),
        (["--plan-first=false"], False),
        (["--no-plan-first"], False),
    ):
        assert interpret(read(["-p", "x", *words]), terminal=False).flags == {
            "permissions.require_plan_artifact": wanted
        }
    with pytest.raises(UsageError, match="do not go together"):
        interpret(read(["-p", "x", "--plan-first", "--no-plan-first"]), terminal=False)


def test_no_repl_is_a_one_shot_run_in_a_terminal_too():
    assert interpret(read(["--no-repl", "hello"]), terminal=True).one_shot
    assert not interpret(read(["hello"]), terminal=True).one_shot
    assert not interpret(read(["--no-tui"]), terminal=False).one_shot
    with pytest.raises(UsageError, match="--no-repl and --no-tui do not go together"):
        interpret(read(["--no-repl", "--no-tui"]), terminal=True)
    with pytest.raises(UsageError, match="--print and --no-tui do not go together"):
        interpret(read(["-p", "x", "--no-tui"]), terminal=True)


@pytest.mark.parametrize("flag", [flag for flag in FLAGS if flag.key and flag.name.startswith("--no-")])
def test_a_word_with_no_switches_off(flag):
    (value,) = start(flag.name).flags.values()
    assert value is False or value == "off"
