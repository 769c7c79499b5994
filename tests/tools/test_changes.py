"""Whether a command changed something, and whether it found nothing."""

from __future__ import annotations

import pytest

from agent_cli.tools import changes
from tests.tools.bench import Bench


async def changed(bench: Bench, command: str) -> list[str]:
    output = await bench.call("bash", command=command)
    return sorted(path.removeprefix(f"{bench.workspace.root}/") for path in output.changed)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo x > new", "new"),
        ("echo x >> src/a.py", "src/a.py"),
        ("sed -i s/one/two/ src/a.py", "src/a.py"),
        ("rm src/a.py", "src"),
        ("mv src/a.py src/b.py", "src/b.py"),
        ("chmod +x src/a.py", "src/a.py"),
        ("touch -d 2001-01-01 src/a.py", "src/a.py"),
        ("python3 -c \"open('deep/er/x', 'w')\"", "deep/er/x"),
        ("cd src && echo x > y", "src/y"),
    ],
)
async def test_what_a_command_wrote_is_told(bench: Bench, command: str, path: str):
    bench.put("src/a.py", "one\n")
    bench.put("deep/er/there", "")
    assert path in await changed(bench, command)


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "cat src/a.py",
        "grep one src/a.py",
        "true",
        "false",
        "python3 -c \"open('.pytest_cache/x', 'w')\"",
        "sleep 0.01",
    ],
)
async def test_what_only_looks_changes_nothing(bench: Bench, command: str):
    bench.put("src/a.py", "one\n")
    bench.put(".pytest_cache/x", "")
    assert await changed(bench, command) == []


async def test_git_tells_by_its_log_and_its_files(bench: Bench):
    bench.put("a", "1")
    setup = "git init -q && git config user.email a@b && git config user.name a && git add a"
    await bench.call("bash", command=setup)
    assert await changed(bench, "git commit -qm one") == [".git/logs/HEAD"]
    assert await changed(bench, "git status") == []
    assert "a" in await changed(bench, "echo 2 > a")
    assert "a" in await changed(bench, "git checkout -q a")


async def test_the_look_has_bounds(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    for number in range(30):
        bench.put(f"many/{number}", "")
    monkeypatch.setattr(changes, "ENTRIES", 10)
    assert "many/29" in await changed(bench, "echo x > many/29"), "what the command names is looked at first"
    everything = "python3 -c \"import os; [os.utime(f'many/{n}') for n in range(30)]\""
    assert 0 < len(await changed(bench, everything)) <= 10
    monkeypatch.setattr(changes, "ENTRIES", 10_000)
    assert len(await changed(bench, everything)) == changes.TOLD


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
