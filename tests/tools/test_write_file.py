"""Writing whole files: what is refused, what is kept, and that a write is never half done."""

import asyncio
import os
import resource
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import FileDiff, Shown, as_text
from agent_cli.tools import disk, writing
from agent_cli.tools.seen import digest_of
from tests.tools.bench import Bench


async def test_a_new_file_with_its_parents(bench: Bench) -> None:
    output = await bench.call("write_file", path="a/b/c.txt", content="one\ntwo\n")
    path = bench.root / "a/b/c.txt"
    assert path.read_bytes() == b"one\ntwo\n"
    assert output.ok
    assert output.changed == (str(path),)
    assert output.for_human == FileDiff(
        "a/b/c.txt", "--- /dev/null\n+++ a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n", 2, 0
    )
    assert await bench.text("write_file", path="d.txt", content="") == "Created d.txt (0 lines)."


async def test_a_file_never_read_is_not_overwritten(bench: Bench) -> None:
    path = bench.put("a.txt", "precious\n")
    assert "has not been read in this session" in await bench.refused(
        "write_file", path="a.txt", content="new\n"
    )
    assert path.read_text() == "precious\n"
    await bench.call("read_file", path="a.txt")
    assert (await bench.call("write_file", path="a.txt", content="new\n")).ok
    assert path.read_text() == "new\n"
    assert (await bench.call("write_file", path="a.txt", content="newer\n")).ok, (
        "what it wrote itself it knows"
    )


