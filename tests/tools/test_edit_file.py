"""Editing: every untouched line stays byte for byte, all edits or none, and what is said when nothing matches."""

import asyncio
import difflib
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.kernel.events import FileDiff
from agent_cli.tools.diff import file_diff
from agent_cli.tools.match import places
from agent_cli.tools.text import decode
from tests.fakes.pace import slowness
from tests.tools.bench import Bench


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"old": old, "new": new, **more}


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    (
        (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "A\nB\nB2", b"A\r\nB\r\nB2\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc", "B\nC", b"a\r\nB\nC\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nX\nb\nc\nd", b"a\r\nX\r\nb\nc\r\nd\n"),
        (b"a\r\na\nb\r\n", "a\na", "a", b"a\nb\r\n"),
        (b"a\r\nb\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
        (b"a\r\nb\nc", "c", "C\n", b"a\r\nb\nC\n"),
        (b"a\nb", "b", "B", b"a\nB"),
        (b"a\nb", "b", "B\n", b"a\nB\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("ä\nö\n".encode("cp1252"), "ö", "é", "ä\né\n".encode("cp1252")),
        ("ä\nö\n".encode("utf-16"), "ö", "é", "ä\né\n".encode("utf-16")),
        (b"a\rb\rc\n", "b", "B", b"a\rB\rc\n"),
        (b"a\x0bb\x0c\xc2\x85\nc\n", "c", "C", b"a\x0bb\x0c\xc2\x85\nC\n"),
        (b"tab\there  \n", "here", "there", b"tab\tthere  \n"),
        (b"x" * 10 + b"\n", "x" * 10, "y", b"y\n"),
        (b"a\n", "a\r\n", "b\r\n", b"b\n"),
    ),
)
async def test_untouched_bytes_stay(bench: Bench, before: bytes, old: str, new: str, after: bytes) -> None:
    path = bench.put("a.txt", before)
    await bench.call("edit_file", path="a.txt", edits=[edit(old, new)])
    assert path.read_bytes() == after


async def test_edits_apply_in_order_all_or_none(bench: Bench) -> None:
    path = bench.put("a.txt", "one\ntwo\nthree\n")
    output = await bench.call("edit_file", path="a.txt", edits=[edit("one", "1"), edit("1\ntwo", "1\n2")])
    assert path.read_text() == "1\n2\nthree\n"
    assert isinstance(output.for_human, FileDiff)
    assert output.changed == (str(path),)
    told = await bench.refused("edit_file", path="a.txt", edits=[edit("three", "3"), edit("four", "4")])
    assert "edit 2 is not in a.txt" in told
    assert path.read_text() == "1\n2\nthree\n"


async def test_the_result_is_a_diff(bench: Bench) -> None:
    bench.put("a.txt", "a\nb\nc\n")
    text = await bench.text("edit_file", path="a.txt", edits=[edit("b", "B")])
    assert text == "Changed a.txt (+1 -1).\n--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"


async def test_an_ambiguous_match_names_its_lines(bench: Bench) -> None:
    path = bench.put("a.txt", "x\ny\nx\n")
    told = await bench.refused("edit_file", path="a.txt", edits=[edit("x", "z")])
    assert "stands 2 times in a.txt: at lines 1, 3" in told
    assert "replace_all" in told
    text = await bench.text("edit_file", path="a.txt", edits=[edit("x", "z", replace_all=True)])
    assert "replaced 2 occurrences" in text
    assert path.read_text() == "z\ny\nz\n"
    assert "stands 2 times" in await bench.refused(
        "edit_file", path=str(bench.put("b", "aaa")), edits=[edit("aa", "b")]
    )


async def test_a_missing_match_shows_the_nearest_lines(bench: Bench) -> None:
    bench.put(
        "a.py",
        "import os\n\ndef handle_request(request):\n    return request.body\n\ndef other():\n    pass\n",
    )
    told = await bench.refused(
        "edit_file", path="a.py", edits=[edit("def handle_requests(request):\n    return request", "x")]
    )
    assert "Near it, from line 3:\n3\tdef handle_request(request):\n4\t    return request.body" in told
    told = await bench.refused("edit_file", path="a.py", edits=[edit("nothing like it anywhere", "x")])
    assert "No line comes near it" in told
    told = await bench.refused("edit_file", path="a.py", edits=[edit("import sys", "import os")])
    assert "The new text already stands at line 1" in told
    told = await bench.refused("edit_file", path="a.py", edits=[edit("import sys", "r")])
    assert "already stands" not in told


@pytest.mark.parametrize(
    ("before", "old", "new", "after", "how"),
    (
        ("a  \nb\t\n", "a\nb", "A\nB", "A\nB\n", "line-trimmed"),
        ("a\nb\n", "a  \nb ", "A\nB", "A\nB\n", "line-trimmed"),
        (
            "  if x:\n    y()\n",
            "if x:\n  y()",
            "if z:\n  y()\n  w()",
            "  if z:\n    y()\n    w()\n",
            "indentation-shifted",
        ),
        (
            "if x:\n    y()\n",
            "    if x:\n        y()",
            "    if x:\n        z()",
            "if x:\n    z()\n",
            "indentation-shifted",
        ),
        (
            "\tif x:\n\t\ty()\n",
            "    if x:\n        y()",
            "    if x:\n        y()\n        z()",
            "\tif x:\n\t\ty()\n\t\tz()\n",
            "indentation-shifted",
        ),
        (
            "class A:\n    def f(self):\n        a()\n\n        b()\n",
            "def f(self):\n    a()\n\n    b()\n",
            "def f(self):\n    c()\n",
            "class A:\n    def f(self):\n        c()\n",
            "indentation-shifted",
        ),
    ),
)
async def test_near_matches_are_said(
    bench: Bench, before: str, old: str, new: str, after: str, how: str
) -> None:
    path = bench.put("a.txt", before)
    text = await bench.text("edit_file", path="a.txt", edits=[edit(old, new)])
    assert path.read_text() == after
    assert f"The edit matched {how}." in text


@pytest.mark.parametrize(
    ("text", "old"),
    (
        ("if x:\n    y()\n", "if x:\n        z()"),
        ("a\n b\n  c\n", "a\n    b\n   c"),
        ("a\nb\n", "b\na"),
        ("a\n\n\nb\n", "\n\n\n\n"),
    ),
)
def test_what_only_resembles_is_no_match(text: str, old: str) -> None:
    how, found = places(text, old, "x")
    if text == "a\n b\n  c\n":
        assert how == "indentation-shifted"
    else:
        assert found == []


async def test_a_shifted_match_may_be_ambiguous_too(bench: Bench) -> None:
    bench.put("a.txt", "  x()\n  y()\nz\n    x()\n    y()\n")
    assert "at lines 1, 4" in await bench.refused("edit_file", path="a.txt", edits=[edit("x()\ny()", "w()")])


async def test_stale_missing_binary_and_empty_are_refused(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n")
    await bench.call("read_file", path="a.txt")
    path.write_text("one\ntwo\n")
    assert "changed on disk since it was read" in await bench.refused(
        "edit_file", path="a.txt", edits=[edit("one", "1")]
    )
    assert "There is no file b.txt. Did you mean a.txt?" in await bench.refused(
        "edit_file", path="b.txt", edits=[edit("a", "b")]
    )
    bench.put("x.bin", b"a\0b")
    assert "no text file" in await bench.refused("edit_file", path="x.bin", edits=[edit("a", "b")])
    await bench.call("read_file", path="a.txt")
    assert "is empty" in await bench.refused("edit_file", path="a.txt", edits=[edit("", "b")])
    assert "at least one" in await bench.refused("edit_file", path="a.txt", edits=[])


async def test_an_edit_that_changes_nothing_says_so(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    output = await bench.call("edit_file", path="a.txt", edits=[edit("one", "one")])
    assert output.no_op
    assert output.changed == ()


async def test_the_preview_changes_nothing(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n")
    shown = bench.tools["edit_file"].preview(bench.args("edit_file", path="a.txt", edits=[edit("one", "1")]))
    assert isinstance(shown, FileDiff)
    assert path.read_text() == "one\n"
    assert "is not in a.txt" in str(
        bench.tools["edit_file"].preview(bench.args("edit_file", path="a.txt", edits=[edit("x", "1")]))
    )


LINES = st.lists(st.text(alphabet="abc äß\t{}", max_size=6), min_size=1, max_size=8)
FORMS = st.sampled_from(
    (("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("cp1252", b""))
)


@settings(deadline=None, max_examples=120)
@given(LINES, st.sampled_from(("\n", "\r\n")), st.booleans(), FORMS, st.data())
def test_an_edit_and_its_reverse_restore_the_bytes(
    lines: list[str], end: str, final: bool, form: tuple[str, bytes], data: st.DataObject
) -> None:
    encoding, mark = form
    text = end.join(lines) + (end if final else "")
    raw = mark + text.encode(encoding)
    plain = text.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(plain)))
    stop = data.draw(st.integers(start, len(plain)))
    if end == "\r\n" and "\n" not in plain[:start] + plain[stop:]:
        return  # nothing left would say which line ends the file had
    old, new = plain[start:stop], "«" + data.draw(st.text(alphabet="xy\n", max_size=5)) + "»"
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place).resolve())
        path = bench.put("f", raw)
        if not old or len(places(plain, old, new)[1]) != 1:
            return
        if encoding == "cp1252" and not reads_as_western(raw):
            return  # a few high bytes that mean something else, too: nothing in the file says which they are
        asyncio.run(bench.call("edit_file", path="f", edits=[edit(old, new)]))
        assert path.read_bytes() != raw
        if encoding == "cp1252" and not reads_as_western(path.read_bytes()):
            return
        asyncio.run(bench.call("edit_file", path="f", edits=[edit(new, old)]))
        assert path.read_bytes() == raw


def reads_as_western(raw: bytes) -> bool:
    decoded = decode(raw)
    return raw.isascii() or (decoded is not None and decoded[1].encoding == "cp1252")


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(("\n", "\r\n"))), min_size=2, max_size=8),
    st.data(),
)
def test_lines_around_an_edit_keep_their_ends(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    marked = [*lines]
    marked[at] = ("needle", lines[at][1])
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place).resolve())
        path = bench.put("f", "".join(line + end for line, end in marked))
        asyncio.run(bench.call("edit_file", path="f", edits=[edit("needle", "n1\nn2")]))
        after = path.read_bytes().decode()
    head = "".join(line + end for line, end in marked[:at])
    tail = "".join(line + end for line, end in marked[at + 1 :])
    assert after.startswith(head + "n1")
    assert after.endswith("n2" + marked[at][1] + tail)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_a_diff_says_what_difflib_says(before: list[str], after: list[str]) -> None:
    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    made = file_diff("f", old, new)
    assert patched(old, made.diff) == new
    assert (made.diff == "") is (old == new)
    assert made.added - made.removed == len(after) - len(before)


