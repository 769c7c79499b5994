"""Programs that only seem to read: those that a directory names, and those that lie in the project."""

from __future__ import annotations

import os

import pytest

from agent_cli.kernel.events import as_text
from agent_cli.tools.programs import programs_of
from agent_cli.tools.shell_start import environment
from tests.tools.bench import Bench

FAKE = {
    "HEAD": "ref: refs/heads/main\n",
    "objects/x": "",
    "refs/x": "",
    "config": '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ../ran; false"\n',
}


@pytest.mark.parametrize("line", ("cd fake && git status", "cd fake; git commit -m x | cat"))
async def test_a_line_of_git_takes_no_directory_for_a_repository(bench: Bench, line: str) -> None:
    """What looks like a repository may come with any project, and names programs that `git status` runs."""
    for name, text in FAKE.items():
        bench.put(f"fake/{name}", text)
    assert "cannot use bare repository" in await bench.text("bash", command=line)
    assert not (bench.root / "ran").exists()


async def test_other_programs_may_use_one(bench: Bench) -> None:
    done = await bench.call("bash", command="git init -q --bare b && sh -c 'cd b && git rev-parse --git-dir'")
    assert done.ok, as_text(done)


def test_what_git_was_told_by_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "user.name", "VALUE_0": "Jo"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    told = environment("git status")
    assert (told["GIT_CONFIG_COUNT"], told["GIT_CONFIG_KEY_0"], told["GIT_CONFIG_KEY_1"]) == (
        "3",
        "user.name",
        "safe.bareRepository",
    )
    assert environment("make")["GIT_CONFIG_COUNT"] == "1"


def test_it_says_which_programs_the_names_of_a_line_stand_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = bench.root / "bin"
    own.mkdir()
    (own / "ruff").write_text("#!/bin/sh\n")
    (own / "ruff").chmod(0o755)
    (own / "ls").symlink_to("/bin/ls")
    (own / "plain").write_text("")
    monkeypatch.setenv("PATH", f"{own}:/usr/bin:/bin")

    def programs(line: str) -> dict[str, str]:
        return dict(programs_of(line, str(bench.root)))

    found = programs("ruff --version && ls | cat; plain; cd x")
    assert found["ruff"] == str(own / "ruff")
    assert found["ls"] == os.path.realpath("/bin/ls"), "what a link leads to is what runs"
    assert set(found) == {"ruff", "ls", "cat"}, (
        "a file that cannot run is no program, and a builtin none either"
    )
    assert programs("ruff $X") == {}
    monkeypatch.setenv("PATH", ".:/usr/bin:/bin")
    assert programs("ls") == {"ls": str(bench.root)}, "what stands for it depends on where the line is"
