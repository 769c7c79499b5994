"""A task class is a bundle of defaults: whatever anybody says outranks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.sources import Loaded, load
from agent_cli.config.task_classes import BUILT_IN
from agent_cli.kernel.errors import ConfigError


@pytest.fixture
def loading(tmp_path: Path):
    (tmp_path / "p" / ".agents").mkdir(parents=True)
    (tmp_path / ".agents").mkdir()

    def enter(
        flags: dict[str, Any] | None = None,
        *,
        user: dict[str, Any] | None = None,
        project: dict[str, Any] | None = None,
        **environ: str,
    ) -> Loaded:
        (tmp_path / ".agents" / "config.json").write_text(json.dumps(user or {}))
        (tmp_path / "p" / ".agents" / "config.json").write_text(json.dumps(project or {}))
        return load(tmp_path / "p", {"HOME": str(tmp_path), **environ}, flags or {})

    return enter


TABLE: dict[str, tuple[str, float, str, tuple[str, ...]]] = {
    "debug": ("frontier", 0.65, "ask", ("bash",)),
    "implement": ("frontier", 0.70, "ask", ()),
    "chat": ("mid", 0.85, "ask", ()),
    "research": ("mid", 0.65, "allow", ("bash",)),
    "review": ("frontier", 0.75, "ask", ("bash",)),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_each_class_chooses(loading, name: str) -> None:
    loaded = loading({"session.task_class": name})
    settings = loaded.settings
    chosen = (
        settings.model.tier,
        settings.compaction.threshold,
        settings.permissions.mode,
        loaded.task.drops,
    )
    assert chosen == TABLE[name]
    assert loaded.origins["model.tier"] == f"task class {name}"


def test_the_table_is_the_whole_list() -> None:
    assert list(TABLE) == list(BUILT_IN)


def test_everything_else_outranks_a_class(loading) -> None:
    said = {"permissions": {"mode": "plan"}, "compaction": {"threshold": 0.5}, "model": {"tier": "small"}}
    for where in ({"user": said}, {"project": said}):
        settings = loading({"session.task_class": "research"}, **where).settings
        found = (settings.permissions.mode, settings.compaction.threshold, settings.model.tier)
        assert found == ("plan", 0.5, "small")
    flagged = loading({"session.task_class": "research", "permissions.mode": "yolo"})
    assert flagged.settings.permissions.mode == "yolo"
    assert loading(AGENT_CLI_SESSION__TASK_CLASS="chat").settings.model.tier == "mid"


def test_config_names_the_class_and_a_flag_another(loading) -> None:
    assert loading(project={"session": {"task_class": "debug"}}).task.name == "debug"
    flagged = loading({"session.task_class": "chat"}, project={"session": {"task_class": "debug"}})
    assert (flagged.task.name, flagged.task.drops) == ("chat", ())
    assert loading().task is None


def test_config_defines_classes_and_changes_those_that_are_built_in(loading) -> None:
    classes = {
        "infra.v2": {"tier": "mid", "drop_tools": ["write_file"], "permission_mode": "plan"},
        "debug": {"drop_tools": []},
    }
    own = loading({"session.task_class": "infra.v2"}, user={"task_classes": classes})
    assert (own.settings.model.tier, own.settings.permissions.mode) == ("mid", "plan")
    assert own.task.drops == ("write_file",)
    changed = loading({"session.task_class": "debug"}, user={"task_classes": classes})
    assert (changed.settings.compaction.threshold, changed.task.drops) == (0.65, ())


def test_an_unknown_class_names_the_known_ones(loading) -> None:
    with pytest.raises(ConfigError, match=r"'debgu'. Did you mean 'debug'\?.*implement, chat"):
        loading({"session.task_class": "debgu"})
    with pytest.raises(ConfigError, match=r"task_classes.mine.colour"):
        loading(user={"task_classes": {"mine": {"colour": "red"}}})
