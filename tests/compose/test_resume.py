"""What a session that is gone on with keeps, and what the command line changes in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.compose import RunOptions, open_session
from agent_cli.kernel.commands import SetMode
from agent_cli.kernel.errors import ConfigError, ModelGone

ENDPOINT = {"providers": {"mine": {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "MINE"}}}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project" / ".agents").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def opened(project):
    """Opens a session with these flags, does one thing, closes it; returns its model and its mode."""

    async def enter(*, go_on: bool = True, **flags: Any) -> tuple[str, str]:
        environ = {"HOME": str(project.parent), "MINE": "k", "OPENAI_API_KEY": "k"}
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        options = RunOptions(
            project, {**environ, "AGENT_CLI_HOME": str(project.parent / "home")}, True, dotted
        )
        options.resume_latest = go_on
        options.trust = True
        session = open_session(options).session
        found = f"{session.state.card.provider}/{session.state.card.id}", session.state.mode
        if not go_on:
            session.send(SetMode("plan"))
        await session.close()
        return found

    return enter


def configure(project, settings: dict[str, Any]) -> None:
    (project / ".agents" / "config.json").write_text(json.dumps(settings))


async def test_a_session_goes_on_at_the_service_that_it_was_held_with(project, opened):
    configure(project, ENDPOINT)
    begun, _ = await opened(go_on=False, model__name="mine/gpt-5")
    resumed, _ = await opened()
    assert (begun, resumed) == ("mine/gpt-5", "mine/gpt-5")


async def test_a_session_keeps_its_model_over_the_one_of_config(project, opened):
    await opened(go_on=False, model__name="gpt-5-mini")
    configure(project, {"model": {"name": "gpt-5"}})
    assert (await opened())[0] == "openai/gpt-5-mini"
    assert (await opened(model__name="gpt-5-nano"))[0] == "openai/gpt-5-nano"


async def test_a_session_keeps_its_mode_unless_this_run_names_one(opened):
    await opened(go_on=False, permissions__mode="yolo", model__name="gpt-5")
    assert (await opened())[1] == "plan", "it was switched to it"
    assert (await opened(permissions__mode="ask"))[1] == "ask"
    assert (await opened())[1] == "ask"


async def test_a_size_that_is_asked_for_outranks_the_model_of_config(project, opened):
    configure(project, {"model": {"name": "gpt-5", "tiers": {"small": "gpt-5-nano"}}})
    assert (await opened(go_on=False, model__tier="small"))[0] == "openai/gpt-5-nano"


async def test_a_provider_without_a_usual_model_is_named(project, opened):
    configure(project, ENDPOINT)
    with pytest.raises(ConfigError, match=r"which model of 'mine' to use.*--model"):
        await opened(go_on=False, model__provider="mine")


async def test_a_session_whose_model_is_gone_names_another_way(project, opened):
    configure(project, ENDPOINT)
    await opened(go_on=False, model__name="mine/gpt-5")
    configure(project, {})
    with pytest.raises(ModelGone, match=r"was held with mine/gpt-5, .*--model NAME"):
        await opened()
    assert (await opened(model__name="gpt-5-mini"))[0] == "openai/gpt-5-mini"
