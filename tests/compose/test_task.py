"""What a task class does to a session: its model, its tools, its reduction, and the line that says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.budgets import compaction
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.task import opening
from agent_cli.compose.toolset import dropped, withheld
from agent_cli.context.budget import budget_of
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard, Tier


@pytest.fixture
def options(tmp_path):
    (tmp_path / "p" / ".agents").mkdir(parents=True)

    def made(config: dict[str, Any] | None = None, **flags: Any) -> RunOptions:
        (tmp_path / "p" / ".agents" / "config.json").write_text(json.dumps(config or {}))
        environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h"), "ANTHROPIC_API_KEY": "k"}
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        return RunOptions(tmp_path / "p", environ, True, dotted, trust=True)

    return made


async def test_a_session_knows_its_class_and_takes_its_model(options) -> None:
    session = open_session(options(session__task_class="chat")).session
    assert session.state.task_class == "chat"
    assert session.state.card.tier == "mid"
    await session.close()
    named = open_session(options(session__task_class="chat", model__name="claude-haiku-4-5")).session
    assert named.state.card.id == "claude-haiku-4-5"
    await named.close()


async def test_where_the_provider_has_no_model_of_that_size_the_usual_one_is_taken(options) -> None:
    asked = options(session__task_class="chat", model__provider="echo")
    session = open_session(asked).session
    assert session.state.card.provider == "echo"
    (line,) = opening(prepare(asked), frozenset(), {"model.tier": session.state.card.tier})
    assert "model" not in line
    await session.close()


def test_the_line_says_what_was_chosen_and_how_to_override_it(options) -> None:
    loaded = prepare(options(session__task_class="research"))
    (line,) = opening(loaded, dropped(loaded), {"model.tier": "mid"})
    for part in (
        "research",
        "a mid model (--model or --tier)",
        "reduction at 0.65 (--compaction-threshold)",
        "permission mode allow (--permission-mode)",
        "plan mode required (--plan-mode)",
        "questions auto (--ask)",
        "no bash (--enable-tools bash)",
    ):
        assert part in line
    decided = prepare(
        options(
            session__task_class="research",
            model__name="claude-opus-5",
            permissions__mode="ask",
            permissions__plan_mode="off",
        )
    )
    (line,) = opening(decided, dropped(decided, ["bash"]), {"model.tier": "mid"})
    assert (
        line
        == "Task class research chose: reduction at 0.65 (--compaction-threshold); questions auto (--ask)."
    )
    assert opening(prepare(options()), frozenset(), {}) == ()


def test_a_plan_mode_that_nothing_came_of_is_not_said_to_be_chosen(options) -> None:
    loaded = prepare(options(session__task_class="research"))
    (line,) = opening(loaded, frozenset(), {"permissions.plan_mode": "off"})
    assert "plan mode" not in line


def test_what_is_given_back_is_not_withheld(options) -> None:
    settings = {"tools": {"disable": ["glob"]}, "agents": {"enabled": True}}
    loaded = prepare(options(settings, session__task_class="debug"))
    assert withheld(loaded) == {"glob", "bash"}
    assert withheld(loaded, ["bash", "grep"]) == {"glob"}


def test_a_class_drops_tools_that_exist(options) -> None:
    classes = {"task_classes": {"odd": {"drop_tools": ["bsh"]}}}
    with pytest.raises(ConfigError, match="There is no tool 'bsh'"):
        open_session(options(classes, session__task_class="odd", model__name="claude-opus-5"))


@pytest.mark.parametrize(
    ("config", "ratios"),
    [
        ({}, {"frontier": 0.7, "mid": 0.7, "small": 0.7, None: 0.7}),
        ({"threshold_by_tier": {"frontier": 0.5, "small": 0.2}}, {"frontier": 0.5, "mid": 0.7, "small": 0.2, None: 0.7}),
        ({"threshold": 0.6}, {"frontier": 0.6, "mid": 0.6, "small": 0.6, None: 0.6}),
    ],
)  # fmt: skip
def test_its_threshold_holds_where_config_names_none_for_the_tier(
    options, config: dict[str, Any], ratios: dict[Tier | None, float]
) -> None:
    asked = options({"compaction": config}, session__task_class="implement")
    said = compaction(asked, prepare(asked))
    cards = {tier: ModelCard("m", "p", window=200_000, max_output=8_000, tier=tier) for tier in ratios}
    assert {tier: budget_of(card, said).ratio for tier, card in cards.items()} == ratios


def test_a_threshold_in_config_is_for_models_of_no_known_tier_where_there_is_no_class(options) -> None:
    asked = options({"compaction": {"threshold": 0.6}})
    said = compaction(asked, prepare(asked))
    assert budget_of(ModelCard("m", "p", window=200_000, tier="small"), said).ratio == 0.35
    assert budget_of(ModelCard("m", "p", window=200_000), said).ratio == 0.6
