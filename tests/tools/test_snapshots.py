"""What files held before they were changed, brought back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.ports import PathUse, Touches
from agent_cli.tools import snapshots as module
from agent_cli.tools.snapshots import Snapshots


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def kept(tmp_path: Path, project: Path) -> Snapshots:
    return Snapshots(tmp_path / "state", str(project))


def writing(*paths: Path) -> Touches:
    return Touches("write", "x", tuple(PathUse(str(path), "w") for path in paths))


def running(line: str) -> Touches:
    return Touches("execute", line, (), line)


def git(project: Path, *words: str) -> None:
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    subprocess.run(["git", *identity, *words], cwd=project, check=True, capture_output=True)


def test_each_file_is_again_what_it_was_before_that_message(kept: Snapshots, project: Path) -> None:
    old, new, mode = project / "old.py", project / "deep" / "new.py", project / "run.sh"
    old.write_bytes(b"one\r\n")
    mode.write_text("#!/bin/sh\n")
    mode.chmod(0o755)
    kept.before(3, writing(old, mode))
    old.write_bytes(b"two\r\n")
    mode.write_text("gone")
    mode.chmod(0o600)
    kept.before(3, writing(old))
    old.write_bytes(b"three\r\n")
    kept.before(9, writing(old, new))
    old.unlink()
    new.parent.mkdir()
    new.write_text("new")
    assert kept.moments() == {3: 2, 9: 2}
    assert kept.restore(9).paths == (str(new), str(old))
    assert (old.read_bytes(), new.exists()) == (b"three\r\n", False)
    assert kept.restore(3) == ((str(old), str(mode)), ())
    assert (old.read_bytes(), mode.read_text()) == (b"one\r\n", "#!/bin/sh\n")
    assert mode.stat().st_mode & 0o777 == 0o755
    assert kept.restore(3) == ((), ()), "nothing is left to do"


def test_nothing_is_wanted_where_nothing_would_be_kept(kept: Snapshots, project: Path) -> None:
    file = project / "a.txt"
    assert kept.wants(3, writing(file))
    kept.before(3, writing(file))
    assert not kept.wants(3, writing(file))
    assert kept.wants(3, writing(file, project / "b.txt"))
    assert kept.wants(4, writing(file))
    assert not kept.wants(3, running("ls -l"))
    assert kept.wants(3, running("make"))
    kept.before(3, running("make"))
    assert not kept.wants(3, running("make"))
    assert kept.wants(4, running("make"))


def test_another_process_knows_what_was_kept(kept: Snapshots, project: Path, tmp_path: Path) -> None:
    file = project / "a.txt"
    file.write_text("before")
    kept.before(3, writing(file))
    file.write_text("after")
    again = Snapshots(tmp_path / "state", str(project))
    with (tmp_path / "state" / "index.jsonl").open("a") as index:
        index.write('[5, "cut in the mid')
    assert again.restore(1).paths == (str(file),)
    assert file.read_text() == "before"
    again.before(7, writing(file))
    file.write_text("later")
    third = Snapshots(tmp_path / "state", str(project))
    assert third.moments() == {3: 1, 7: 1}, "the line that was cut takes no other one with it"
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_link_is_a_link_again(kept: Snapshots, project: Path) -> None:
    (project / "target").write_text("t")
    link = project / "link"
    link.symlink_to("target")
    kept.before(3, writing(link))
    link.unlink()
    link.write_text("a file now")
    assert kept.restore(3).paths == (str(link),)
    assert str(link.readlink()) == "target"
    assert (project / "target").read_text() == "t"


def test_what_could_not_be_kept_says_so(
    kept: Snapshots, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 10)
    large, lost = project / "large", project / "lost"
    large.write_text("0123456789a")
    lost.write_text("small")
    kept.before(3, writing(large, lost))
    large.write_text("x")
    lost.write_text("y")
    for blob in (tmp_path / "state" / "blobs").glob("*/*"):
        blob.write_bytes(b"damaged")
    restored = kept.restore(3)
    assert restored.paths == ()
    assert [problem.split(": ")[0] for problem in restored.failed] == [str(large), str(lost)]
    assert (large.read_text(), lost.read_text()) == ("x", "y")


def test_the_oldest_moments_are_let_go_when_there_is_no_room(
    kept: Snapshots, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 3_000)
    file = project / "noise"
    for moment in range(1, 6):
        file.write_bytes(os.urandom(1_000))
        kept.before(moment, writing(file))
    assert 1 not in kept.moments()
    assert 5 in kept.moments()


@pytest.mark.parametrize("committed", [True, False])
def test_what_a_shell_line_changed_in_a_work_tree_comes_back(
    kept: Snapshots, project: Path, committed: bool
) -> None:
    tracked, fresh, ignored = project / "tracked.txt", project / "sub" / "fresh.txt", project / "built.o"
    git(project, "init", "-q")
    tracked.write_text("committed")
    (project / ".gitignore").write_text("*.o\n")
    git(project, "add", ".")
    if committed:
        git(project, "commit", "-qm", "first")
    tracked.write_text("mine, not committed")
    fresh.parent.mkdir()
    fresh.write_text("mine, untracked")
    ignored.write_text("old")
    before = subprocess.run(["git", "status", "--porcelain"], cwd=project, capture_output=True).stdout
    kept.before(3, running("sed -i s/mine/theirs/ tracked.txt"))
    made = project / "made.txt"
    tracked.write_text("theirs")
    fresh.unlink()
    made.write_text("made")
    kept.after(3, (str(tracked), str(fresh), str(made), str(project / ".git" / "HEAD")))
    assert kept.restore(3).paths == (str(made), str(fresh), str(tracked))
    assert (tracked.read_text(), fresh.read_text(), made.exists()) == (
        "mine, not committed", "mine, untracked", False,
    )  # fmt: skip
    after = subprocess.run(["git", "status", "--porcelain"], cwd=project, capture_output=True).stdout
    assert after == before, "the repository is as it was"


def test_a_line_that_only_reads_writes_no_tree(kept: Snapshots, project: Path, tmp_path: Path) -> None:
    git(project, "init", "-q")
    kept.before(3, running("git status"))
    assert not (tmp_path / "state" / "git").exists()


def test_outside_of_a_work_tree_a_shell_line_is_not_covered(kept: Snapshots, project: Path) -> None:
    file = project / "a.txt"
    file.write_text("a")
    kept.before(3, running("echo b > a.txt"))
    file.write_text("b")
    kept.after(3, (str(file),))
    assert kept.restore(3) == ((), ())


def test_what_somebody_else_changed_since_stays(kept: Snapshots, project: Path, tmp_path: Path) -> None:
    """An editor, or another session: only what the agent left as it is goes back."""
    edited, left, made, gone = (project / name for name in ("edited", "left", "made", "gone"))
    edited.write_text("one")
    left.write_text("one")
    gone.write_text("one")
    kept.before(3, writing(edited, left, made, gone))
    for path in (edited, left, made):
        path.write_text("the agent's")
    gone.unlink()
    kept.after(3, [str(path) for path in (edited, left, made, gone)])
    edited.write_text("the operator's")
    made.write_text("the operator's, too")
    gone.write_text("made anew")
    again = Snapshots(tmp_path / "state", str(project))
    told = again.restore(3)
    assert told.paths == (str(left),)
    assert [line.partition(":")[0] for line in told.failed] == [str(edited), str(gone), str(made)]
    assert (edited.read_text(), made.read_text(), gone.read_text()) == (
        "the operator's", "the operator's, too", "made anew",
    )  # fmt: skip
    edited.write_text("one")
    made.unlink()
    gone.write_text("one")
    assert again.restore(3) == ((), ()), "it is as it was, whoever did that"


def test_where_a_call_was_cut_short_everything_goes_back(kept: Snapshots, project: Path) -> None:
    old = project / "old"
    old.write_text("one")
    kept.before(3, writing(old))
    old.write_text("two")
    kept.after(3, [str(old)])
    old.write_text("half of")
    kept.after(3, None)
    assert kept.restore(3) == ((str(old),), ())
    assert old.read_text() == "one"


def test_rules_that_the_operator_changed_while_a_command_ran_stay(kept: Snapshots, project: Path) -> None:
    git(project, "init", "-q")
    (project / ".agents").mkdir()
    config = project / ".agents" / "config.json"
    config.write_text("{}")
    git(project, "add", ".")
    kept.before(3, running("make"))
    config.write_text('{"permissions": {"deny": ["bash:rm*"]}}')
    (project / "made").write_text("x")
    kept.after(3, [str(config), str(project / "made")])
    assert kept.restore(3) == ((str(project / "made"),), ())
    assert "deny" in config.read_text()


@settings(max_examples=40)
@given(
    history=st.lists(
        st.tuples(st.integers(1, 5), st.sampled_from("abc"), st.one_of(st.none(), st.binary(max_size=40))),
        max_size=12,
    ),
    to=st.integers(1, 6),
)
def test_any_history_of_writes_is_undone(
    history: list[tuple[int, str, bytes | None]], to: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("history")
    kept = Snapshots(top / "state", str(top))
    held: dict[str, bytes | None] = dict.fromkeys("abc")
    then: dict[str, bytes | None] = dict(held)
    for moment, name, data in sorted(history, key=lambda step: step[0]):
        path = top / name
        kept.before(moment, writing(path))
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)
        held[name] = data
        if moment < to:
            then = dict(held)
    assert kept.restore(to).failed == ()
    assert {name: (top / name).read_bytes() if (top / name).exists() else None for name in "abc"} == then
