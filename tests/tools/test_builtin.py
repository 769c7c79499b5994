"""Which tools there are, and what a model reads about them."""

import re
from pathlib import Path

import msgspec
import pytest

from agent_cli.kernel import wire
from agent_cli.kernel.errors import ArgumentsError, ConfigError
from agent_cli.tools.builtin import NAMES, builtin, check_names
from agent_cli.tools.results import Results
from agent_cli.tools.workspace import Workspace


def names(root: Path, **options: object) -> list[str]:
    kept = Results(root / "kept")
    return [tool.spec.name for tool in builtin(Workspace(root), results=kept, **options)]  # pyright: ignore[reportArgumentType]


def test_the_profiles(tmp_path: Path) -> None:
    assert names(tmp_path) == list(NAMES)
    assert names(tmp_path, profile="compact") == [
        "read_file",
        "write_file",
        "edit_file",
        "list_dir",
        "grep",
        "bash",
    ]
    gone = {"bash", "glob", "retrieve_output"}
    left = [name for name in NAMES if name not in {*gone, "bash_output", "bash_kill"}]
    assert names(tmp_path, disabled=frozenset(gone)) == left


def test_nothing_runs_in_the_background_that_could_not_be_read_and_ended(tmp_path: Path) -> None:
    for gone in ("bash_output", "bash_kill"):
        tools = {tool.spec.name: tool for tool in builtin(Workspace(tmp_path), disabled=frozenset({gone}))}
        assert not {"bash_output", "bash_kill"} & set(tools)
        assert "background" not in tools["bash"].spec.schema["properties"]
        assert "background" not in tools["bash"].spec.description
    compact = {tool.spec.name: tool for tool in builtin(Workspace(tmp_path), profile="compact")}
    assert "background" not in compact["bash"].spec.schema["properties"]


def test_an_unknown_disabled_name_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no tool 'read'\. Did you mean read_file"):
        check_names(["read"])
    with pytest.raises(ConfigError, match="The tools are read_file, write_file"):
        check_names(["zzz"])


@pytest.mark.parametrize(
    "disabled",
    [
        frozenset[str](),
        *({name} for name in NAMES),
        frozenset(NAMES) - {"bash"},
        {"glob", "grep", "list_dir"},
    ],
)
def test_descriptions_name_only_registered_tools(tmp_path: Path, disabled: frozenset[str]) -> None:
    tools = builtin(Workspace(tmp_path), disabled=frozenset(disabled))
    registered = {tool.spec.name for tool in tools}
    for tool in tools:
        assert tool.spec.brief == tool.spec.description.split("\n")[0]
        assert "{" not in tool.spec.description.replace("{ }", "").replace("{old, new}", "")
        words = set(re.findall(r"\w+", tool.spec.description))
        own = {tool.spec.name} | (
            {"grep"} if tool.spec.name == "bash" and "grep" in registered else set[str]()
        )
        for other in {"read_file", "write_file", "edit_file", "list_dir"} - registered:
            assert other not in words, (tool.spec.name, other)
        assert own <= registered


def test_what_a_model_pays_for_the_tools(tmp_path: Path) -> None:
    specs = [tool.spec for tool in builtin(Workspace(tmp_path), results=Results(tmp_path))]
    size = sum(len(msgspec.json.encode(msgspec.structs.replace(spec, brief=""))) for spec in specs)
    assert size / 4 < 1_750


def test_schemas_are_objects_and_say_nothing_that_no_model_needs(tmp_path: Path) -> None:
    plain = {
        "path",
        "paths",
        "pattern",
        "command",
        "edits",
        "content",
        "patch",
        "query",
        "url",
        "items",
        "id",
    }
    for tool in builtin(Workspace(tmp_path), results=Results(tmp_path)):
        schema = tool.spec.schema
        assert schema["type"] == "object"
        assert schema.keys() <= {"type", "properties", "required"}, tool.spec.name
        assert schema.get("required") != []
        for name in schema.get("required", ()):
            described = schema["properties"][name].get("description") or f"`{name}`" in tool.spec.description
            assert described or name in plain, (tool.spec.name, name)


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    read = builtin(Workspace(tmp_path))[0]
    with pytest.raises(ArgumentsError, match="did you mean 'path'"):
        wire.arguments(read.arguments, {"paths": "x"})
    assert wire.arguments(read.arguments, {"path": "x", "offset": "12"}).offset == 12


def test_what_each_tool_is(tmp_path: Path) -> None:
    tools = {tool.spec.name: tool for tool in builtin(Workspace(tmp_path), results=Results(tmp_path))}
    assert {name for name, tool in tools.items() if tool.read_only} == {
        "read_file",
        "read_many_files",
        "list_dir",
        "glob",
        "grep",
        "stat",
        "json_query",
        "bash_output",
        "fetch_url",
        "retrieve_output",
    }
    assert {name for name, tool in tools.items() if tool.bounded} == {
        "read_file",
        "read_many_files",
        "stat",
        "list_dir",
        "glob",
        "grep",
        "fetch_url",
        "todo",
        "retrieve_output",
    }
