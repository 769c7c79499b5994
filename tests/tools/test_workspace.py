"""Where a path of the model leads, and what is refused when it leads elsewhere by the time of the call."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.permissions.book import judge
from agent_cli.ports import Facts, Proposal
from agent_cli.tools.workspace import Unresolved, Workspace, resolved
from tests.tools.bench import Bench


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """`tmp/project` with links of every kind, and `tmp/outside`."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "dir" / "deep").mkdir(parents=True)
    (outside / "sub").mkdir(parents=True)
    for place in (
        project / "a.txt",
        project / "sp ace",
        project / "ümläut",
        project / "dir" / "b.txt",
        outside / "f",
    ):
        place.write_text("x")
    links = {
        "link": "a.txt", "dirlink": "dir", "out": "../outside", "outfile": "../outside/f", "dangling": "nowhere",
        "danglingout": "../outside/new", "loop": "loop", "ping": "pong", "pong": "ping", "abs": str(outside), "one": "two",
        "two": "three", "three": "a.txt", "dir/up": "..", "dir/upup": "../..", "dir/self": ".", "slashed": "dir/",
        "through": "dirlink/b.txt", "outdeep": "out/sub", "loopdir": "loopdir/x", "dir/out": str(outside / "sub"),
    }  # fmt: skip
    for name, target in links.items():
        (project / name).symlink_to(target)
    return tmp_path


PATHS: dict[str, str | None] = {
    "a.txt": "project/a.txt",
    "./a.txt": "project/a.txt",
    "././dir//b.txt": "project/dir/b.txt",
    "dir/../a.txt": "project/a.txt",
    "dir/": "project/dir",
    ".": "project",
    "": "project",
    "..": "",
    "../outside/f": "outside/f",
    "../project/a.txt": "project/a.txt",
    "../../../../../../../../../../../..": "/",
    "/etc/hosts": "/etc/hosts",
    "//etc//hosts": "/etc/hosts",
    "link": "project/a.txt",
    "dirlink/b.txt": "project/dir/b.txt",
    "dirlink/new.txt": "project/dir/new.txt",
    "dirlink/..": "project",
    "out": "outside",
    "out/f": "outside/f",
    "out/new": "outside/new",
    "out/new/deeper": "outside/new/deeper",
    "out/..": "",
    "out/../project/a.txt": "project/a.txt",
    "outfile": "outside/f",
    "outdeep/x": "outside/sub/x",
    "dir/out/x": "outside/sub/x",
    "abs/f": "outside/f",
    "dangling": "project/nowhere",
    "danglingout": "outside/new",
    "danglingout/x": "outside/new/x",
    "one": "project/a.txt",
    "dir/up/a.txt": "project/a.txt",
    "dir/upup/outside/f": "outside/f",
    "dir/self/self/self/b.txt": "project/dir/b.txt",
    "slashed/b.txt": "project/dir/b.txt",
    "through": "project/dir/b.txt",
    "new/dirs/file": "project/new/dirs/file",
    "new/../a.txt": "project/a.txt",
    "new/../../outside/f": "outside/f",
    "a.txt/below": "project/a.txt/below",
    "sp ace": "project/sp ace",
    "ümläut": "project/ümläut",
    "a*b?[c]": "project/a*b?[c]",
    "~notauser": None,
    "loop": None,
    "loop/x": None,
    "ping": None,
    "dir/../ping/..": None,
    "loopdir": None,
    "nul\0": None,
    "x" * 300: None,
}


@pytest.mark.parametrize("path", PATHS)
def test_where_a_path_leads(tree: Path, path: str) -> None:
    expected = PATHS[path]
    if expected is None:
        with pytest.raises(Unresolved):
            resolved(path, str(tree / "project"))
    else:
        assert resolved(path, str(tree / "project")) == str(tree / expected).rstrip("/") or expected == "/"


def test_home_is_expanded(own_home: Path) -> None:
    assert resolved("~", "/") == os.path.realpath(own_home)
    assert resolved("~/x/y", "/tmp") == f"{os.path.realpath(own_home)}/x/y"


