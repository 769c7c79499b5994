"""Our reader of shell lines against the bash grammar of tree-sitter, and bash itself where the two do not agree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.permissions.shell import Commands, read_command
from tests.permissions import test_shell
from tests.permissions.grammar import reading
from tests.permissions.test_shell_table import ALL_LINES

LINES = sorted(
    {
        *ALL_LINES,
        *test_shell.CERTAIN,
        *test_shell.DOUBTFUL,
        *test_shell.READS,
        *test_shell.NOT_READS,
    }
)
MISREAD = {"r\\\nm x", "[ -d x ]", "[ -f a ]", "[ -f x ]", 'grep "x$" a'}
"""Lines in which the grammar of tree-sitter is wrong, or sees a test where bash has the command `[`."""

BASH = shutil.which("bash") or "/bin/bash"
LISTENS = (
    "exec 9>&1 >/dev/null 2>&1; "
    "told() { local said; printf -v said '<%s>' \"$@\"; printf '%s\\0' \"$said\" >&9; return $CODE; }; "
    'command_not_found_handle() { told "$@"; }; [() { told [ "$@"; }; :() { told : "$@"; }; .() { told . "$@"; }\n'
)
"""Every command of the line behind it is not run but told, and succeeds or fails as the variable CODE says.
Each in one write: the sides of a pipe tell theirs at the same time."""


def told_by_bash(line: str, directory: Path) -> set[str]:
    """Each command that bash would run: with some it does so only where the one before failed."""
    told: set[str] = set()
    for code in "01":
        done = subprocess.run(
            [BASH, "-c", LISTENS + line + "\n"],
            capture_output=True,
            check=False,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            env={"PATH": "/nowhere", "HOME": "~", "CODE": code},
        )
        told |= set(done.stdout.decode().split("\0")[:-1])
    return told


def in_marks(read: Commands) -> set[str]:
    return {"".join(f"<{word}>" for word in words) for words in read.simple}


@pytest.mark.parametrize("line", LINES)
def test_what_the_grammar_takes_for_more_than_plain_commands_is_never_certain(
    line: str, tmp_path: Path
) -> None:
    ours = read_command(line)
    if ours is None:
        return
    theirs = reading(line)
    agreed = not theirs.more and theirs.commands == ours.simple
    assert agreed or line in MISREAD, theirs
    if not agreed:
        assert told_by_bash(line, tmp_path) == in_marks(ours)


PIECES = (
    "ls", "a", " ", " ", "'", '"', "\\", "$", "`", "$(", "${", ")", "}", "(", "{", "<", "<<", ">", ">>", "&", "&&", "|", "||", ";", ";;",
    "\n", "\t", "#", "!", "~", "*", "?", "[", "]", "=", "A=1", "-x", "1", "2>&1", ">/dev/null", "&>", "|&", "<(", ">(", "EOF", "<<EOF",
    "<<<", "if", "then", "fi", "do", "done", "for", "in", "case", "esac", "time", "function", "{a,b}", "\r", "é", "\xa0", "\u2028", "$'", '$"',
    "\\\n", "((", "[[", "]]", "@", "^", "+", ":", ",", "..", "x$", "coproc", "select", "+=", "[0]=", "\x0b", "\x0c", "\x85", "\uff4c\uff53",
)  # fmt: skip


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty")


@settings(max_examples=800, deadline=None)
@given(line=st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
def test_a_line_that_is_certain_has_the_commands_that_the_grammar_or_else_bash_sees(
    empty: Path, line: str
) -> None:
    ours = read_command(line)
    if ours is None:
        return
    theirs = reading(line)
    if any("/" in words[0] for words in ours.simple):
        return  # bash looks for a path by itself
    if theirs.more or theirs.commands != ours.simple:
        assert told_by_bash(line, empty) == in_marks(ours), theirs
    assert not any(empty.iterdir())
