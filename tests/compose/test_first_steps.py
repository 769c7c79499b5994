"""What the screen offers where there is no model."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.models import NO_MODEL
from agent_cli.compose.screen import FirstSteps
from agent_cli.kernel.errors import AgentError
from agent_cli.providers.local import install as installing
from agent_cli.providers.vendors import DEFAULTS, KEYS, OFFICIAL


@pytest.fixture
def steps(tmp_path):
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    return FirstSteps(RunOptions(tmp_path, environ, attended=True))


def test_every_vendor_is_offered_with_a_key_that_it_takes(steps):
    offered = {variable for variable, _ in steps.variables}
    assert all(offered & set(KEYS[vendor]) for vendor in OFFICIAL)
    assert all(variable in NO_MODEL for variable in offered)


async def test_a_key_opens_a_session_with_the_usual_model_of_its_vendor(steps):
    for variable, vendor in (("GEMINI_API_KEY", "gemini"), ("ANTHROPIC_API_KEY", "anthropic")):
        session = await steps.use_key(variable, "k")
        assert session.state.card.id == DEFAULTS[vendor]
        await session.close()


class Installer:
    """In the place of the real one: reports until it is stopped, or fails."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended: list[str] = []
        self.fails = ""

    def __call__(self, model: object, watch: installing.Watcher) -> Path:
        if self.fails:
            raise AgentError(self.fails)
        try:
            while True:
                watch.progress(1, 2, "here")
                self.begun.set()
                watch.pause(0.001)
        except AgentError as stopped:
            self.ended.append(str(stopped))
            raise


@pytest.fixture
def installer(monkeypatch) -> Installer:
    fake = Installer()
    monkeypatch.setattr(installing, "install", fake)
    return fake


async def test_a_cancelled_download_stops_its_thread(steps, installer):
    seen: list[tuple[int, int, str]] = []
    task = asyncio.create_task(steps.install_local(lambda *facts: seen.append(facts)))
    await asyncio.to_thread(installer.begun.wait, 5)
    threads = [thread for thread in threading.enumerate() if thread.name == "download"]
    assert all(thread.daemon for thread in threads), "it never keeps the process"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(steps._fetching.wait(), 5)
    assert installer.ended == ["The download was stopped; the next one goes on from there."]
    assert seen[0] == (1, 2, "here")
    assert threads


async def test_why_a_download_failed_is_raised(steps, installer):
    installer.fails = "no room"
    with pytest.raises(AgentError, match="no room"):
        await steps.install_local(lambda *facts: None)


def test_what_a_download_takes_is_said_before(steps, tmp_path):
    assert "1.1 GB, Apache-2.0, to " in steps.download
    assert str(Path(steps.download.partition(" to ")[2]).name).endswith(".gguf")
