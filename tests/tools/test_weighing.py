"""How much commands wrote and deleted, by what they left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.scales import Weighed
from agent_cli.tools.weighing import Scales


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, size in {"a.txt": 600, "b.txt": 70, "logs/one.log": 5_000, "logs/deep/two.log": 300}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path


def weighed(tree: Path, command: str, *named: str) -> Weighed:
    scales = Scales(str(tree))
    scales.begin(named)
    subprocess.run(["bash", "-c", command], cwd=tree, check=True)
    return scales.end()


@pytest.mark.parametrize(
    ("command", "written", "deleted"),
    [
        ("true", 0, 0),
        ("cat a.txt >/dev/null", 0, 0),
        ("rm a.txt b.txt", 0, 670),
        ("rm -rf logs", 0, 5_300),
        ("printf '%s\\n' a.txt | xargs rm", 0, 600),
        ("head -c 4000 /dev/zero > new.bin", 4_000, 0),
        ("mkdir -p x/y && head -c 40 /dev/zero > x/y/z", 40, 0),
        ("head -c 100 /dev/zero >> a.txt", 100, 0),
        ("head -c 100 /dev/zero > a.txt", 100, 500),
        ("cp logs/one.log copy.log", 5_000, 0),
        ("dd if=/dev/zero of=d.bin bs=1000 count=3 2>/dev/null", 3_000, 0),
        ("echo hi | tee t1 t2 >/dev/null", 6, 0),
        ("mv a.txt renamed.txt", 0, 0),
        ("mv logs elsewhere", 0, 0),
        ("mv b.txt a.txt", 0, 600),
        ("rm a.txt && head -c 30 /dev/zero > c.txt", 30, 600),
        ("sed -i s/x/y/ a.txt", 600, 0),
        ("truncate -s 0 a.txt", 0, 600),
        ("touch empty && chmod +x a.txt", 0, 0),
        (
            "python3 -c \"import shutil, pathlib; shutil.rmtree('logs'); pathlib.Path('n').write_text('12345')\"",
            5,
            5_300,
        ),
        ("mkdir -p node_modules && head -c 9000 /dev/zero > node_modules/x", 0, 0),
        ("git init -q . && git add a.txt && git clean -qfdx", 0, 5_370),
    ],
)
def test_what_a_command_leaves_is_weighed(tree: Path, command: str, written: int, deleted: int):
    found = weighed(tree, command)
    assert (found.written, found.deleted) == (written, deleted)


def test_a_named_file_elsewhere_counts(tree: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("other") / "big"
    other.write_bytes(b"x" * 900)
    assert weighed(tree, f"head -c 10 /dev/zero > {other}", str(other)) == (10, 890)
    assert weighed(tree, f"rm {other}", str(other)).deleted == 10


def test_what_two_commands_change_side_by_side_counts_once(tree: Path):
    scales = Scales(str(tree))
    scales.begin(())
    (tree / "n").write_bytes(b"x" * 40)
    scales.begin(())
    (tree / "m").write_bytes(b"x" * 2)
    first, second = scales.end(), scales.end()
    assert (first.written, second.written) == (42, 0)


def test_what_changes_between_commands_is_not_theirs(tree: Path):
    scales = Scales(str(tree))
    scales.begin(())
    assert scales.end() == Weighed(0, 0)
    (tree / "a.txt").unlink()
    scales.begin(())
    assert scales.end() == Weighed(0, 0)


def test_what_lies_beyond_the_bound_counts_as_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_cli.tools.weighing.MOST", 3)
    scales = Scales(str(tree))
    scales.begin(())
    (tree / "logs/deep/two.log").unlink()
    (tree / "logs/deep/three.log").write_bytes(b"x" * 50)
    assert scales.end() == Weighed(0, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)), max_size=12))
def test_the_sums_add_up(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]):
    """What is there behind it is what was there before, and what was written, without what was deleted."""
    root = tmp_path_factory.mktemp("sums")
    (root / "a").write_bytes(b"x" * 20)
    scales = Scales(str(root))
    before = 20
    for name, size in steps:
        scales.begin(())
        path = root / name
        if size == 0:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(b"y" * size)
        os.utime(root)
        found = scales.end()
        after = sum(each.stat().st_size for each in root.iterdir())
        assert found.written - found.deleted >= after - before
        before = after
