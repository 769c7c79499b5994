"""Where paths lead, and what the gate says of that: links, `..`, letter case, names that do not exist yet, and races."""

from __future__ import annotations

import json
import os
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.explain import Explainer
from agent_cli.kernel import wire
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import as_text
from agent_cli.tools.builtin import builtin
from agent_cli.tools.command_paths import paths_of
from agent_cli.tools.disk import replace
from agent_cli.tools.workspace import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project with links in every direction, and what lies outside of it."""
    return _made(tmp_path)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all that only look."""
    return _made(tmp_path_factory.mktemp("paths"))


def _made(tmp_path: Path) -> Path:
    root, out = tmp_path / "project", tmp_path / "outside"
    for directory in (
        root / "src" / "deep",
        root / ".agents" / "hooks",
        root / ".git" / "hooks",
        out / "dir",
        tmp_path / "project2",
    ):
        directory.mkdir(parents=True)
    for file in (
        root / "a.txt",
        root / "src" / "b.txt",
        out / "c.txt",
        out / "dir" / "d.txt",
        root / ".env",
        root / ".git" / "config",
    ):
        file.write_text("x")
    links = {
        "inside": "src",
        "inside-file": "src/b.txt",
        "out": str(out),
        "out-file": str(out / "c.txt"),
        "out-relative": "../outside",
        "dangling": str(out / "new.txt"),
        "dangling-inside": "src/new.txt",
        "loop": "loop2",
        "loop2": "loop",
        "chain": "chain2",
        "chain2": "chain3",
        "chain3": "out-relative/dir",
        "up": "..",
        "root": "/",
        "hooks": ".git/hooks",
        "secret": ".env",
        "src/back": "../../outside/dir",
        "src/self": ".",
        "out-and-in": "../outside/../project/src",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    (out / "into").symlink_to(root / "src")
    return tmp_path


INSIDE = (
    "a.txt", "./a.txt", "src/../a.txt", "src//b.txt", "src/./b.txt", "inside/b.txt", "inside-file", "src/deep/../b.txt",
    "src/self/b.txt", "src/self/self/self/b.txt", "inside/../a.txt", "new.txt", "src/new/newer/newest.txt",
    "dangling-inside", "inside/new/x.txt", "out-and-in/b.txt", "{root}/a.txt", "{root}/src/../a.txt", "up/project/a.txt",
    "../project/a.txt", "../outside/into/b.txt", "out/into/b.txt", "out/../project/a.txt", "src/deep/../../a.txt",
    "root/{bare}/a.txt", "a.txt/.", "missing/../a.txt", "A.TXT", "Src/b.txt", "src/ b.txt", "src/*", "-rf",
)  # fmt: skip
OUTSIDE = (
    "..", "../outside/c.txt", "../project2/x", "../project-2", "/etc/passwd", "/", "//etc/passwd", "/../etc/passwd", "out/c.txt",
    "out-file", "out-relative/c.txt", "out/new.txt", "out/a/b/c/new.txt", "dangling", "chain/d.txt", "chain/new", "src/back/d.txt",
    "src/back/../c.txt", "up/outside/c.txt", "up", "root/etc/passwd", "root", "inside/../../outside/c.txt", "src/self/../../x",
    "{root}/../outside/c.txt", "{out}/c.txt", "~/.bashrc", "missing/../../outside/c.txt", "missing/../../../x", "a.txt/../../x",
    "inside/back/d.txt", "out-and-in/../../outside/c.txt", "src/deep/../../../project2", "out/dir/../c.txt", "{root}2/x", "/tmp",
)  # fmt: skip
NOWHERE = (
    "loop",
    "loop/x",
    "loop2/../a.txt",
    "src/../loop/new",
    "nul\0byte",
    "~nobody-of-that-name/x",
    "~x.txt/../a.txt",
)


def _spelled(place: Path, name: str) -> str:
    root = str((place / "project").resolve())
    return name.format(root=root, bare=root.lstrip("/"), out=str((place / "outside").resolve()))


@cache
def _explainer(place: Path, mode: Mode) -> Explainer:
    """What `agent-cli permissions explain` asks."""
    environ = {"HOME": str(Path.home()), "AGENT_CLI_HOME": str(place / "state")}
    return Explainer(RunOptions(place / "project", environ, True, {"permissions.mode": mode}))


def _verdict(place: Path, tool: str, name: str, mode: Mode = "acceptEdits") -> tuple[str, str]:
    given = {"path": name, "content": "x"} if tool == "write_file" else {"path": name}
    ruling = _explainer(place, mode).explain(tool, json.dumps(given)).ruling
    return ruling.verdict, ruling.rule


def _cases(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(product(("read_file", "write_file"), names))


@pytest.mark.parametrize(("tool", "name"), _cases(INSIDE))
def test_what_leads_inside_is_in_the_scope(fixed: Path, tool: str, name: str) -> None:
    assert _verdict(fixed, tool, _spelled(fixed, name))[0] == "allow"


@pytest.mark.parametrize(("tool", "name"), _cases((*OUTSIDE, *NOWHERE)))
def test_what_leads_outside_or_nowhere_is_asked(fixed: Path, tool: str, name: str) -> None:
    verdict, rule = _verdict(fixed, tool, _spelled(fixed, name))
    assert verdict == "ask"
    assert rule in ("path-scope", "control-plane")


@pytest.mark.parametrize(
    "name",
    [
        ".git/config", ".GIT/CONFIG", ".git/hooks/pre-commit", "hooks/pre-commit", "src/../.git/hooks/x", ".agents/config.json",
        ".agents/Config.TOML", ".agents/hooks/x.sh", "src/.agents/mcp.json", "src/deep/.git/hooks/x", "inside/.agents/tools/t.toml",
        "src/self/../.agents/guardrails.toml", "up/project/.git/config", "root/{bare}/.git/config",
    ],
)  # fmt: skip
def test_control_files_are_found_behind_every_spelling(fixed: Path, name: str) -> None:
    assert _verdict(fixed, "write_file", _spelled(fixed, name), "yolo") == ("ask", "control-plane")


@pytest.mark.parametrize(
    "name", [".env", "secret", "src/../.env", "up/project/.env", ".ENV", "src/.env.local", "src/id_rsa"]
)
def test_secrets_are_found_behind_every_spelling(fixed: Path, name: str) -> None:
    assert _verdict(fixed, "read_file", name) == ("ask", "secret-path")


@pytest.mark.parametrize("tool", ["read_file", "write_file", "delete_file"])
@pytest.mark.parametrize("swap", ["file", "parent", "new"])
async def test_a_link_that_is_put_there_between_judging_and_running_is_not_followed(
    place: Path, tool: str, swap: str
) -> None:
    root, out = place / "project", place / "outside"
    (root / "p").mkdir()
    (root / "p" / "c.txt").write_text("inside")
    name = "p/late.txt" if swap == "new" else "p/c.txt"
    space = Workspace(root)
    made = next(each for each in builtin(space) if each.spec.name == tool)
    args = made.arguments(path=name, content="y") if tool == "write_file" else made.arguments(path=name)
    made.touches(args)
    if swap == "parent":
        (root / "p").rename(root / "q")
        (root / "p").symlink_to(out)
    else:
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(out / "c.txt")
    if tool == "delete_file" and swap != "parent":
        await made.run(args, lambda _: None)
        assert not (root / name).is_symlink(), "the link itself is what goes"
    else:
        with pytest.raises(ToolError, match="leads to another file"):
            await made.run(args, lambda _: None)
    assert (out / "c.txt").read_text() == "x"
    assert sorted(each.name for each in out.iterdir()) == ["c.txt", "dir", "into"]


def test_a_write_goes_through_no_link_even_if_it_was_put_there_after_every_look(place: Path) -> None:
    root, out = place / "project", place / "outside"
    before = sorted(each.name for each in out.iterdir())
    (root / "q").symlink_to(out)
    for path in ("q/new.txt", "q/deep/er/new.txt", "q/c.txt"):
        with pytest.raises(OSError, match="q"):
            replace(str(root / path), b"y")
    assert sorted(each.name for each in out.iterdir()) == before
    assert (out / "c.txt").read_text() == "x"
    replace(str(root / "made" / "deep" / "new.txt"), b"y")
    assert (root / "made" / "deep" / "new.txt").read_bytes() == b"y"


PATCH = "*** Begin Patch\n*** Update File: p/c.txt\n@@\n-inside\n+y\n*** End Patch"
OTHERS: dict[str, dict[str, object]] = {
    "edit_file": {"path": "p/c.txt", "edits": [{"old": "inside", "new": "y"}]},
    "apply_patch": {"patch": PATCH},
    "read_many_files": {"paths": ["p/c.txt"]},
    "json_query": {"path": "p/c.txt", "query": "@"},
    "stat": {"path": "p/c.txt"},
    "grep": {"pattern": ".", "path": "p"},
    "list_dir": {"path": "p"},
    "glob": {"pattern": "**/*", "path": "p"},
}


@pytest.mark.parametrize("tool", OTHERS)
@pytest.mark.parametrize("swap", ["file", "parent"])
async def test_no_tool_follows_a_link_that_was_not_there_when_it_was_judged(
    place: Path, tool: str, swap: str
) -> None:
    root, out = place / "project", place / "outside"
    (root / "p").mkdir()
    (root / "p" / "c.txt").write_text("inside\n")
    (out / "c.txt").write_text("secret\n")
    tools = {each.spec.name: each for each in builtin(Workspace(root))}
    made, read = tools[tool], tools["read_file"]
    await read.run(read.arguments(path="p/c.txt"), lambda _: None)
    args = wire.arguments(made.arguments, OTHERS[tool])
    made.touches(args)
    if swap == "parent":
        (root / "p").rename(root / "q")
        (root / "p").symlink_to(out)
    else:
        (root / "p" / "c.txt").unlink()
        (root / "p" / "c.txt").symlink_to(out / "c.txt")
    try:
        told = as_text(await made.run(args, lambda _: None))
    except ToolError as refused:
        told = str(refused)
    assert "secret" not in told
    assert "d.txt" not in told, "what lies in the directory outside is not listed either"
    assert (out / "c.txt").read_text() == "secret\n"
    assert sorted(each.name for each in out.iterdir()) == ["c.txt", "dir", "into"]


async def test_writing_breaks_a_hard_link_or_leaves_its_other_end_alone(place: Path) -> None:
    """Nothing of a hard link shows that a file also has a name elsewhere."""
    root, out = place / "project", place / "outside"
    os.link(out / "c.txt", root / "hard.txt")
    space = Workspace(root)
    tools = {each.spec.name: each for each in builtin(space)}
    read, write = tools["read_file"], tools["write_file"]
    await read.run(read.arguments(path="hard.txt"), lambda _: None)
    await write.run(write.arguments(path="hard.txt", content="changed"), lambda _: None)
    assert (root / "hard.txt").read_text().strip() == "changed"
    assert (out / "c.txt").read_text() == "x"


@pytest.mark.parametrize(
    "word",
    ["priv*/f.txt", "p?ivate/f.txt", "[p]rivate/*", "{private,src}/f.txt", "$PWD/private/f.txt", "${PWD}/priv*", "pri{x,v{a,b}te}/f.txt"],
)  # fmt: skip
def test_what_a_shell_would_make_of_a_word_is_looked_at_too(place: Path, word: str) -> None:
    root = place / "project"
    (root / "private").mkdir()
    (root / "private" / "f.txt").write_text("x")
    touched = {use.path for use in paths_of(f"cat {word}", str(root)).uses}
    assert touched & {str(root / "private"), str(root / "private" / "f.txt")}
    assert str(root / "private") not in {use.path for use in paths_of("wc -l *", str(root)).uses}
    quoted = {use.path for use in paths_of("grep 'a[b' {}", str(root)).uses}
    assert quoted == set()


@pytest.mark.parametrize(
    "line",
    ["sh -c 'cat private/f.txt'", "cd src; sudo bash -lc 'cd ../private && cat f.txt'", "eval 'cat <private/f.txt'",
     "find . -exec sh -c 'cat private/f.txt' \\;", "sh -c \"bash -c 'cat private/f.txt'\""],
)  # fmt: skip
def test_lines_within_a_line_are_looked_at_like_it(place: Path, line: str) -> None:
    root = place / "project"
    (root / "private").mkdir()
    (root / "private" / "f.txt").write_text("x")
    assert str(root / "private" / "f.txt") in {use.path for use in paths_of(line, str(root)).uses}
