"""A session that ends takes its background commands with it."""

from __future__ import annotations

import json
from pathlib import Path

from agent_cli.compose import RunOptions, open_session
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from tests.tools.test_background import marker
from tests.tools.test_bash import running, until_gone


async def test_no_background_command_outlives_its_session(tmp_path: Path):
    mark = marker()
    replies = [
        {
            "calls": [
                {"name": "bash", "arguments": {"command": f"setsid sleep {mark} & wait", "background": True}}
            ]
        },
        {"text": "done"},
    ]
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    flags = {"model.provider": "scripted", "permissions.mode": "yolo"}
    session = open_session(RunOptions(tmp_path, environ, False, flags, script=script)).session
    session.send(Say((Text("go"),)))
    await session.idle()
    assert session.state.answer == "done"
    assert running(mark), "it goes on after the turn"
    await session.close()
    await until_gone(mark)