NAMES = ("a.txt", "dir", "deep", "link", "dirlink", "out", "f", "sub", "dangling", "danglingout", "one", "up", "upup", "self", "..", ".", "missing", "abs")  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=7))
def test_a_path_leads_where_the_system_says(tree: Path, names: list[str]) -> None:
    path = "/".join(names)
    assert resolved(path, str(tree / "project")) == os.path.realpath(tree / "project" / path)


SCOPED = (
    ("read_file", "a.txt", "allow"),
    ("read_file", "dir/b.txt", "allow"),
    ("read_file", "link", "allow"),
    ("read_file", "dirlink/b.txt", "allow"),
    ("read_file", "out/../project/a.txt", "allow"),
    ("read_file", "outfile", "ask"),
    ("read_file", "out/f", "ask"),
    ("read_file", "../outside/f", "ask"),
    ("read_file", "dir/upup/outside/f", "ask"),
    ("read_file", "loop", "ask"),
    ("read_file", "/etc/hosts", "ask"),
    ("list_dir", "out", "ask"),
    ("write_file", "new/file", "allow"),
    ("write_file", "dangling", "allow"),
    ("write_file", "danglingout", "ask"),
    ("write_file", "out/new", "ask"),
    ("write_file", "loop/x", "ask"),
)


@pytest.mark.parametrize(("tool", "path", "verdict"), SCOPED)
def test_the_gate_sees_where_a_path_leads(tree: Path, tool: str, path: str, verdict: str) -> None:
    bench = Bench(tree / "project")
    given = {"path": path, "content": "x"} if tool == "write_file" else {"path": path}
    facts = Facts("acceptEdits", True, ((str(tree / "project"), "rw"),))
    touches = bench.touches(tool, **given)
    assert judge(Proposal(tool, bench.tools[tool].read_only, touches), facts).verdict == verdict


LINES = (
    ("cat a.txt", "allow"),
    ("cat dir/b.txt | head", "allow"),
    ("cat outfile", "ask"),
    ("cat out/f", "ask"),
    ("cat ../outside/f", "ask"),
    ("cat link", "allow"),
    ("cd dir && cat b.txt", "allow"),
    ("cd dir && cat up/a.txt", "allow"),
    ("cd out && cat f", "ask"),
    ("cd dir && cat ../../outside/f", "ask"),
    ("cd dir; cat ../outside/f", "ask"),
    ("ls ~", "ask"),
    ("cd", "ask"),
    ("grep -n x a.txt", "allow"),
    ("grep --file=../outside/f x", "ask"),
    ("cat loop", "ask"),
    ("git diff --stat", "allow"),
    ("git show HEAD:../outside/f", "ask"),
    ("head -n 5 /etc/hosts", "ask"),
    ("ls 2>/dev/null", "allow"),
    ("grep -n /users a.txt", "allow"),
    ("grep -n '/api/v1/users' a.txt", "allow"),
    ("git log --grep 'a/b: " + "long " * 80 + "'", "allow"),
    ("cat /etc/absent", "ask"),
    ("git show HEAD~3:old/.env", "ask"),
    ("git show HEAD~3:old/a.py", "allow"),
    ("cat .env", "ask"),
    ("cat dir/../.env", "ask"),
    ("git diff -- .env", "ask"),
)


@pytest.mark.parametrize(("line", "verdict"), LINES)
def test_reading_by_shell_stays_in_the_scope(tree: Path, line: str, verdict: str) -> None:
    (tree / "project" / ".env").write_text("KEY=1")
    bench = Bench(tree / "project")
    facts = Facts("ask", True, ((str(tree / "project"), "rw"),))
    assert judge(Proposal("bash", False, bench.touches("bash", command=line)), facts).verdict == verdict


def test_what_a_shell_line_writes_is_seen(tree: Path) -> None:
    bench = Bench(tree / "project")

    def writes(line: str) -> set[str]:
        uses = bench.touches("bash", command=line).paths
        return {os.path.relpath(use.path, tree) for use in uses if use.access == "w"}

    assert writes("echo x > dir/new") == {"project/dir/new"}
    assert writes("echo x >> out/new") == {"outside/new"}
    assert writes("rm -r dir") == {"project/dir"}
    assert writes("sudo rm dir/b.txt") >= {"project/dir/b.txt"}
    assert writes("sed -i s/x/y/ a.txt") == {"project/a.txt", "project/s/x/y"}
    assert writes("cat a.txt") == set()
    assert writes("git config core.hooksPath x") == {"project/.git/config"}
    assert writes("git config --get user.name") == set()
    assert bench.touches("bash", command="cat loop/x").unresolved
    assert bench.touches("bash", command=" ".join(f"./x{n}" for n in range(600))).unresolved


