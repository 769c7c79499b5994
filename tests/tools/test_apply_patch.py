"""Patches of several files: both formats, every kind of change, all or nothing."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import FileDiff
from agent_cli.tools import staging
from agent_cli.tools.patch import sections_of
from agent_cli.tools.patching import patched
from agent_cli.tools.text import Endings
from tests.tools.bench import Bench


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


ALL_KINDS = patch(
    "*** Update File: src/a.py", "@@ def two():", "-    return 2", "+    return 22",
    "*** Update File: src/b.py", "*** Move to: lib/deep/c.py", " one", "-two", "+TWO",
    "*** Add File: new/d.txt", "+hello", "+", "+world",
    "*** Delete File: gone.txt",
)  # fmt: skip


def put_all_kinds(bench: Bench) -> None:
    bench.put("src/a.py", "def one():\n    return 2\n\ndef two():\n    return 2\n")
    bench.put("src/b.py", "one\ntwo\nthree\n")
    bench.put("gone.txt", "bye\n")


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


async def test_every_kind_of_change_in_one_step(bench: Bench) -> None:
    put_all_kinds(bench)
    bench.root.joinpath("src/b.py").chmod(0o755)
    output = await bench.call("apply_patch", patch=ALL_KINDS)
    assert tree(bench.root) == {
        "lib/deep/c.py": b"one\nTWO\nthree\n",
        "new/d.txt": b"hello\n\nworld\n",
        "src/a.py": b"def one():\n    return 2\n\ndef two():\n    return 22\n",
    }
    assert stat.S_IMODE(bench.root.joinpath("lib/deep/c.py").stat().st_mode) == 0o755
    assert isinstance(output.for_human, FileDiff)
    assert (output.for_human.added, output.for_human.removed) == (5, 3)
    names = {path.removeprefix(f"{bench.root}/") for path in output.changed}
    assert names == {"src/a.py", "src/b.py", "lib/deep/c.py", "new/d.txt", "gone.txt"}
    told = str(output.for_model)
    assert "moved src/b.py to lib/deep/c.py" in told
    assert "created new/d.txt (+3 -0)" in told


async def test_rules_see_every_file(bench: Bench) -> None:
    put_all_kinds(bench)
    touched = bench.touches("apply_patch", patch=ALL_KINDS)
    assert {(use.path.removeprefix(f"{bench.root}/"), use.access) for use in touched.paths} == {
        (name, "w") for name in ("src/a.py", "src/b.py", "lib/deep/c.py", "new/d.txt", "gone.txt")
    }
    preview = bench.tools["apply_patch"].preview(bench.args("apply_patch", patch=ALL_KINDS))
    assert isinstance(preview, FileDiff)
    assert "+    return 22" in preview.diff
    assert "new/d.txt" not in tree(bench.root)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("*** Update File: src/b.py", "-nothing like it", "+x"), "its lines are not in the file"),
        (("*** Update File: src/none.py", "-a", "+b"), "There is no file src/none.py"),
        (("*** Add File: src/a.py", "+other"), "exists already"),
        (("*** Delete File: src/none.py",), "There is no file"),
        (("*** Update File: src/b.py", "*** Move to: src/a.py", "-two", "+2"), "exists already"),
        (("*** Update File: src/a.py", "-    return 2", "+    return 3"), "stand 2 times, at lines 2, 5"),
        (("*** Update File: src/b.py", "@@ def none():", "-two", "+2"), "there is no line 'def none"),
        (("*** Update File: src/b.py", "-three", "+3", "@@", "-one", "+1"), "from top to bottom"),
        (("*** Add File: new/d.txt/e.txt", "+x"), "touched|Cannot write|is a file"),
    ],
)
async def test_one_section_that_fails_leaves_everything_as_it_was(
    bench: Bench, lines: tuple[str, ...], told: str
) -> None:
    put_all_kinds(bench)
    before = tree(bench.root)
    whole = patch("*** Add File: new/d.txt", "+x", "*** Update File: gone.txt", "-bye", "+hi", *lines)
    assert re.search(told, await bench.refused("apply_patch", patch=whole))
    assert tree(bench.root) == before
    assert not bench.root.joinpath("new").exists()


@pytest.mark.parametrize("failing", range(5))
async def test_a_disk_that_fails_in_the_middle_is_rolled_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    put_all_kinds(bench)
    os.link(bench.root / "gone.txt", bench.root / "second-name.txt")
    bench.root.joinpath("src/a.py").chmod(0o751)
    before = tree(bench.root)
    calls: list[object] = []
    real = staging._carry_out

    def fails(step: staging._Step) -> None:
        if len(calls) == failing:
            raise OSError(28, "No space left on device", str(step.path))
        calls.append(step)
        real(step)

    monkeypatch.setattr(staging, "_carry_out", fails)
    told = await bench.refused("apply_patch", patch=ALL_KINDS)
    assert "no space is left" in told
    assert "Every file is as it was before" in told
    assert tree(bench.root) == before
    assert stat.S_IMODE(bench.root.joinpath("src/a.py").stat().st_mode) == 0o751
    assert not bench.root.joinpath("lib").exists()


async def test_line_endings_encoding_and_the_missing_last_newline_stay(bench: Bench) -> None:
    path = bench.put("a.txt", "\ufeffé one\r\ntwo\nthree\r\nfour".encode("utf-16-le"))
    await bench.call(
        "apply_patch", patch=patch("*** Update File: a.txt", " two", "-three", "+3", "+3b", " four")
    )
    assert path.read_bytes() == "\ufeffé one\r\ntwo\n3\r\n3b\r\nfour".encode("utf-16-le")


async def test_the_end_of_a_file_and_pure_insertions(bench: Bench) -> None:
    path = bench.put("a.txt", "x\nb\nx\n")
    await bench.call("apply_patch", patch=patch("*** Update File: a.txt", "-x", "+y", "*** End of File"))
    assert path.read_text() == "x\nb\ny\n"
    await bench.call(
        "apply_patch", patch=patch("*** Update File: a.txt", "@@ x", "+after x", "@@", "+at the end")
    )
    assert path.read_text() == "x\nafter x\nb\ny\nat the end\n"


async def test_a_file_that_changed_since_it_was_read_is_refused(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n")
    await bench.call("read_file", path="a.txt")
    path.write_text("one\nmore\n")
    told = await bench.refused("apply_patch", patch=patch("*** Update File: a.txt", "-one", "+1"))
    assert "changed on disk" in told
    await bench.call("read_file", path="a.txt")
    await bench.call("apply_patch", patch=patch("*** Update File: a.txt", "-one", "+1"))
    await bench.call("edit_file", path="a.txt", edits=[{"old": "1", "new": "2"}])
    assert path.read_text() == "2\nmore\n"


async def test_a_patch_that_is_already_applied_says_so(bench: Bench) -> None:
    bench.put("a.txt", "new line\n")
    told = await bench.refused("apply_patch", patch=patch("*** Update File: a.txt", "-old line", "+new line"))
    assert "already stand at line 1" in told
    again = await bench.call("apply_patch", patch=patch("*** Add File: a.txt", "+new line"))
    assert again.no_op


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no section"),
        ("hello", "holds no section"),
        (patch("*** Update File: a", "x"), "begins with none of"),
        (patch("*** Add File: a", "x"), "each begins with +"),
        (patch("*** Delete File: a", "*** Delete File: a"), "a has two sections"),
        (patch("*** Rename File: a", "*** Delete File: b"), "belongs to no section"),
    ],
)
async def test_what_cannot_be_read_is_named(bench: Bench, text: str, told: str) -> None:
    with pytest.raises(ToolError, match=told.replace("+", r"\+")):
        bench.touches("apply_patch", patch=text)


async def test_what_models_put_around_a_patch_is_passed_over(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n\ntwo\n")
    wrapped = "Here it is:\n```\n" + patch("*** Update File: a.txt", " one", "", "-two", "+2", "") + "\n```\n"
    await bench.call("apply_patch", patch=wrapped)
    assert path.read_text() == "one\n\n2\n"


# ── unified diffs ──

git = shutil.which("git")


@pytest.mark.skipif(git is None, reason="needs git")
async def test_a_diff_of_git_with_every_kind_of_change(bench: Bench, tmp_path: Path) -> None:
    """What git says of a change gives that change, bytes included."""
    root = bench.root

    def run(*words: str) -> str:
        config = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false")
        done = subprocess.run(["git", *config, *words], cwd=root, capture_output=True, check=True, text=True)
        return done.stdout

    body = [f"line {n}" for n in range(60)]
    bench.put("a.txt", "\n".join(body) + "\n")
    bench.put("sql.sql", "-- one\n-- two\nselect 1;\n-- three\n")
    bench.put("open.txt", "no end\nof line")
    bench.put("moved.txt", "\n".join(body) + "\n")
    bench.put("gone.txt", "bye\n")
    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "one")
    body[5], body[40] = "FIVE", "FORTY"
    bench.put("a.txt", "\n".join(body) + "\n")
    bench.put("sql.sql", "-- one\nselect 2;\n++ plus\n-- three\n")
    bench.put("open.txt", "no end\nof line\n")
    (root / "moved.txt").rename(root / "to.txt")
    (root / "gone.txt").unlink()
    bench.put("new.txt", "made\nwithout end")
    run("add", "-A")
    wanted = tree(root)
    diff = run("diff", "--cached", "-M", "--no-color")
    run("reset", "-q", "--hard")
    (root / "new.txt").unlink(missing_ok=True)
    await bench.call("apply_patch", patch=diff)
    got = {name: raw for name, raw in tree(root).items() if not name.startswith(".git/")}
    assert got == {name: raw for name, raw in wanted.items() if not name.startswith(".git/")}


async def test_wrong_counts_in_a_heading_do_not_lose_lines(bench: Bench) -> None:
    path = bench.put("a.txt", "one\ntwo\nthree\nfour\n")
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n one\n-two\n+2\n three\n-four\n+4\n"
    await bench.call("apply_patch", patch=diff)
    assert path.read_text() == "one\n2\nthree\n4\n"


async def test_the_line_number_decides_between_equal_places(bench: Bench) -> None:
    path = bench.put("a.txt", "x\n" * 9)
    await bench.call("apply_patch", patch="--- a.txt\n+++ a.txt\n@@ -4,1 +4,1 @@\n-x\n+y\n")
    assert path.read_text().split("\n").index("y") == 3


lines_of_text = st.lists(st.sampled_from(["a", "b", " c", "", "\td", "-", "+", "*** x", "@@"]), max_size=12)


@settings(max_examples=150)
@given(lines_of_text, lines_of_text, st.booleans(), st.booleans())
def test_the_diff_of_two_texts_makes_one_of_the_other(
    one: list[str], two: list[str], one_ends: bool, two_ends: bool
) -> None:
    """Our own diffs, applied."""
    from agent_cli.tools.diff import file_diff

    before = "\n".join(["begin", *one]) + ("\n" if one_ends else "")
    after = "\n".join(["begin", *two]) + ("\n" if two_ends else "")
    diff = file_diff("f", before, after).diff
    if not diff:
        assert before == after
        return
    (section,) = sections_of(diff)
    assert patched(before, Endings(before), section.hunks, "f")[0] == after