async def test_a_file_changed_since_it_was_read_is_not_overwritten(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n")
    await bench.call("read_file", path="a.txt")
    facts = path.stat()
    path.write_text("two\n")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert "changed on disk since it was read" in await bench.refused(
        "write_file", path="a.txt", content="new\n"
    )
    path.write_text("one\n")
    assert (await bench.call("write_file", path="a.txt", content="new\n")).ok, (
        "the same content is the same file"
    )


async def test_an_empty_file_needs_no_reading(bench: Bench) -> None:
    bench.put("a.txt", "")
    assert (await bench.call("write_file", path="a.txt", content="x")).ok


async def test_identical_content_changes_nothing(bench: Bench) -> None:
    path = bench.put("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    before = path.stat()
    output = await bench.call("write_file", path="a.txt", content="one\ntwo\n")
    assert output.no_op
    assert output.changed == ()
    assert path.stat() == before


@pytest.mark.parametrize(
    ("before", "content", "after"),
    (
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny", b"x\r\ny"),
        (b"a\nb\n", "x\r\ny\r\n", b"x\ny\n"),
        (b"a\r\nb\r\nc\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a", "x\r\ny", b"x\r\ny"),
        (b"\xef\xbb\xbfa\n", "ä\n", b"\xef\xbb\xbf" + "ä\n".encode()),
        ("ä\n".encode("utf-16"), "ö\n", "ö\n".encode("utf-16")),
        ("ä\n".encode("cp1252"), "“ö”\n", "“ö”\n".encode("cp1252")),
        (b"\x7fELF\0\0", "text now\n", b"text now\n"),
    ),
)
async def test_encoding_mark_and_line_ends_are_kept(
    bench: Bench, before: bytes, content: str, after: bytes
) -> None:
    path = bench.put("a.txt", before)
    await bench.call("read_file", path="a.txt")
    await bench.call("write_file", path="a.txt", content=content)
    assert path.read_bytes() == after


async def test_what_the_encoding_cannot_hold_is_refused(bench: Bench) -> None:
    path = bench.put("a.txt", "ä\n".encode("cp1252"))
    await bench.call("read_file", path="a.txt")
    told = await bench.refused("write_file", path="a.txt", content="a\n→\n")
    assert "cp1252, which has no '→' (line 2" in told
    assert path.read_bytes() == "ä\n".encode("cp1252")


async def test_mode_link_and_attributes_are_kept(bench: Bench) -> None:
    path = bench.put("bin/run.sh", "#!/bin/sh\n")
    path.chmod(0o750)
    (bench.root / "link").symlink_to("bin/run.sh")
    os.setxattr(path, "user.note", b"mine")
    await bench.call("read_file", path="link")
    await bench.call("write_file", path="link", content="#!/bin/sh\nexit\n")
    assert (bench.root / "link").is_symlink()
    assert path.read_text() == "#!/bin/sh\nexit\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert os.getxattr(path, "user.note") == b"mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
async def test_the_owner_is_kept(bench: Bench) -> None:
    path = bench.put("a.txt", "x\n")
    os.chown(path, 1234, 2345)
    await bench.call("read_file", path="a.txt")
    await bench.call("write_file", path="a.txt", content="y\n")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


async def test_a_new_file_has_the_usual_mode(bench: Bench) -> None:
    old = os.umask(0o027)
    try:
        await bench.call("write_file", path="a.txt", content="x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((bench.root / "a.txt").stat().st_mode) == 0o640


async def test_what_is_no_file_is_refused(bench: Bench) -> None:
    (bench.root / "dir").mkdir()
    os.mkfifo(bench.root / "pipe")
    bench.put("file", "x")
    assert "dir is a directory" in await bench.refused("write_file", path="dir", content="x")
    assert "pipe (FIFO)" in await bench.refused("write_file", path="pipe", content="x")
    assert "is a file, not a directory" in await bench.refused("write_file", path="file/below", content="x")
    assert "name is too long" in await bench.refused("write_file", path="x/" + "y" * 300, content="x")


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow over 1,000 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("small_disk")
async def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(bench: Bench) -> None:
    path = bench.put("a.txt", "old\n")
    await bench.call("read_file", path="a.txt")
    assert "too large" in await bench.refused("write_file", path="a.txt", content="x" * 5_000)
    assert path.read_text() == "old\n"
    assert [entry.name for entry in bench.root.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "said"),
    (
        (30, "read-only (EROFS)"),
        (28, "no space is left on the disk (ENOSPC)"),
        (13, "permission denied"),
        (9999, "Unknown"),
    ),
)
def test_what_the_system_says_is_named(number: int, said: str) -> None:
    told = str(disk.explain(OSError(number, os.strerror(number)), "write", "a.txt"))
    assert told.startswith("Cannot write a.txt: ")
    assert said in told


async def test_cancelling_lets_the_write_finish(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.put("a.txt", "")
    started, go = threading.Event(), threading.Event()

    def slow(target: str, raw: bytes) -> None:
        started.set()
        go.wait(10)
        disk.replace(target, raw)

    monkeypatch.setattr(writing, "INLINE", 0)
    monkeypatch.setattr(writing, "replace", slow)
    task = asyncio.create_task(bench.call("write_file", path="a.txt", content="done\n"))
    await asyncio.to_thread(started.wait)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert path.read_text() == "done\n"
    assert "Changed a.txt (+1 -0)." in caught.value.args[0]
    assert bench.workspace.seen.digest(str(path)) == digest_of(b"done\n")


async def test_the_preview_is_the_diff_and_writes_nothing(bench: Bench) -> None:
    path = bench.put("a.txt", "one\ntwo\n")
    tool, args = bench.tools["write_file"], bench.args("write_file", path="a.txt", content="one\n2\n")
    shown = tool.preview(args)
    assert isinstance(shown, FileDiff)
    assert (shown.added, shown.removed) == (1, 1)
    assert path.read_text() == "one\ntwo\n"
    (bench.root / "dir").mkdir()
    assert isinstance(tool.preview(bench.args("write_file", path="dir", content="x")), Shown)


async def test_readers_never_see_a_part(bench: Bench) -> None:
    path = bench.put("a.txt", "a" * 100_000)
    await bench.call("read_file", path="a.txt")
    seen: set[str] = set()
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.add(path.read_text())

    watching = asyncio.create_task(asyncio.to_thread(watch))
    for letter in "bcdefgh":
        await bench.call("write_file", path="a.txt", content=letter * 100_000)
    stop.set()
    await watching
    assert seen <= {letter * 100_000 for letter in "abcdefgh"}


async def test_a_long_diff_is_cut_for_the_model_only(bench: Bench) -> None:
    bench.put("a.txt", "".join(f"line {number}\n" for number in range(5_000)))
    await bench.call("read_file", path="a.txt")
    output = await bench.call(
        "write_file", path="a.txt", content="".join(f"other {number}\n" for number in range(5_000))
    )
    assert isinstance(output.for_human, FileDiff)
    assert (output.for_human.added, output.for_human.removed) == (5_000, 5_000)
    text = as_text(output)
    assert len(text) < 13_000
    assert "more lines of the diff are not shown" in text


def test_a_write_under_a_missing_root_says_so(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    bench = Bench(gone)
    gone.rmdir()
    (tmp_path / "gone").write_text("")
    with pytest.raises(ToolError, match="is a file, not a directory"):
        asyncio.run(bench.call("write_file", path="x/y", content="x"))


async def test_what_does_not_fit_into_memory_is_left_alone(bench: Bench) -> None:
    path = bench.put("huge", "")
    os.truncate(path, 40_000_000_000)
    await bench.call("read_file", path="huge")
    for call in (
        ("write_file", {"content": "x"}),
        ("edit_file", {"edits": [{"old": "a", "new": "b"}]}),
    ):
        assert "40,000,000,000 bytes" in await bench.refused(call[0], path="huge", **call[1])
    assert path.stat().st_size == 40_000_000_000
