"""Whether a command changed files, and what it says of programs that wanted a person."""

from __future__ import annotations

import time

import pytest

from agent_cli.kernel.events import as_text
from agent_cli.tools.changes import MOST, changed_since, moment
from agent_cli.tools.wants import refused_for, waited_for
from tests.tools.bench import Bench


def settle() -> None:
    """The clock of files ticks every few milliseconds."""
    before = moment()
    while moment() < before + 12_000_000:
        pass


async def changed(bench: Bench, command: str) -> set[str]:
    settle()
    output = await bench.call("bash", command=command)
    return {path.removeprefix(f"{bench.root}/") for path in output.changed}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo new > new.txt", {"new.txt"}),
        ("echo more >> a.txt", {"a.txt"}),
        ("sed -i s/one/two/ deep/er/b.txt", {"deep/er/b.txt"}),
        ("mv a.txt c.txt", {"c.txt"}),
        ("chmod +x a.txt", {"a.txt"}),
        ("rm deep/er/b.txt", {"deep/er"}),
        ("mkdir made && touch made/x", {"made/x"}),
        ("python3 -c \"open('a.txt', 'w').write('x')\"", {"a.txt"}),
        ("cat a.txt", set()),
        ("sh -c 'cat a.txt'", set()),
        ("ls > /dev/null; true; grep -r one .", set()),
        ("mkdir -p build && echo x > build/out.o", {"build/out.o"}),
        ("sh -c 'mkdir build; echo x > build/out.o'", {"build/out.o"}),
        ("python3 -c \"import os; os.mkdir('build'); open('build/out.o', 'w')\"", set()),
        ("mkdir -p __pycache__ && touch __pycache__/a.pyc", set()),
        ("git init -q .", set()),
    ],
)
async def test_what_a_command_changed(bench: Bench, command: str, paths: set[str]) -> None:
    bench.put("a.txt", "one\n")
    bench.put("deep/er/b.txt", "one\n")
    bench.put(".gitignore", "build/\n")
    assert await changed(bench, command) == paths


async def test_outside_of_the_project_what_the_command_names(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    assert await changed(bench, f"echo x > {other}/y.txt") == {f"{other}/y.txt"}


async def test_an_edit_just_before_is_not_taken_for_a_change_of_the_command(bench: Bench) -> None:
    """Also where the clock of files has not ticked in between."""
    await bench.call("write_file", path="a.txt", content="one\n")
    output = await bench.call("bash", command="sh -c 'cat a.txt'")
    assert output.changed == ()
    await bench.call("edit_file", path="a.txt", edits=[{"old": "one", "new": "two"}])
    output = await bench.call("bash", command="sh -c 'echo three > a.txt'")
    assert output.changed == (f"{bench.root}/a.txt",)


async def test_of_what_changes_by_itself_it_is_told_that_nobody_knows(bench: Bench) -> None:
    """The first time it is not known; a tool's edit in between is no change by itself."""
    bench.put("server.log", "started\n")
    log, text = str(bench.root / "server.log"), str(bench.root / "a.txt")

    async def found(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        settle()
        output = await bench.call("bash", command=command)
        return output.changed, output.restless

    growing = "echo line >> server.log; echo {}"  # as if the server wrote it just now
    assert await found(growing.format(1)) == ((log,), ())
    settle()
    bench.put("server.log", "in between\n")
    assert await found(growing.format(2)) == ((log,), (log,))
    assert await found(growing.format(3)) == ((log,), (log,))

    await bench.call("write_file", path="a.txt", content="one\n")
    assert await found("sh -c 'echo two > a.txt'") == ((text,), ())
    await bench.call("read_file", path="a.txt")
    settle()
    await bench.call("edit_file", path="a.txt", edits=[{"old": "two", "new": "three"}])
    assert await found("sh -c 'echo four > a.txt'") == ((text,), ())


async def test_a_failed_command_and_one_that_timed_out_tell_too(bench: Bench) -> None:
    assert await changed(bench, "echo x > a.txt; exit 3") == {"a.txt"}
    settle()
    output = await bench.call("bash", command="echo x > b.txt; sleep 100", timeout=1)
    assert [path.rpartition("/")[2] for path in output.changed] == ["b.txt"]


async def test_a_large_tree_is_looked_at_in_part(bench: Bench) -> None:
    for number in range(60):
        directory = bench.root / f"d{number:02}"
        directory.mkdir()
        for name in range(100):
            (directory / f"{name}.txt").touch()
    settle()
    since, known = moment(), bench.workspace.seen.is_known
    begun = time.thread_time()
    assert changed_since(since, str(bench.root), str(bench.root), (), known) == ()
    assert time.thread_time() - begun < 0.1
    assert MOST < 6_000
    (bench.root / "d59" / "5.txt").write_text("x")
    named = str(bench.root / "d59" / "5.txt")
    assert changed_since(since, str(bench.root), str(bench.root), (named,), known) == (named,)
    (bench.root / "d59" / "6.txt").write_text("x")
    assert str(bench.root / "d59" / "6.txt") in changed_since(
        since, str(bench.root), str(bench.root / "d59"), (), known
    )


# ── programs that want a person ──


@pytest.mark.parametrize(
    "line",
    [
        "sudo: a terminal is required to read the password",
        "Error opening terminal: dumb.",
        "Vim: Warning: Output is not to a terminal",
        "EOFError: EOF when reading a line",
        "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
        "Host key verification failed.",
        "error: there was a problem with the editor 'false'",
        "the input device is not a TTY",
        "stty: 'standard input': Inappropriate ioctl for device",
    ],
)
def test_words_of_a_missing_terminal(line: str) -> None:
    assert "wanted a terminal or an answer" in refused_for(f"before\n{line}\nafter\n")
    assert line[:30] in refused_for(line)


@pytest.mark.parametrize(
    "end",
    ["Continue? [y/N] ", "Password: ", "Overwrite (yes/no)? ", "Is this OK? (yes) ?", "sftp> ", "Enter passphrase for key: ",
     "(END)", "lines 1-20\nPress any key to continue"],
)  # fmt: skip
def test_last_words_that_are_a_question(end: str) -> None:
    assert "look like a question" in waited_for(f"a lot of output\n{end}")


@pytest.mark.parametrize("text", ["", "done\n", "Password: \n", "building 12%", "1 failed\nAssertionError"])
def test_last_words_that_are_none(text: str) -> None:
    assert waited_for(text) == ""
    assert refused_for(text) == ""


async def test_the_model_is_told_what_a_program_waited_for(bench: Bench) -> None:
    output = await bench.call("bash", command="printf 'Really delete? [y/N] '; sleep 100", timeout=1)
    text = as_text(output)
    assert "timed out after 1 s" in text
    assert "look like a question ('Really delete? [y/N]')" in text
    text = await bench.text("bash", command="python3 -c 'input(\"name: \")'")
    assert "wanted a terminal or an answer ('EOFError" in text
    assert "wanted" not in await bench.text("bash", command="echo 'not a tty'")
