"""What finds nothing is empty, and no failure."""

from __future__ import annotations

import pytest

from tests.tools.bench import Bench


@pytest.mark.parametrize(
    ("command", "ok", "empty"),
    [
        ("grep nothing a", True, True),
        ("diff a b", True, False),
        ("test -f nothing", True, True),
        ("cat nothing", False, False),
        ("true", True, True),
        ("echo x", True, False),
        ("false", False, False),
    ],
)
async def test_a_command_that_finds_nothing_is_empty_and_no_failure(
    bench: Bench, command: str, ok: bool, empty: bool
):
    bench.put("a", "1\n")
    bench.put("b", "2\n")
    output = await bench.call("bash", command=command)
    assert (output.ok, output.empty) == (ok, empty)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("grep", {"pattern": "nothing"}),
        ("glob", {"pattern": "*.zig"}),
        ("list_dir", {"path": "hollow"}),
        ("stat", {"path": "nothing"}),
        ("json_query", {"path": "a.json", "query": "nothing"}),
    ],
)
async def test_a_search_without_a_match_is_empty(bench: Bench, tool: str, given: dict[str, str]):
    bench.put("a.json", '{"x": 1}')
    (bench.root / "hollow").mkdir()
    output = await bench.call(tool, **given)
    assert (output.ok, output.empty) == (True, True)
