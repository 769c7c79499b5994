"""`mcp.json`: read, filled in, checked, and what other agents call theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.servers import Named, read_servers
from agent_cli.kernel.errors import ConfigError


def written(file: Path, servers: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}, indent=1), "utf-8")
    return file


def one(file: Path, **environ: str) -> Named:
    (found,) = read_servers((file,), environ)
    return found


def test_a_later_file_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    user = written(
        tmp_path / "u" / "mcp.json", {"b": {"command": "b"}, "a": {"command": "old", "args": ["-x"]}}
    )
    project = written(tmp_path / "p" / "mcp.json", {"a": {"command": "new"}})
    found = read_servers((user, project), {})
    assert [(each.name, each.entry.command, each.entry.args, each.origin) for each in found] == [
        ("a", "new", (), project),
        ("b", "b", (), user),
    ]


def test_variables_are_filled_in_and_those_that_are_missing_are_named(tmp_path: Path) -> None:
    entry = {"url": "https://x.example/${env:TENANT}", "headers": {"Authorization": "Bearer ${env:KEY}"}}
    file = written(tmp_path / "mcp.json", {"a": entry})
    found = one(file, TENANT="t")
    assert found.entry.url == "https://x.example/t"
    assert found.missing == ("KEY",)
    assert one(file, TENANT="t", KEY="k").entry.headers == {"Authorization": "Bearer k"}


def test_all_that_is_wrong_is_told_with_its_line_and_what_was_meant(tmp_path: Path) -> None:
    file = written(
        tmp_path / "mcp.json",
        {
            "a": {"comand": "x"},
            "b": {"command": "x", "url": "https://x.example"},
            "c": {"command": "x", "timeout": "soon", "tools": {"alow": ["x"]}},
        },
    )
    with pytest.raises(ConfigError) as caught:
        read_servers((file,), {})
    said = str(caught.value)
    assert f"{file}:4: there is no key 'comand' here; did you mean 'command'?" in said
    assert "did you mean 'allow'?" in said
    assert "mcpServers.c.timeout" in said
    file = written(tmp_path / "mcp.json", {"b": {"command": "x", "url": "https://x.example"}, "d": {}})
    with pytest.raises(ConfigError, match="both a command and an address") as caught:
        read_servers((file,), {})
    assert "the server 'd' has neither a command nor an address" in str(caught.value)


def test_the_old_way_over_http_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "mcp.json", {"a": {"type": "sse", "url": "https://x.example/sse"}})
    with pytest.raises(ConfigError, match="old SSE protocol"):
        read_servers((file,), {})


def test_what_other_agents_write_is_understood(tmp_path: Path) -> None:
    entry = {
        "command": "${BIN:-npx}",
        "args": ["--key=${KEY}"],
        "autoApprove": ["x"],
        "disabled": True,
        "timeout": 60000,
    }
    found = one(written(tmp_path / ".mcp.json", {"a": entry}), KEY="k")
    assert (found.entry.command, found.entry.args, found.entry.enabled) == ("npx", ("--key=k",), False)
    assert found.entry.timeout == 60
