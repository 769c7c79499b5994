"""The sandbox as config and the command line ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.sandbox import confines, sandbox_of, told
from agent_cli.compose.scope import facts
from agent_cli.compose.session import open_session, prepare
from agent_cli.kernel.errors import ConfigError
from agent_cli.tools.sandbox import landlock
from agent_cli.tools.sandbox.confines import UNCONFINED, Confines


def asked(tmp_path: Path, **flags: Any) -> RunOptions:
    (tmp_path / "p" / ".agents").mkdir(parents=True, exist_ok=True)
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h"), "PATH": ""}
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return RunOptions(tmp_path / "p", environ, True, {"model.provider": "echo", **dotted})


def found(options: RunOptions) -> Confines | None:
    loaded = prepare(options)
    return confines(loaded.settings, facts(options, loaded, (options.cwd).resolve(), None))


def test_nothing_is_confined_unasked(tmp_path: Path) -> None:
    assert found(asked(tmp_path)) is None


def test_commands_may_write_where_tools_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    options = asked(tmp_path, sandbox__mode="workspace-write")
    options.allow_paths = (f"{tmp_path}/more:rw", f"{tmp_path}/read:r", f"{tmp_path}/p/fixed:r")
    confined = found(options)
    assert confined is not None
    root = (tmp_path / "p").resolve()
    assert confined.writable == (str(root), str(tmp_path / "more"), str(tmp_path / "tmp"))
    assert {f"{root}/.git/hooks", f"{root}/.agents/config.json", f"{root}/fixed"} <= set(confined.closed)
    assert confined.network


def test_read_only_has_no_exceptions(tmp_path: Path) -> None:
    options = asked(tmp_path, sandbox__mode="read-only", sandbox__network=False)
    options.allow_paths = (f"{tmp_path}/more:rw",)
    assert found(options) == Confines("read-only", network=False)


async def test_a_sandbox_that_is_not_there_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="A sandbox was asked for"):
        open_session(asked(tmp_path, sandbox__mode="read-only"))


@pytest.mark.skipif(landlock.version() < landlock.LEAST, reason="this kernel has no Landlock")
async def test_a_session_says_how_it_is_confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    options = asked(tmp_path, sandbox__mode="workspace-write", sandbox__network=False)
    loaded = prepare(options)
    sandbox = sandbox_of(loaded.settings, facts(options, loaded, options.cwd, None))
    (line,) = told(sandbox, loaded.settings)
    assert "sandbox (Landlock)" in line
    assert "the network is off" in line
    assert told(UNCONFINED, loaded.settings) == ()
    session = open_session(options).session
    await session.close()
