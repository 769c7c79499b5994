"""The sandbox of the shell: what the system refuses to commands, held against a real kernel where it offers that."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import Output, as_text
from agent_cli.tools.bash import Bash, BashArguments, ShellArguments
from agent_cli.tools.bash_output import BashOutput
from agent_cli.tools.sandbox import landlock, seccomp
from agent_cli.tools.sandbox.choose import offers, open_sandbox
from agent_cli.tools.sandbox.confines import Confines, Sandbox
from agent_cli.tools.sandbox.wrappers import bubblewrap, seatbelt
from agent_cli.tools.workspace import Workspace
from tests.tools.test_bash import running

QUIET = Confines("read-only")


def nowhere(_: str) -> str | None:
    return None


def usable(kind: str) -> bool:
    """Whether this machine can really do it."""
    if kind == "bubblewrap":
        return not offers(QUIET)[0].why_not
    return not landlock.why_not(Confines("read-only", network=False))


def opened(kind: str, confines: Confines) -> Sandbox:
    if not usable(kind):
        pytest.skip(f"this machine has no {kind}")
    return open_sandbox(confines, find=shutil.which if kind == "bubblewrap" else nowhere)


@pytest.fixture(params=["Landlock", "bubblewrap"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A project, and a directory outside of it that holds a file."""
    inside, outside = tmp_path / "project", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("as it was")
    return inside.resolve(), outside.resolve()


async def ran(sandbox: Sandbox, root: Path, command: str) -> Output:
    space = Workspace(root, sandbox=sandbox)
    try:
        return await Bash(space).run(BashArguments(command), lambda _: None)
    finally:
        space.shells.close()


# ── held by the system ──


async def test_commands_write_in_the_project(kind: str, places) -> None:
    root, _ = places
    box = opened(kind, Confines("workspace-write", (str(root),)))
    made = await ran(box, root, "mkdir d && echo hi > a && mv a d/b && ln d/b c && cat c && rm c")
    assert made.ok, as_text(made)
    assert (root / "d" / "b").read_text() == "hi\n"
    assert not (root / "c").exists()


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {out}/new",
        "echo x >> {out}/kept",
        "truncate -s 0 {out}/kept",
        "rm {out}/kept",
        "mv {out}/kept {root}/mine",
        "ln {out}/kept {root}/linked && echo x > {root}/linked",
        "ln -s {out}/kept {root}/link && echo x > {root}/link",
        "mkdir {out}/d",
        "mkfifo {out}/p",
        "cd {out} && touch here",
        "(cd {out}; setsid bash -c 'echo x > kept')",
        "python3 -c \"open('{out}/kept', 'r+').truncate(0)\"",
        "env -i /bin/bash -c 'echo x > {out}/kept'",
    ],
)
async def test_commands_write_nowhere_else(kind: str, places, command: str) -> None:
    root, outside = places
    box = opened(kind, Confines("workspace-write", (str(root),)))
    refused = await ran(box, root, command.format(out=outside, root=root))
    assert not refused.ok, as_text(refused)
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "as it was"


async def test_the_model_is_told_why_a_command_failed(kind: str, places) -> None:
    root, outside = places
    box = opened(kind, Confines("workspace-write", (str(root),)))
    said = as_text(await ran(box, root, f"touch {outside}/new"))
    assert f"commands run in a sandbox: they may write only below {root}" in said
    assert "sandbox" not in as_text(await ran(box, root, "ls no-such-file"))


async def test_reading_is_free(kind: str, places) -> None:
    root, outside = places
    box = opened(kind, Confines("read-only"))
    assert "as it was" in as_text(await ran(box, root, f"cat {outside}/kept 2>/dev/null"))


async def test_read_only_writes_nowhere(kind: str, places) -> None:
    root, _ = places
    box = opened(kind, Confines("read-only"))
    refused = await ran(box, root, "touch a")
    assert not refused.ok
    assert "they may write nothing" in as_text(refused)
    assert list(root.iterdir()) == []


async def test_commands_in_the_background_are_confined_too(kind: str, places) -> None:
    root, outside = places
    space = Workspace(root, sandbox=opened(kind, Confines("workspace-write", (str(root),))))
    bash = Bash(space, frozenset({"bash", "bash_output", "bash_kill"}), space.shells)
    try:
        started = as_text(
            await bash.run(
                ShellArguments(f"touch inside; touch {outside}/new; sleep 60", background=True),
                lambda _: None,
            )
        )
        for _ in range(3_000):
            if (root / "inside").exists() and "denied" in started + await _read(space):
                break
            await asyncio.sleep(0.01)
        assert (root / "inside").exists()
        assert not (outside / "new").exists()
    finally:
        space.shells.close()


async def _read(space: Workspace) -> str:
    tool = BashOutput(space.shells, frozenset())
    piece = space.shells.find("b1").read()
    assert tool.spec.name == "bash_output"
    return piece.text + piece.standing * ("exit" in piece.standing)


