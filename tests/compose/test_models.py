"""Which models settings and environment reach, and what is recorded of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.cli.entry import run
from agent_cli.compose import RunOptions, open_registry, open_session
from agent_cli.compose.known import Known
from agent_cli.compose.models import strange
from agent_cli.compose.session import prepare
from agent_cli.kernel.errors import ConfigError
from agent_cli.providers import refreshed
from agent_cli.providers.refreshed import Listed, Service
from agent_cli.providers.registry import Registry
from agent_cli.providers.responses import Responses

KEY = "value-of-the-key"


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": KEY}
    (tmp_path / "project").mkdir()
    return RunOptions(cwd=tmp_path / "project", environ=environ, attended=False, ephemeral=True, trust=True)


def config(options: RunOptions, **tree: Any) -> None:
    place = options.cwd / ".agents"
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps(tree), "utf-8")


def registry(options: RunOptions) -> Registry:
    return open_registry(options, prepare(options).settings)


def test_endpoints_of_config_are_reached_as_it_says(options: RunOptions):
    row = {"base_url": "http://localhost:1/v1", "api_key_env": "OPENAI_API_KEY", "api": "responses"}
    config(options, providers={"work": row, "openai": {"base_url": "http://localhost:2/v1"}})
    work = registry(options).open("work/large")
    assert (type(work.provider), work.endpoint) == (Responses, "http://localhost:1/v1")
    assert registry(options).open("gpt-4.1").endpoint == "http://localhost:2/v1"


async def test_an_address_counts_for_the_endpoint_that_the_name_says(options: RunOptions):
    options.flags = {"model.base_url": "http://localhost:1/v1", "model.name": "ollama/qwen3"}
    session = open_session(options).session
    assert session._core.model.endpoint == "http://localhost:1/v1"
    await session.close()


async def test_fallbacks_and_sizes_reach_the_session(options: RunOptions):
    options.flags = {"model.fallback": ["gpt-4.1", "work/y"], "model.tier": "small"}
    with pytest.raises(ConfigError, match=r"model\.tiers\.small"):
        open_session(options)
    work = {"work": {"base_url": "http://localhost:1/v1"}}
    config(options, model={"tiers": {"small": "gpt-4.1-mini"}}, providers=work)
    session = open_session(options).session
    assert session.state.card.id == "gpt-4.1-mini"
    assert session._core.parts.fallbacks == ("gpt-4.1", "work/y")
    await session.close()


@pytest.mark.parametrize(("name", "told"), [("gpd-4.1", "gpt-4.1"), ("claude-opus-5", "ANTHROPIC_API_KEY")])
def test_a_fallback_that_cannot_be_opened_is_told_at_the_start(options: RunOptions, name: str, told: str):
    options.flags = {"model.name": "gpt-4.1", "model.fallback": ["gpt-4.1-mini", name]}
    with pytest.raises(ConfigError, match=rf"--fallback-model\) {name}: .*{told}"):
        open_session(options)


def test_what_services_listed_stands_under_what_config_says(options: RunOptions, tmp_path: Path):
    listed = Service("openai", "2026-01-01", "", (Listed("gpt-4.1", 111_000, 7_000),))
    refreshed.write(tmp_path / "home" / refreshed.FILE, (listed,))
    config(options, models={"gpt-4.1": {"max_output": 9_000}})
    card = registry(options).open("gpt-4.1").card
    assert (card.window, card.max_output) == (111_000, 9_000)
    (tmp_path / "home" / refreshed.FILE).write_text("no json")
    assert registry(options).open("gpt-4.1").card.window != 111_000


def test_a_run_is_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "notes.txt").write_text(f"hello {KEY}\n", "utf-8")
    look = {"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}
    (tmp_path / "script.jsonl").write_text(f'{json.dumps(look)}\n{{"text": "It says hello."}}\n', "utf-8")
    asked = ("-p", "what do the notes say?", "-q", "--ephemeral")
    assert run([*asked, "--script", "script.jsonl", "--record-to", "talk.jsonl"]) == 0
    recording = (tmp_path / "talk.jsonl").read_text("utf-8")
    assert recording.count("\n") == 2
    assert KEY not in recording
    assert run([*asked, "--script", "talk.jsonl", "--script-strict"]) == 0
    (tmp_path / "notes.txt").write_text("bye\n", "utf-8")
    assert run([*asked, "--script", "talk.jsonl", "--script-strict"]) == 1
    said = capfd.readouterr()
    assert said.out == "It says hello.\nIt says hello.\n"
    assert "result is not what was recorded" in said.err
    assert run([*asked, "--script", "script.jsonl", "--record-to", "talk.jsonl"]) == 2
    assert "holds something already" in capfd.readouterr().err


@pytest.mark.parametrize("flags", [{"model.provider": "eco"}, {"model.provider": "eco", "model.name": "x"}])
def test_a_misspelt_provider_is_told_with_the_nearest_one(options: RunOptions, flags: dict[str, str]):
    options.flags = flags
    options.environ = {key: value for key, value in options.environ.items() if not key.endswith("_API_KEY")}
    with pytest.raises(ConfigError, match=r"There is no provider 'eco'; .*Did you mean 'echo'\?"):
        open_session(options)


def test_a_fallback_that_may_be_misspelt_is_told_beside_the_nearest(options: RunOptions):
    options.flags = {"model.fallback": ["gpt-4.1-nimi", "gpt-4.1-mini"]}
    (told,) = strange(prepare(options).settings)
    assert "gpt-4.1-nimi" in told
    assert "did you mean gpt-4.1-mini?" in told


def test_so_is_the_model_of_subtasks(options: RunOptions):
    options.flags = {"agentic.small_model": "claude-haiku-4-6"}
    (told,) = strange(prepare(options).settings)
    assert "did you mean claude-haiku-4-5?" in told
    assert "when a subtask begins" in told


async def test_how_often_a_request_is_made_is_a_setting(options: RunOptions):
    config(options, model={"attempts": 5, "name": "gpt-4.1"})
    session = open_session(options).session
    assert session._core.parts.settings.attempts == 5
    await session.close()


def test_models_are_offered_with_those_first_that_have_a_key_here(options: RunOptions):
    names = Known(options).model_names()
    assert names[0].startswith("gpt-")
    assert "claude-opus-5" in names
