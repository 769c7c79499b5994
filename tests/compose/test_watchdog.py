"""The mode, the profile and the signals that settings ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose.watchdog import in_full, start_line, watching
from agent_cli.config.sources import Loaded, load


def loaded(root: Path, **flags: Any) -> Loaded:
    dotted = {key.replace("__", "."): value for key, value in flags.items()}
    (root / "p").mkdir(exist_ok=True)
    return load(root / "p", {"HOME": str(root)}, dotted)


@pytest.mark.parametrize(
    ("attended", "flags", "begins"),
    [
        (True, {}, "watchdog: warn mode [interactive default] ("),
        (False, {}, "watchdog: enforce mode [unattended default] ("),
        (False, {"safety__watchdog": "off"}, "watchdog: off mode [command line] ("),
        (True, {"safety__watchdog": "feedback", "watchdog__profile": "seed"}, "watchdog: feedback mode [command line], profile seed ("),
    ],
)  # fmt: skip
def test_the_start_line_names_the_mode_its_origin_and_what_it_does(
    tmp_path: Path, attended: bool, flags: dict[str, Any], begins: str
):
    line = start_line(loaded(tmp_path, **flags), attended=attended)
    assert line.startswith(begins)
    assert line.endswith(")")
    assert len(begins) + 10 < len(line) < 110, "one short line"


def test_what_the_mode_does_is_told_in_full_to_who_asks_for_details(tmp_path: Path):
    assert "most of them the session until /guardrail reset" in in_full(loaded(tmp_path), attended=False)
    assert "stops nothing" in in_full(loaded(tmp_path), attended=True)


def names(loaded: Loaded) -> list[str]:
    return [signal.name for signal in watching(loaded.settings, attended=False)()]


def test_a_signal_may_be_switched_off_and_one_that_the_profile_lacks_on(tmp_path: Path):
    assert "no-news" in names(loaded(tmp_path))
    assert "no-news" not in names(loaded(tmp_path, watchdog__profile="seed"))
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text(
        '{"watchdog": {"profile": "seed", "signals": {"no-news": {"enabled": true}, "no-op-streak": {"enabled": false}}}}'
    )
    found = names(loaded(tmp_path))
    assert "no-news" in found
    assert "no-op-streak" not in found


def test_a_task_class_may_name_a_profile(tmp_path: Path):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text(
        '{"session": {"task_class": "triage"}, "task_classes": {"triage": {"watchdog_profile": "strict"}}}'
    )
    assert loaded(tmp_path).settings.watchdog.profile == "strict"
    assert loaded(tmp_path, watchdog__profile="seed").settings.watchdog.profile == "seed"


def test_a_task_class_may_say_what_becomes_of_it_where_a_pool_is_full(tmp_path: Path):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text(
        '{"session": {"task_class": "chat"}, "task_classes": {"chat": {"when_full": "reject"}}}'
    )
    assert loaded(tmp_path).settings.admission.when_full == "reject"