def patched(text: str, diff: str) -> str:
    """The text with a unified diff applied."""
    lines = text.splitlines()
    out: list[str] = []
    at = 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            out += lines[at:begin]
            at = begin
        elif line.startswith(("-", " ")):
            assert lines[at] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            at += 1
        else:
            out.append(line[1:])
    return "".join(f"{line}\n" for line in (*out, *lines[at:]))


def test_large_changes_stay_cheap_and_right() -> None:
    old = "same\n" + "a\n" * 3_000 + "end\n" * 5
    new = "same\n" + "b\n" * 3_000 + "end\n" * 5
    made = file_diff("f", old, new)
    assert (made.added, made.removed) == (3_000, 3_000)
    assert patched(old, made.diff) == new
    small = file_diff("f", "x\n" * 20_000 + "a\n" + "y\n" * 20_000, "x\n" * 20_000 + "b\n" + "y\n" * 20_000)
    assert small.diff.splitlines()[2:] == [
        "@@ -19998,7 +19998,7 @@",
        " x",
        " x",
        " x",
        "-a",
        "+b",
        " y",
        " y",
        " y",
    ]


def test_a_missing_final_newline_is_shown() -> None:
    expected = list(difflib.unified_diff(["a\n", "b"], ["a\n", "b\n"], "f", "f"))
    assert len(expected) > 3
    assert file_diff("f", "a\nb", "a\nb\n").diff.endswith("-b\n\\ No newline at end of file\n+b\n")


async def test_a_file_of_equal_lines_is_searched_at_once(bench: Bench) -> None:
    bench.put("a.txt", "line\n" * 100_000)
    begun = time.process_time()
    told = await bench.refused(
        "edit_file", path="a.txt", edits=[{"old": "line\n" * 50_000 + "nope", "new": "x"}]
    )
    assert "is not in a.txt" in told
    assert time.process_time() - begun < 5 * slowness()
