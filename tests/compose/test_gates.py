"""What /permissions says beside mode and rules, and a denial that comes while the session runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_cli.compose import RunOptions
from agent_cli.compose.scope import close, gates, workspace
from agent_cli.compose.session import open_session, prepare
from agent_cli.kernel.commands import AddRule
from agent_cli.tools.builtin import builtin


def asked(tmp_path: Path, config: dict[str, Any] | None = None, **flags: Any) -> RunOptions:
    (tmp_path / "p" / ".agents").mkdir(parents=True, exist_ok=True)
    (tmp_path / "p" / ".agents" / "config.json").write_text(json.dumps(config or {}))
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h")}
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return RunOptions(tmp_path / "p", environ, True, {"model.provider": "echo", **dotted})


def test_it_says_how_everything_is_set(tmp_path: Path) -> None:
    options = asked(
        tmp_path, {"permissions": {"allow": ["bash:make*"]}, "url_scope": {"deny": ["bad.example"]}}
    )
    options.allow_paths = (f"{tmp_path}/more:rw",)
    rows = dict(gates(options, prepare(options)))
    assert f"rw  {tmp_path}/more" in rows["paths"]
    assert rows["hosts"] == "deny bad.example"
    assert (rows["plans"], rows["shell searches"], rows["sandbox"]) == ("off", "enforce", "off")
    assert "permissions.allow" in rows["left out"]


async def test_a_denial_of_the_session_closes_files_to_walks_too(tmp_path: Path) -> None:
    options = asked(tmp_path)
    root = tmp_path / "p"
    (root / "private").mkdir()
    (root / "private" / "a.py").write_text("x = 1\n")
    space = workspace(options, prepare(options).settings, root)
    glob = next(tool for tool in builtin(space.apart()) if tool.spec.name == "glob")
    close(space, "private/*")
    found = await glob.run(glob.arguments(pattern="**/*.py"), lambda _: None)
    assert "a.py" in str(found.for_model), "this one was made before"
    later = next(tool for tool in builtin(space) if tool.spec.name == "glob")
    assert "a.py" not in str((await later.run(later.arguments(pattern="**/*.py"), lambda _: None)).for_model)


async def test_a_rule_that_is_kept_leaves_a_trusted_project_trusted(tmp_path: Path) -> None:
    options = asked(tmp_path, {"permissions": {"allow": ["bash:make*"]}})
    options.trust = True
    session = open_session(options).session
    session.send(AddRule("allow", "bash:just*", keep=True))
    session.send(AddRule("deny", "bash:rm*", keep=True))
    await session.close()
    options.trust = False
    permissions = prepare(options).settings.permissions
    assert permissions.allow == ("bash:make*", "bash:just*")
    assert permissions.deny == ("bash:rm*",)
