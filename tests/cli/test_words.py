"""The reader of plain lines and Typer's parser are one grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from agent_cli.cli.app import app
from agent_cli.cli.options import COMMANDS, FLAGS, OPTION
from agent_cli.cli.words import Line, Unreadable, read


@pytest.mark.parametrize(
    ("argv", "values", "words"),
    [
        ([], {}, []),
        (["hello"], {}, ["hello"]),
        (["-p", "hello", "-m", "x"], {"print": True, "model": "x"}, ["hello"]),
        (["-p", "hello", "--model=x=y"], {"print": True, "model": "x=y"}, ["hello"]),
        (["-pcmx"], {"print": True, "continue": True, "model": "x"}, []),
        (["-m=x"], {"model": "=x"}, []),
        (["-r"], {"resume": ""}, []),
        (["-r", "-c"], {"resume": "", "continue": True}, []),
        (["-r", "x", "y"], {"resume": "x"}, ["y"]),
        (["-m", "--yolo"], {"model": "--yolo"}, []),
        (["-m", "a", "-m", "b"], {"model": "b"}, []),
        (["--max-steps", "0"], {"max_steps": "0"}, []),
        (["--add-dir", "a", "--allow-path", "b:rw"], {"allow_path": ["a", "b:rw"]}, []),
        (["-p", "models"], {"print": True}, ["models"]),
        (["--", "models", "-p"], {}, ["models", "-p"]),
        (["-p", "-"], {"print": True}, ["-"]),
        (["-C", "/tmp", "x"], {"cd": "/tmp"}, ["x"]),
    ],
)
def test_a_plain_line_is_read_without_typer(argv, values, words):
    line = read(argv)
    assert (line.values, line.words) == (values, words)


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["-h"],
        ["-ph"],
        ["--modle", "x"],
        ["-x"],
        ["-m"],
        ["--quiet=yes"],
        ["models"],
        ["--config", "f", "sessions", "list"],
        ["--install-completion"],
    ],
)
def test_what_needs_words_or_a_command_is_left_to_typer(argv):
    with pytest.raises(Unreadable):
        read(argv)


NAMES = [name for flag in FLAGS for name in flag.names]
MAY_STAND_ALONE = {name for flag in FLAGS if flag.alone for name in flag.names}
WORDS = st.one_of(
    st.sampled_from(
        [
            *(name for name in NAMES if name not in MAY_STAND_ALONE),
            *(f"{name}=v" for name in NAMES),
            "--",
            "-",
            "-pc",
            "-pmx",
            "-mx",
            "-qx",
            "--nope",
            "",
        ]
    ),
    st.sampled_from(["hello", "fix it", "a b", "0", "=", "-1"]),
)


@given(st.lists(WORDS, max_size=6))
def test_every_plain_line_means_to_typer_what_it_means_to_us(argv):
    try:
        ours = read(argv)
    except Unreadable:
        ours = None
    assert _typers(argv) == ours


def _typers(argv: list[str]) -> Line | None:
    """What Typer's own parser makes of a line with options behind the prompt."""
    command = get_command(app)
    context = command.context_class(command, info_name="agent-cli", **command.context_settings)
    parser = command.make_parser(context)
    parser.allow_interspersed_args = True
    try:
        given, words, _ = parser.parse_args(list(argv))
    except Exception as problem:
        assert type(problem).__name__ in ("NoSuchOption", "BadOptionUsage")
        return None
    if not all(name.startswith(OPTION) for name in given):
        return None
    literal = "--" in argv and _ends_options(argv)
    return Line({name.removeprefix(OPTION): value for name, value in given.items()}, words, literal)


def _ends_options(argv: list[str]) -> bool:
    """Whether some "--" is no value of an option before it."""
    takes = {name for flag in FLAGS if flag.kind != "switch" for name in flag.names} | {"-pm"}
    left = iter(argv)
    for word in left:
        if word == "--":
            return True
        if word in takes:
            next(left, None)
    return False


def test_commands_are_commands_only_where_no_prompt_is_asked_for():
    for name in COMMANDS:
        with pytest.raises(Unreadable, match=name):
            read([name])
        assert read(["-p", name]).words == [name]
        assert read(["explain", name]).words == ["explain", name]
