"""The line that says at the start which window and which threshold hold, and why."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions, open_session
from agent_cli.compose.budgets import alone, budget_line, limits
from agent_cli.config.sources import load
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard
from tests.fakes.sessions import run, say

FRONTIER = ModelCard("big-1", "fake", window=200_000, max_output=20_000, tier="frontier")


@pytest.mark.parametrize(
    ("card", "flags", "config", "line"),
    [
        (FRONTIER, {}, "", "context: big-1, window 200,000 tokens [model catalog]; threshold 0.85, reduction at 170,000 tokens [default of frontier models]"),
        (FRONTIER, {"compaction.threshold": 0.5}, "", "context: big-1, window 200,000 tokens [model catalog]; threshold 0.5, reduction at 100,000 tokens [--compaction-threshold]"),
        (FRONTIER, {"model.context_window": 200_000}, "", "context: big-1, window 200,000 tokens [command line]; threshold 0.85, reduction at 170,000 tokens [default of frontier models]"),
        (FRONTIER, {}, "[compaction.threshold_by_tier]\nfrontier = 0.6", "context: big-1, window 200,000 tokens [model catalog]; threshold 0.6, reduction at 120,000 tokens [compaction.threshold_by_tier.frontier, {config}]"),
        (FRONTIER, {}, "[compaction]\nlimit = 90000", "context: big-1, window 200,000 tokens [model catalog]; reduction at 90,000 tokens [compaction.limit, {config}]"),
        (FRONTIER, {}, "[compaction]\nlimit = 0", "context: big-1, window 200,000 tokens [model catalog]; no reduction by itself [{config}]"),
        (FRONTIER, {}, "[models.big-1]\nwindow = 200000", "context: big-1, window 200,000 tokens [{config}]; threshold 0.85, reduction at 170,000 tokens [default of frontier models]"),
        (FRONTIER, {"compaction.enabled": False}, "", "context: big-1, window 200,000 tokens [model catalog]; no reduction by itself [command line]"),
        (ModelCard("odd", "n"), {}, "", "context: odd, window unknown, 128,000 tokens are assumed [no catalog names it]; threshold 0.8, reduction at 102,400 tokens [default of models of no known tier]"),
        (ModelCard("odd", "n", window=50_000, max_output=1_000), {}, "[compaction]\nthreshold = 0.6", "context: odd, window 50,000 tokens [model catalog]; threshold 0.6, reduction at 30,000 tokens [compaction.threshold, {config}]"),
        (FRONTIER, {"session.task_class": "debug"}, "", "context: big-1, window 200,000 tokens [model catalog]; threshold 0.65, reduction at 130,000 tokens [compaction.threshold, task class debug]"),
        (ModelCard("long-1", "n", window=200_000, max_output=64_000, tier="frontier"), {}, "", "context: long-1, window 200,000 tokens [model catalog]; threshold 0.85, reduction at 160,000 tokens, which leaves 40,000 for an answer [default of frontier models]"),
    ],
)  # fmt: skip
def test_the_start_line_names_window_and_threshold_with_their_origins(
    tmp_path: Path, card: ModelCard, flags: dict[str, Any], config: str, line: str
):
    file = tmp_path / "c.toml"
    file.write_text(config)
    environ = {"HOME": str(tmp_path)}
    loaded = load(tmp_path, environ, flags, file)
    told = budget_line(RunOptions(tmp_path, environ, False, flags), loaded, card)
    assert told == line.format(config=file)


NONE = {"budgets.max_steps": 0, "budgets.max_duration": 0, "agent.max_session_cost_usd": 0}


@pytest.mark.parametrize(
    ("attended", "flags", "config", "bounds"),
    [
        (True, {}, "", Limits()),
        (False, {}, "", Limits(max_steps=200, max_duration=14_400, max_session_cost=10.0)),
        (False, NONE, "", Limits()),
        (False, {}, "[budgets]\nmax_steps = 0\nmax_duration = 0\n[agent]\nmax_session_cost_usd = 0", Limits()),
        (False, {"agent.max_session_cost_usd": 2.5}, "[agent]\nmax_session_cost_usd = 0", Limits(max_steps=200, max_duration=14_400, max_session_cost=2.5)),
        (False, {"agent.max_turn_cost_usd": 0.0}, "[agent]\nmax_turn_cost_usd = 1", Limits(max_steps=200, max_duration=14_400, max_session_cost=10.0)),
        (True, {"budgets.max_tokens": 9}, "[budgets]\nmax_tool_calls = 5", Limits(max_tool_calls=5, max_tokens=9)),
    ],
)  # fmt: skip
def test_ceilings_by_who_is_there_and_an_explicit_zero_is_none(
    tmp_path: Path, attended: bool, flags: dict[str, Any], config: str, bounds: Limits
):
    file = tmp_path / "c.toml"
    file.write_text(config)
    loaded = load(tmp_path, {"HOME": str(tmp_path)}, flags, file)
    settings = loaded.settings if attended else alone(loaded).settings
    assert limits(settings, attended=attended) == bounds


async def test_it_is_recorded_for_who_asks_and_stands_in_the_log_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    flags = {"model.provider": "echo", "model.context_window": 50_000}
    caplog.set_level(logging.INFO, "agent_cli")
    session = open_session(RunOptions(tmp_path, environ, False, flags)).session
    await run(session, say("hello"))
    recorded = [entry.event async for entry in _facts(session)]
    lines = [note.text for note in recorded if isinstance(note, ev.OperatorNote) and note.level == "detail"]
    assert [line.split(";")[0] for line in lines] == [
        "watchdog: tells you when the agent goes in circles, and the model at its next turn",
        "context: echo, window 50,000 tokens [command line]",
    ]
    assert all(line in caplog.text for line in lines)
    await session.close()


async def _facts(session):
    async for event in session.events():
        if isinstance(event, ev.Entry):
            yield event
            if isinstance(event.event, ev.TERMINAL):
                return
