"""What is wrong in a config file is told with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.config.lines import located
from agent_cli.config.sources import load
from agent_cli.kernel.errors import ConfigError

JSON = """{
  "model": {"name": "x",
    "effort": "hgh"},
  "permissions": {
    "allow": [
      "bash:ls*",
      7
    ],
    "dney": []
  },
  "modl": 1
}
"""
TOML = """# mine
[model]
effort = "hgh"

[permissions]
allow = ["bash:ls*", 7]
dney = []
[budgets]
child.max_stps = 3
"""


def wrong(tmp_path: Path, name: str, text: str) -> str:
    file = tmp_path / ".agents" / name
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, {"HOME": str(tmp_path / "home")}, {})
    return str(refused.value).replace(str(file), name)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("config.json", JSON, (
            'config.json:3: model.effort = "hgh" must be', "did you mean 'high'",
            "config.json:7: permissions.allow[1] = 7 must be a text",
            "config.json:9: there is no setting 'permissions.dney'; did you mean 'permissions.deny'?",
            "config.json:11: there is no setting 'modl'; did you mean 'model'?",
        )),
        ("config.toml", TOML, (
            'config.toml:3: model.effort = "hgh" must be', "config.toml:6: permissions.allow[1] = 7 must be a text",
            "config.toml:7: there is no setting 'permissions.dney'",
            "config.toml:9: there is no setting 'budgets.child.max_stps'; did you mean 'budgets.child.max_steps'?",
        )),
    ],
)  # fmt: skip
def test_each_mistake_has_its_line(tmp_path: Path, name: str, text: str, told: tuple[str, ...]) -> None:
    said = wrong(tmp_path, name, text)
    for words in told:
        assert words in said


def test_what_is_in_no_file_has_no_line(tmp_path: Path) -> None:
    assert located("AGENT_CLI_MODEL__EFFORT", ("model", "effort")) == "AGENT_CLI_MODEL__EFFORT"
    assert located(str(tmp_path), ("model",)) == str(tmp_path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda held: (
        st.lists(held, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), held, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1, max_size=6), values, max_size=4))
def test_every_key_of_any_json_is_found(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, object]
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_text(json.dumps(tree, indent=1), "utf-8")
    lines = file.read_text("utf-8").splitlines()
    for name in tree:
        line = int(located(str(file), (name,)).rpartition(":")[2])
        assert lines[line - 1].startswith(f" {json.dumps(name)}:")


def test_a_file_may_name_its_schema_for_an_editor(tmp_path: Path) -> None:
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text('{"$schema": "./schema.json", "model": {"name": "x"}}')
    loaded = load(tmp_path, {"HOME": str(tmp_path / "home")}, {}, trusted=False)
    assert loaded.settings.model.name == "x"
    assert loaded.left_out == ()
