"""Where whole results go, and who may read them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from agent_cli.compose import RunOptions, open_session
from agent_cli.kernel.commands import Say
from agent_cli.kernel.events import Entry, ToolReturned, as_text
from agent_cli.kernel.messages import Text


async def played(tmp_path: Path, *replies: dict[str, Any], ephemeral: bool = False) -> list[str]:
    """The results of a session in which nobody is there to be asked."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    script = tmp_path / "script.jsonl"
    script.write_text(
        "\n".join(json.dumps(reply) for reply in (*replies, {"text": "done"})), encoding="utf-8"
    )
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    options = RunOptions(
        project, environ, False, {"model.provider": "scripted"}, script=script, ephemeral=ephemeral
    )
    session = open_session(options).session
    session.send(Say((Text("go"),)))
    await session.idle()
    found: list[str] = []
    async for event in session.events():
        if isinstance(event, Entry) and isinstance(event.event, ToolReturned):
            found.append(as_text(event.event.output))
        if isinstance(event, Entry) and event.seq == session.state.seq:
            break
    await session.close()
    return found


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


async def test_the_whole_of_a_long_result_can_be_read_without_asking_anybody(tmp_path: Path):
    (shown,) = await played(tmp_path, call("bash", command="seq 1 20000"))
    ((kept),) = (tmp_path / "home" / "results").glob("*/*.txt")
    assert f'all of it is in {kept}; go on with retrieve_output(id="{kept.stem}"' in shown
    assert kept.read_text(encoding="utf-8").count("\n") >= 20_000
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    _, read, found = await played(
        tmp_path,
        call("bash", command="seq 1 20000"),
        call("retrieve_output", id=kept.stem, offset=60_000, limit=100),
        call("grep", pattern="^15000$", path=str(kept.parent)),
    )
    assert "; go on with offset=60100]" in read
    assert found.startswith("Refused (path-scope)"), "of another session"


async def test_an_ephemeral_session_keeps_nothing_on_disk(tmp_path: Path):
    (shown,) = await played(tmp_path, call("bash", command="seq 1 20000"), ephemeral=True)
    assert "bytes left out here …]" in shown
    assert not (tmp_path / "home" / "results").exists()
