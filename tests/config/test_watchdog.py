"""Single signals of the watchdog by name: what fits, what was probably meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.sources import load
from agent_cli.kernel.errors import ConfigError


def settings(root: Path, tree: dict[str, Any]) -> Any:
    file = root / "config.json"
    file.write_text(json.dumps({"watchdog": tree}))
    environ = {"HOME": str(root), "AGENT_CLI_HOME": str(root / "home")}
    return load(root, environ, {}, file).settings.watchdog


def test_a_signal_is_tuned_by_its_name(tmp_path: Path):
    tree = {
        "profile": "strict",
        "signals": {"no-news": {"threshold": 9, "severity": "warn", "enabled": "on"}},
    }
    found = settings(tmp_path, tree)
    assert found.profile == "strict"
    rule = found.signals["no-news"]
    assert (rule.threshold, rule.severity, rule.scope, rule.enabled) == (9, "warn", None, True)


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        (
            {"signals": {"repeated-call": {"threshold": 4}}},
            "there is no setting 'watchdog.signals.repeated-call'; did you mean 'watchdog.signals.repeated-tool-call'?",
        ),
        (
            {"signals": {"no-news": {"treshold": 4}}},
            "did you mean 'watchdog.signals.no-news.threshold'?",
        ),
        (
            {"signals": {"no-news": {"threshold": 0}}},
            "watchdog.signals.no-news.threshold = 0 must be at least 1",
        ),
        ({"signals": {"no-news": {"severity": "critcal"}}}, "did you mean 'critical'?"),
        ({"signals": {"no-news": {"scope": "step"}}}, "must be 'turn' or 'session'"),
        ({"profile": "sead"}, "did you mean 'seed'?"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, tree: dict[str, Any], told: str):
    with pytest.raises(ConfigError) as refused:
        settings(tmp_path, tree)
    assert told in str(refused.value)
