"""list_dir, glob and grep: what git ignores, what is left out, and that nothing stops silently. Both search engines."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_cli.tools import glob, list_dir, ripgrep
from tests.tools.bench import Bench


@pytest.fixture(params=("ripgrep", "python"))
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "python":
        monkeypatch.setattr(ripgrep, "ripgrep", lambda: None)
    else:
        assert ripgrep.ripgrep() is not None
    yield request.param


@pytest.fixture
def project(bench: Bench) -> Bench:
    files = {
        ".gitignore": "build/\n*.log\n!keep.log\n/top.txt\n",
        "src/a.py": "import os\nneedle = 1\nx = 2\ny = 3\nNeedle = 4\n",
        "src/b.ts": "const needle = 1;\n",
        "src/deep/c.py": "def f():\n    return needle\n",
        "src/.gitignore": "generated.py\n",
        "src/generated.py": "needle\n",
        ".github/ci.yml": "needle: 1\n",
        ".git/config": "needle\n",
        "build/out.txt": "needle\n",
        "a.log": "needle\n",
        "keep.log": "needle\n",
        "top.txt": "needle\n",
        "src/top.txt": "needle\n",
        ".env": "KEY=needle\n",
        "keys/server.pem": "needle\n",
        "crlf.txt": "one\r\nneedle\r\n",
        "data.bin": b"needle\0needle\n",
    }
    for name, content in files.items():
        bench.put(name, content)
    return bench


# ── list_dir ──


async def test_a_listing_is_sorted_and_counts_what_git_ignores(project: Bench) -> None:
    assert (await project.text("list_dir")).split("\n") == [
        ".github/", "keys/", "src/", ".env  11", ".gitignore  32", "crlf.txt  13", "data.bin  14", "keep.log  7",
        "[4 ignored by git: .git/, build/, a.log, top.txt]",
    ]  # fmt: skip
    assert "generated.py" in (await project.text("list_dir", path="src")).rpartition("[1 ignored by git: ")[2]
    assert (await project.text("list_dir", path="build")) == "out.txt  7"


async def test_a_long_listing_says_what_it_left_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_dir, "MOST", 20)
    for number in range(32):
        bench.put(f"{number:04}.txt", "")
    lines = (await bench.text("list_dir")).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "[12 of 32 entries are not shown]"


async def test_long_names_are_bounded_too(bench: Bench) -> None:
    for number in range(200):
        bench.put(f"{number:04}{'x' * 200}.txt", "")
    text = await bench.text("list_dir")
    assert len(text) < 28_200
    assert "of 200 entries are not shown]" in text


async def test_what_is_no_directory_is_named(project: Bench) -> None:
    assert "is a file, not a directory" in await project.refused("list_dir", path="src/a.py")
    assert "Did you mean src" in await project.refused("list_dir", path="srcs")
    (project.root / "empty").mkdir()
    assert await project.text("list_dir", path="empty") == "[the directory is empty]"
    (project.root / "empty/link").symlink_to("../src")
    assert await project.text("list_dir", path="empty") == "link -> ../src"


# ── glob ──


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    (
        ("*.py", ".", ["src/a.py", "src/deep/c.py"]),
        ("**/*.py", ".", ["src/a.py", "src/deep/c.py"]),
        ("src/*.py", ".", ["src/a.py"]),
        ("*.py", "src/deep", ["src/deep/c.py"]),
        ("src/**/*.{py,ts}", ".", ["src/a.py", "src/b.ts", "src/deep/c.py"]),
        ("src/**", ".", ["src/.gitignore", "src/a.py", "src/b.ts", "src/deep/c.py", "src/top.txt"]),
        ("**/top.txt", ".", ["src/top.txt"]),
        ("*.log", ".", ["keep.log"]),
        ("ci.yml", ".", [".github/ci.yml"]),
        ("[ab].*", ".", ["src/a.py", "src/b.ts"]),
        ("?.ts", ".", ["src/b.ts"]),
        ("*.txt", "build", ["build/out.txt"]),
        ("./src/*.ts", ".", ["src/b.ts"]),
        ("src/deep/", ".", ["src/deep/c.py"]),
    ),
)
@pytest.mark.usefixtures("engine")
async def test_files_by_name(project: Bench, pattern: str, path: str, found: list[str]) -> None:
    assert (await project.text("glob", pattern=pattern, path=path)).split("\n") == found


@pytest.mark.usefixtures("engine")
async def test_no_file_is_a_result(project: Bench) -> None:
    output = await project.call("glob", pattern="*.rs")
    assert output.ok
    assert await project.text("glob", pattern="*.rs") == "[no file matches '*.rs' in .]"


async def test_a_pattern_cannot_leave_its_directory(project: Bench) -> None:
    for pattern in ("../*", "/etc/*", "~/x", "src/../../x"):
        assert "leads out of" in await project.refused("glob", pattern=pattern)
    absolute = f"{project.root}/src/*.py"
    assert await project.text("glob", pattern=absolute) == "src/a.py"
    assert "There is no file missing" in await project.refused("glob", pattern="*", path="missing")


@pytest.mark.usefixtures("engine")
async def test_many_files_are_bounded_and_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob, "MOST", 20)
    for number in range(30):
        bench.put(f"{number:04}.txt", "")
    lines = (await bench.text("glob", pattern="*.txt")).split("\n")
    assert lines[0] == "0000.txt"
    assert lines[-1] == "[10 of 30 files are not shown; narrow the pattern]"


# ── grep ──

GREPS: tuple[tuple[dict[str, Any], str], ...] = (
    (
        {"pattern": "needle", "path": "src"},
        "src/a.py\n2:needle = 1\n\nsrc/b.ts\n1:const needle = 1;\n\nsrc/deep/c.py\n2:    return needle\n\nsrc/top.txt\n1:needle",
    ),
    ({"pattern": "needle", "include": "*.ts"}, "src/b.ts\n1:const needle = 1;"),
    (
        {"pattern": "needle", "include": "*.{ts,yml}"},
        ".github/ci.yml\n1:needle: 1\n\nsrc/b.ts\n1:const needle = 1;",
    ),
    (
        {"pattern": "needle", "include": "src/**/*.py"},
        "src/a.py\n2:needle = 1\n\nsrc/deep/c.py\n2:    return needle",
    ),
    ({"pattern": "needle", "include": "src/*.py"}, "src/a.py\n2:needle = 1"),
    ({"pattern": "needle", "include": "*.log"}, "keep.log\n1:needle"),
    ({"pattern": "NEEDLE", "path": "src/a.py", "case": "ignore"}, "src/a.py\n2:needle = 1\n5:Needle = 4"),
    ({"pattern": "needle", "path": "src/a.py", "case": "smart"}, "src/a.py\n2:needle = 1\n5:Needle = 4"),
    ({"pattern": "Needle", "path": "src/a.py", "case": "smart"}, "src/a.py\n5:Needle = 4"),
    ({"pattern": "x = 2", "path": "src/a.py", "context": 1}, "src/a.py\n2-needle = 1\n3:x = 2\n4-y = 3"),
    (
        {"pattern": "import|Needle", "path": "src/a.py", "context": 1},
        "src/a.py\n1:import os\n2-needle = 1\n--\n4-y = 3\n5:Needle = 4",
    ),
    ({"pattern": "needle", "path": "src", "mode": "files"}, "src/a.py\nsrc/b.ts\nsrc/deep/c.py\nsrc/top.txt"),
    (
        {"pattern": "(?i)needle", "path": "src", "mode": "count"},
        "src/a.py:2\nsrc/b.ts:1\nsrc/deep/c.py:1\nsrc/top.txt:1",
    ),
    ({"pattern": "needle", "path": "crlf.txt"}, "crlf.txt\n2:needle"),
    ({"pattern": "needle", "path": "build"}, "build/out.txt\n1:needle"),
    ({"pattern": "needle", "path": ".env"}, ".env\n1:KEY=needle"),
    ({"pattern": "needle", "path": "top.txt"}, "top.txt\n1:needle"),
    ({"pattern": "absent"}, "[no match for 'absent' in .]"),
    ({"pattern": "absent", "include": "*.py", "path": "src"}, "[no match for 'absent' in src (files *.py)]"),
    ({"pattern": "needle", "include": "*.rs"}, "[no match for 'needle' in . (files *.rs)]"),
)


@pytest.mark.parametrize(("given", "found"), GREPS)
@pytest.mark.usefixtures("engine")
async def test_contents(project: Bench, given: dict[str, Any], found: str) -> None:
    output = await project.call("grep", **given)
    assert output.ok
    assert await project.text("grep", **given) == found


@pytest.mark.usefixtures("engine")
async def test_secrets_and_closed_files_are_left_out_and_counted(project: Bench) -> None:
    text = await project.text("grep", pattern="needle", mode="files")
    assert text.endswith(
        "\n[2 files were left out: a rule closes them, or they look as if they hold secrets]"
    )
    assert ".env" not in text
    assert ".git/config" not in text
    project.workspace.closed = lambda path: path.endswith(".ts")
    assert "b.ts" not in await project.text("grep", pattern="needle", path="src")
    assert "[1 file was left out" in await project.text("grep", pattern="needle", path="src")
    assert "b.ts" not in await project.text("glob", pattern="*.ts")
    assert "b.ts" not in await project.text("list_dir", path="src")


@pytest.mark.usefixtures("engine")
async def test_a_search_is_bounded_and_says_how_much_there_was(bench: Bench) -> None:
    for number in range(10):
        bench.put(f"{number}.txt", "needle in a line of some length\n" * 1_000)
    text = await bench.text("grep", pattern="needle")
    assert len(text.encode()) <= 28_000
    assert " of 10,000 matches in 10 files shown; narrow the pattern or the path]" in text
    shown = int(text.rpartition("[")[2].partition(" of ")[0].replace(",", ""))
    assert shown == text.count(":needle")


@pytest.mark.usefixtures("engine")
async def test_long_lines_are_cut(bench: Bench) -> None:
    bench.put("a.txt", "needle " + "x" * 100_000 + "\n" + "y" * 2_000_000 + "\nneedle\n")
    text = await bench.text("grep", pattern="needle")
    assert len(text) < 1_200
    assert text.startswith("a.txt\n1:needle xxx")
    assert " […]\n3:needle" in text


@pytest.mark.usefixtures("engine")
async def test_a_wrong_pattern_says_what_is_wrong(project: Bench) -> None:
    told = await project.refused("grep", pattern="f(")
    assert "regular expression" in told or "regex" in told
    assert "empty" in await project.refused("grep", pattern="")
    assert "Did you mean src" in await project.refused("grep", pattern="x", path="srcs")


async def test_ripgrep_extras(project: Bench) -> None:
    project.put("src/two.py", "one\ntwo\n")
    assert await project.text("grep", pattern=r"one\ntwo", path="src") == "src/two.py\n1:one\n2:two"
    assert "2:two" in await project.text("grep", pattern=r"(?<=t)wo", path="src/two.py")


async def test_ripgrep_takes_no_config_of_the_user(
    project: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "rg.conf"
    config.write_text("--files-with-matches\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    assert await project.text("grep", pattern="Needle", path="src") == "src/a.py\n5:Needle = 4"


async def test_a_search_that_takes_too_long_says_so(project: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = project.put("slow", "#!/bin/sh\nprintf 'src/a.py\\0002:needle\\n'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(ripgrep, "ripgrep", lambda: str(slow))
    monkeypatch.setattr(ripgrep, "SECONDS", 0.3)
    text = await project.text("grep", pattern="needle")
    assert "2:needle" in text
    assert "[stopped after 0.3 s, more may match: narrow the path]" in text


async def test_a_search_engine_that_does_not_start_is_named(
    project: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "ripgrep", lambda: str(project.root / "absent"))
    assert "Cannot start" in await project.refused("grep", pattern="needle")
    assert "Cannot start" in await project.refused("glob", pattern="*")


def test_both_engines_agree_with_git_about_what_is_ignored(project: Bench) -> None:
    from agent_cli.tools.ignore import Ignored, walk

    subprocess.run(["git", "init", "-q", str(project.root)], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    walked = [
        os.path.relpath(path, project.root) for path in walk(str(project.root), Ignored(str(project.root)))
    ]
    assert sorted(walked) == sorted(listed)
