"""`@claude/MODEL` as the command line and the config name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions, open_session
from agent_cli.compose.subtasks import small_name
from agent_cli.kernel.errors import ConfigError
from agent_cli.providers import catalog


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    (tmp_path / "project").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "claude"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home"), "PATH": str(program.parent)}
    flags = {"model.name": "@claude/sonnet"}
    return RunOptions(tmp_path / "project", environ, attended=False, flags=flags, ephemeral=True, trust=True)


def config(options: RunOptions, **tree: Any) -> None:
    place = options.cwd / ".agents"
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps(tree), "utf-8")


async def test_a_short_name_is_the_vendors_model_of_that_size_at_its_price(options: RunOptions) -> None:
    session = open_session(options).session
    card, known = session.state.card, catalog.card("claude-sonnet-5")
    assert known is not None
    assert (card.id, card.provider, card.delegated) == ("claude-sonnet-5", "@claude", True)
    assert card.prices == known.prices
    await session.close()


async def test_its_subtasks_run_on_the_small_model_through_it(options: RunOptions) -> None:
    opened = open_session(options)
    assert small_name(opened.settings, opened.session.state.card) == "@claude/claude-haiku-4-5"
    await opened.session.close()


async def test_a_stranger_has_no_price(options: RunOptions) -> None:
    options.flags["model.name"] = "@claude/strange-1"
    session = open_session(options).session
    assert (session.state.card.id, session.state.card.prices) == ("strange-1", ())
    await session.close()


def test_without_the_program_it_says_how_to_get_it(options: RunOptions, tmp_path: Path) -> None:
    (tmp_path / "bin" / "claude").unlink()
    with pytest.raises(ConfigError, match="npm install -g @anthropic-ai/claude-code"):
        open_session(options)


async def test_the_program_can_be_elsewhere(options: RunOptions, tmp_path: Path) -> None:
    (tmp_path / "bin" / "claude").rename(tmp_path / "mine")
    config(options, claude={"command": str(tmp_path / "mine"), "setting_sources": ["project"]})
    await open_session(options).session.close()


@pytest.mark.parametrize("name", ["@claude", "@claude/"])
def test_a_model_must_be_named(options: RunOptions, name: str) -> None:
    options.flags["model.name"] = name
    with pytest.raises(ConfigError, match="@claude/opus, @claude/sonnet, @claude/haiku"):
        open_session(options)


def test_another_program_is_unknown(options: RunOptions) -> None:
    options.flags["model.name"] = "@other/large"
    with pytest.raises(ConfigError, match="There is no provider '@other'"):
        open_session(options)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("compaction.threshold", 0.5),
        ("compaction.limit", 50_000),
        ("compaction.mode", "summarize-only"),
        ("compaction.keep_recent_tokens", 1_000),
        ("compaction.threshold_by_tier.mid", 0.5),
        ("model.context_window", 50_000),
        ("budgets.max_tokens", 50_000),
    ],
)
@pytest.mark.parametrize("where", ["command line", "config"])
def test_what_cannot_hold_there_is_refused(options: RunOptions, key: str, value: object, where: str) -> None:
    if where == "config":
        tree: Any = value
        for part in reversed(key.split(".")):
            tree = {part: tree}
        config(options, **tree)
    else:
        options.flags[key] = value
    with pytest.raises(ConfigError) as refused:
        open_session(options)
    assert key in str(refused.value)
    assert ("config.json" if where == "config" else "command line") in str(refused.value)
    assert "@claude/sonnet" in str(refused.value)


@pytest.mark.parametrize(("key", "value"), [("compaction.enabled", False), ("budgets.max_tokens", 0)])
async def test_what_is_switched_off_is_no_wish(options: RunOptions, key: str, value: object) -> None:
    options.flags[key] = value
    await open_session(options).session.close()


async def test_other_models_keep_these_settings(options: RunOptions) -> None:
    options.flags |= {"model.name": "echo", "compaction.limit": 50_000}
    await open_session(options).session.close()
