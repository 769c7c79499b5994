"""A rule is added, and nothing else in the file changes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.config import files
from agent_cli.config.sources import load
from agent_cli.config.write import add_rule
from agent_cli.kernel.errors import ConfigError
from tests.fakes.strategies import json_values

ROOT = Path(__file__).resolve().parents[2]

RULE = 'bash:git "log" é*'


def test_a_project_without_config_gets_one(tmp_path: Path) -> None:
    project = tmp_path / "p" / ".agents"
    file = add_rule(project, RULE)
    assert file == project / "config.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(project.iterdir()) == [file]
    loaded = load(tmp_path / "p", {"HOME": str(tmp_path)}, {})
    assert loaded.settings.permissions.allow == (RULE,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "permissions": {"allow": ["new"]}\n}'),
        ("{ }\n", '{\n  "permissions": {"allow": ["new"]}\n}\n'),
        ('{"version": 1}', '{"version": 1, "permissions": {"allow": ["new"]}}'),
        (
            '{\n\t"version": 1,\n\t"ui": {"theme":"dark"}\n}\n',
            '{\n\t"version": 1,\n\t"ui": {"theme":"dark"},\n\t"permissions": {"allow": ["new"]}\n}\n',
        ),
        ('{"permissions": {}}', '{"permissions": {\n  "allow": ["new"]\n}}'),
        ('{"permissions":{"mode":"ask"} }', '{"permissions":{"mode":"ask", "allow": ["new"]} }'),
        ('{"permissions": {"allow": []}}', '{"permissions": {"allow": ["new"]}}'),
        ('{"permissions": {"allow": ["a"]}, "x": "]"}', '{"permissions": {"allow": ["a", "new"]}, "x": "]"}'),
        (
            '{"permissions": {"allow": [\n    "a]",\n    "b\\"}"\n  ], "deny": []}}',
            '{"permissions": {"allow": [\n    "a]",\n    "b\\"}",\n    "new"\n  ], "deny": []}}',
        ),
        (
            '\ufeff{\r\n  "version": 1\r\n}\r\n',
            '\ufeff{\r\n  "version": 1,\r\n  "permissions": {"allow": ["new"]}\r\n}\r\n',
        ),
        ('{"permissions": {"allow": ["new"]}}', '{"permissions": {"allow": ["new"]}}'),
    ],
)
def test_json_keeps_its_shape(tmp_path: Path, before: str, after: str) -> None:
    check(tmp_path / "config.json", before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[permissions]\nallow = ["new"]\n'),
        ("# mine\nversion = 1", '# mine\nversion = 1\n\n[permissions]\nallow = ["new"]\n'),
        (
            '[permissions] # who\nmode = "ask"\n\n[ui]\ntheme = "dark"\n',
            '[permissions] # who\nallow = ["new"]\nmode = "ask"\n\n[ui]\ntheme = "dark"\n',
        ),
        ("[permissions]", '[permissions]\nallow = ["new"]\n'),
        ("[permissions]\nallow = []\n", '[permissions]\nallow = ["new"]\n'),
        ("[permissions]\nallow = [ 'a' ]\n", "[permissions]\nallow = [ 'a', \"new\" ]\n"),
        (
            '[permissions]\nallow = [\n  "a", # first\n  # and then\n  "b]", # second\n]\ndeny = ["c"]\n',
            '[permissions]\nallow = [\n  "a", # first\n  # and then\n  "b]", # second\n  "new"\n]\ndeny = ["c"]\n',
        ),
        (
            '[permissions]\nallow = [\n  "a" # only\n]\n',
            '[permissions]\nallow = [\n  "a", # only\n  "new"\n]\n',
        ),
        (
            '[other]\nallow = ["x"]\n[permissions]\nallow = ["a"]\n',
            '[other]\nallow = ["x"]\n[permissions]\nallow = ["a", "new"]\n',
        ),
        ('permissions.mode = "ask"\n', 'permissions.allow = ["new"]\npermissions.mode = "ask"\n'),
        ('permissions.allow = ["a"]\n', 'permissions.allow = ["a", "new"]\n'),
        ('permissions = { mode = "ask" }\n', 'permissions = { allow = ["new"], mode = "ask" }\n'),
        ("permissions = {}\n", 'permissions = {allow = ["new"]}\n'),
        ('[ui]\r\ntheme = "x"\r\n', '[ui]\r\ntheme = "x"\r\n\r\n[permissions]\r\nallow = ["new"]\r\n'),
        ('[permissions]\nallow = ["new"]\n', '[permissions]\nallow = ["new"]\n'),
    ],
)
def test_toml_keeps_its_shape(tmp_path: Path, before: str, after: str) -> None:
    check(tmp_path / "config.toml", before, after)


def check(file: Path, before: str, after: str) -> None:
    file.write_bytes(before.encode())
    assert add_rule(file.parent, "new") == file
    assert file.read_bytes().decode() == after


def documents() -> st.SearchStrategy[dict[str, Any]]:
    rules = st.lists(st.text(max_size=8), max_size=3)
    permissions = st.fixed_dictionaries({}, optional={"allow": rules, "deny": rules, "mode": json_values})
    return st.fixed_dictionaries(
        {}, optional={"permissions": permissions, "a": json_values, "z": json_values}
    )


@settings(max_examples=60, deadline=None)
@given(documents(), st.text(max_size=8), st.sampled_from([None, 0, 2, "\t"]))
def test_any_json_means_the_same_and_the_rule(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, Any], rule: str, indent: int | str | None
) -> None:
    file = tmp_path_factory.mktemp("p") / "config.json"
    file.write_text(json.dumps(tree, indent=indent), "utf-8")
    add_rule(file.parent, rule)
    after = json.loads(file.read_text("utf-8"))
    allow = after["permissions"].pop("allow")
    before = tree.get("permissions", {})
    had = before.pop("allow", [])
    assert allow == (had if rule in had else [*had, rule])
    assert after == {**tree, "permissions": before}
    assert list(after) == list({**tree, "permissions": None})


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_any_rule_in_toml(tmp_path_factory: pytest.TempPathFactory, rule: str) -> None:
    file = tmp_path_factory.mktemp("p") / "config.toml"
    file.write_text('[permissions]\nallow = ["a"]\n', "utf-8")
    add_rule(file.parent, rule)
    assert tomllib.loads(file.read_text("utf-8"))["permissions"]["allow"] == list(dict.fromkeys(["a", rule]))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", '{"permissions": []}', "not a list"),
        ("config.json", '{"permissions": {"allow": "x"}}', "not a list"),
        ("config.json", "{", "not JSON"),
        ("config.toml", "permissions = { \\\n", "not TOML"),
        ("config.toml", '"permissions" = { mode = "ask" }\n', "by hand"),
    ],
)
def test_a_file_that_cannot_take_the_rule_stays_as_it_is(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=said):
        add_rule(tmp_path, "new")
    assert (tmp_path / name).read_text("utf-8") == content
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_an_old_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", "utf-8")
    real.chmod(0o640)
    project = tmp_path / ".agents"
    project.mkdir()
    (project / "config.json").symlink_to(real)
    add_rule(project, "new")
    assert (project / "config.json").is_symlink()
    assert json.loads(real.read_text("utf-8")) == {"permissions": {"allow": ["new"]}}
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="holds for this session only"):
        add_rule(tmp_path / "file" / ".agents", "new")


def test_a_rule_that_no_file_can_hold(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="could not be written"):
        add_rule(tmp_path, "bash:\ud800")
    assert list(tmp_path.iterdir()) == []


def test_rules_of_several_processes_all_remain(tmp_path: Path) -> None:
    code = "import sys, pathlib as p, agent_cli.config.write as w; [w.add_rule(p.Path(sys.argv[1]), r) for r in sys.argv[2:]]"
    rules = [[f"{process}-{number}" for number in range(20)] for process in range(3)]
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), *mine], cwd=ROOT, stderr=subprocess.PIPE)
        for mine in rules
    ]
    assert [process.communicate(timeout=30)[1] for process in processes] == [b"", b"", b""]
    held = json.loads((tmp_path / "config.json").read_text("utf-8"))
    assert sorted(held["permissions"]["allow"]) == sorted(rule for mine in rules for rule in mine)


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("config.json", '{"permissions": {"allow": ["read_file"]}}'),
        ("config.json", '{"permissions": {"deny": ["a"]}}'),
        ("config.json", "{}"),
        ("config.toml", '[permissions]\nallow = ["read_file"]  # kept\n'),
        ("config.toml", '[permissions]\ndeny = ["a"]\nallow = ["deny = [x]"]\n'),
        ("config.toml", 'permissions.allow = ["read_file"]\n'),
        ("config.toml", 'permissions = { allow = ["read_file"] }\n'),
        ("config.toml", ""),
    ],
)
def test_a_denial_goes_to_the_list_of_denials(tmp_path: Path, name: str, before: str) -> None:
    project = tmp_path / ".agents"
    project.mkdir()
    (project / name).write_text(before)
    was = files.parse(project / name, before).get("permissions", {})
    add_rule(project, "bash:rm *", "deny")
    now = files.read(project / name)["permissions"]
    assert now["deny"] == [*was.get("deny", []), "bash:rm *"]
    assert now.get("allow") == was.get("allow")