async def test_a_link_that_changes_between_judging_and_writing_is_refused(tree: Path) -> None:
    bench = Bench(tree / "project")
    tool, args = bench.tools["write_file"], bench.args("write_file", path="dir/new.txt", content="x")
    assert tool.touches(args).paths[0].path == str(tree / "project/dir/new.txt")
    (tree / "project" / "dir").rename(tree / "project" / "was")
    (tree / "project" / "dir").symlink_to(tree / "outside")
    with pytest.raises(Exception, match="symbolic link changed"):
        await tool.run(args, bench.said.append)
    assert sorted(path.name for path in (tree / "outside").iterdir()) == ["f", "sub"]


async def test_a_call_goes_where_it_was_judged_also_after_cd(tree: Path) -> None:
    bench = Bench(tree / "project")
    tool, args = bench.tools["read_file"], bench.args("read_file", path="a.txt")
    tool.touches(args)
    await bench.call("bash", command="cd dir")
    assert (await tool.run(args, bench.said.append)).ok
    assert "no file dir/a.txt" in await bench.refused("read_file", path="a.txt")


@pytest.mark.parametrize(
    ("line", "said"),
    (
        ("cat out", "/outside"),
        ("echo x > config", "would touch dir/config"),
        ("cat .env", "would touch dir/.env"),
    ),
)
async def test_a_shell_line_that_touches_other_files_by_now_is_refused(
    tree: Path, line: str, said: str
) -> None:
    (tree / "project/dir/.env").write_text("KEY=1")
    bench = Bench(tree / "project")
    tool, args = bench.tools["bash"], bench.args("bash", command=line)
    (tree / "project/out").unlink()
    tool.touches(args)
    await bench.call("bash", command="cd dir")
    with pytest.raises(Exception, match="call again") as caught:
        await tool.run(args, bench.said.append)
    assert said in str(caught.value)
    assert not (tree / "project/dir/config").exists()


async def test_a_shell_line_may_move_inside_the_project(tree: Path) -> None:
    bench = Bench(tree / "project")
    tool, args = bench.tools["bash"], bench.args("bash", command="cat b.txt")
    tool.touches(args)
    await bench.call("bash", command="cd dir")
    assert (await tool.run(args, bench.said.append)).ok


def test_moving_stays_inside(tree: Path) -> None:
    workspace = Workspace(tree / "project")
    assert workspace.move(str(tree / "project/dirlink"))
    assert workspace.cwd == str(tree / "project/dir")
    for place in ("project/out", "outside", "", "project/a.txt", "project/missing", "project2"):
        assert not workspace.move(str(tree / place))
    assert workspace.shown(str(tree / "project/dir/b.txt")) == "dir/b.txt"
    assert workspace.shown(str(tree / "project")) == "."
    assert workspace.shown(str(tree / "projects")) == str(tree / "projects")


@pytest.mark.parametrize(
    ("asked", "meant"),
    (
        ("src/mian.py", "src/main.py"),
        ("main.py", "src/main.py"),
        ("Src/Main.py", "src/main.py"),
        ("lib/main.py", "src/main.py"),
    ),
)
async def test_a_missing_file_names_the_nearest(bench: Bench, asked: str, meant: str) -> None:
    bench.put("src/main.py", "x")
    assert f"Did you mean {meant}" in await bench.refused("read_file", path=asked)


def test_closed_paths_are_asked_of_the_caller(tmp_path: Path) -> None:
    closed: Callable[[str], bool] = lambda path: path.endswith(".sql")  # noqa: E731  one line is the whole rule
    assert Workspace(tmp_path, closed=closed).closed("/x/a.sql")
    assert not Workspace(tmp_path).closed("/x/a.sql")
