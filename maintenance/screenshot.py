"""Takes docs/screenshot.svg: the real app over a scripted model, in a copy of examples/calc.

.venv/bin/python -m maintenance.screenshot
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import open_session
from agent_cli.talk.door import Door, Welcome
from agent_cli.tui.app import AgentApp

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "screenshot.svg"
ASKED = "multiply in calc.py adds its arguments: fix it and show that it works"


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory, "calc")
        shutil.copytree(ROOT / "examples" / "calc", project)
        os.chdir(project)
        environ = {**os.environ, "AGENT_CLI_HOME": str(Path(directory, "home"))}
        options = RunOptions(
            cwd=project,
            environ=environ,
            attended=True,
            flags={"model.provider": "scripted", "permissions.mode": "yolo"},
            script=ROOT / "maintenance" / "screenshot.jsonl",
        )

        opened = open_session(options).session

        async def open_it() -> Door:
            return opened

        app = AgentApp(
            open_it, welcome=Welcome(version="0.1.0", cwd="~/calc", mode="yolo"), first_message=ASKED
        )
        async with app.run_test(size=(100, 44)) as pilot:
            await opened.idle()
            while not _ended(shown := app.export_screenshot(title="agent-cli")):
                await pilot.pause(0.1)
            TARGET.write_text(shown, "utf-8")
            await opened.close()


def _ended(shown: str) -> bool:
    """Whether the end of the turn is on the screen, in the status bar too."""
    return "ready" in shown and "done" in shown


if __name__ == "__main__":
    asyncio.run(main())