async def test_without_a_network_nothing_is_reached(kind: str, places) -> None:
    root, _ = places
    box = opened(kind, Confines("read-only", network=False))
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached"
        assert "reached" not in as_text(await ran(box, root, f"{reach} || echo closed")).replace("closed", "")
        free = opened(kind, Confines("read-only"))
        assert "reached" in as_text(await ran(free, root, reach))


async def test_the_program_itself_stays_free(places) -> None:
    root, outside = places
    box = opened("Landlock", Confines("workspace-write", (str(root),), network=False))
    assert not (await ran(box, root, f"touch {outside}/new")).ok
    (outside / "mine").write_text("written by the program")
    with socket.create_server(("127.0.0.1", 0)):
        pass


@pytest.mark.skipif(landlock.version() < 6, reason="signals are held from Linux 6.12 on")
async def test_commands_cannot_end_the_program(places) -> None:
    root, _ = places
    box = opened("Landlock", QUIET)
    assert not (await ran(box, root, f"kill -0 {os.getpid()}")).ok
    assert (await ran(box, root, "sleep 60 & kill $! && ! wait $!")).ok


async def test_control_files_stay_closed_where_mounts_can_do_that(places) -> None:
    root, _ = places
    hooks = root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    box = opened("bubblewrap", Confines("workspace-write", (str(root),), (str(hooks),)))
    assert not (await ran(box, root, "touch .git/hooks/pre-commit")).ok
    assert (await ran(box, root, "touch .git/index")).ok


async def test_a_command_that_hangs_in_the_sandbox_is_ended(kind: str, places) -> None:
    root, _ = places
    space = Workspace(root, sandbox=opened(kind, QUIET))
    result = await Bash(space).run(BashArguments("echo before; sleep 61.517", timeout=1), lambda _: None)
    space.shells.close()
    assert not result.ok
    assert "before" in as_text(result)
    assert not running("61.517")


# ── which one ──


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(ConfigError) as caught:
        open_sandbox(QUIET, platform="linux", find=nowhere)
    said = str(caught.value)
    assert "bwrap is not installed" in said
    assert "no Landlock" in said
    assert "apt install bubblewrap" in said
    assert "--sandbox off" in said


def test_an_old_landlock_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 2)
    assert "Linux 6.2" in landlock.why_not(QUIET)


def test_a_machine_without_a_known_filter_keeps_no_promise_of_no_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 7)
    monkeypatch.setattr(seccomp, "machine", lambda: "riscv64")
    assert "riscv64" in landlock.why_not(Confines("read-only", network=False))
    assert landlock.why_not(QUIET) == ""


def test_a_bubblewrap_that_does_not_work_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    first, second = offers(QUIET, platform="linux", find=lambda _: str(broken))
    assert first.why_not == "bwrap: No permissions to create new namespace"
    assert second.name == "Landlock"


@pytest.mark.parametrize(
    ("platform", "words"), [("win32", "none for this system"), ("darwin", "sandbox-exec")]
)
def test_other_systems(platform: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        open_sandbox(QUIET, platform=platform, find=nowhere)


def _after(words: Sequence[str], *wanted: str) -> int:
    """Where these words stand, one behind the other."""
    return next(at for at in range(len(words)) if tuple(words[at : at + len(wanted)]) == wanted)


def test_the_words_of_bubblewrap() -> None:
    words = bubblewrap(
        "/usr/bin/bwrap", Confines("workspace-write", ("/p",), ("/p/.git/hooks",), network=False)
    )
    read_only = _after(words, "--ro-bind", "/", "/")
    assert read_only < _after(words, "--bind-try", "/p", "/p")
    assert _after(words, "--bind-try", "/p", "/p") < _after(
        words, "--ro-bind-try", "/p/.git/hooks", "/p/.git/hooks"
    )
    assert "--unshare-net" in words
    assert words[-1] == "--"
    assert "--unshare-net" not in bubblewrap("bwrap", QUIET)


def test_the_words_of_seatbelt() -> None:
    words = seatbelt(
        "/usr/bin/sandbox-exec", Confines("workspace-write", ('/a "b"',), ("/a/.git",), network=False)
    )
    profile = words[2].split("\n")
    assert profile.index("(deny file-write*)") < profile.index('(allow file-write* (subpath (param "W0")))')
    assert profile.index('(allow file-write* (subpath (param "W0")))') < profile.index(
        '(deny file-write* (subpath (param "C0")))'
    )
    assert profile[-1] == "(deny network*)"
    assert words[3:] == ("-D", 'W0=/a "b"', "-D", "C0=/a/.git", "--")
    bare = seatbelt("sandbox-exec", QUIET)[2]
    assert "W0" not in bare
    assert "network" not in bare
