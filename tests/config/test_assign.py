"""`config set`: one key changes, everything else stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_cli.config.assign import assign
from agent_cli.config.sources import load
from agent_cli.kernel.errors import ConfigError


def test_a_key_is_set_and_everything_else_stays_in_its_order(tmp_path: Path):
    directory = tmp_path / ".agents"
    directory.mkdir()
    file = directory / "config.json"
    file.write_text('{\n    "permissions": {"deny": ["x"]},\n    "zeta": 1,\n    "version": 99\n}\n')
    assert assign(directory, "budgets.max_steps", "12") == file
    after = json.loads(file.read_text())
    assert list(after) == ["permissions", "zeta", "version", "budgets"]
    assert after["budgets"] == {"max_steps": 12}
    assert '\n    "zeta"' in file.read_text(), "indented as before"


def test_comments_of_toml_stay(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text('# mine\n[model]\nname = "a"  # the usual one\n')
    assign(tmp_path, "model.name", "claude-opus-5")
    assign(tmp_path, "permissions.allow", '["bash:make*"]')
    text = file.read_text()
    assert "# mine" in text
    assert 'name = "claude-opus-5"  # the usual one' in text
    assert load(tmp_path, {"AGENT_CLI_HOME": str(tmp_path)}, {}).settings.permissions.allow == ("bash:make*",)


def test_a_new_file_is_private_json(tmp_path: Path):
    file = assign(tmp_path / "new" / ".agents", "model.effort", "high")
    assert json.loads(file.read_text()) == {"model": {"effort": "high"}}
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [("modle.name", "x", "model"), ("model.effort", "hgh", "high"), ("budgets.max_steps", "-1", "max_steps")],
)
def test_what_is_wrong_is_not_written(tmp_path: Path, key: str, value: str, told: str):
    with pytest.raises(ConfigError, match=told):
        assign(tmp_path, key, value)
    assert list(tmp_path.glob("config.*")) == []


def test_a_broken_file_is_left_alone(tmp_path: Path):
    (tmp_path / "config.json").write_text("{broken")
    with pytest.raises(ConfigError):
        assign(tmp_path, "model.name", "x")
    assert (tmp_path / "config.json").read_text() == "{broken"
