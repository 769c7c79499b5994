"""delete_file, stat, json_query."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import FileDiff
from tests.tools.bench import Bench

# ── delete_file ──


async def test_a_file_is_deleted_and_its_end_is_shown(bench: Bench) -> None:
    path = bench.put("a.txt", "one\ntwo\n")
    output = await bench.call("delete_file", path="a.txt")
    assert not path.exists()
    assert isinstance(output.for_human, FileDiff)
    assert output.for_human.removed == 2
    assert output.changed == (str(path),)


async def test_what_is_not_there_counts_as_deleted(bench: Bench) -> None:
    output = await bench.call("delete_file", path="no/such.txt")
    assert output.ok
    assert (output.ok, output.no_op, output.changed) == (True, False, ())
    assert output.changed == ()


async def test_a_directory_stays(bench: Bench) -> None:
    bench.put("d/a.txt", "x")
    assert "is a directory" in await bench.refused("delete_file", path="d")
    assert "is a directory" in await bench.refused("delete_file", path="d/.")
    assert bench.root.joinpath("d/a.txt").exists()


async def test_of_a_link_only_the_link_goes(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("keep")
    link = bench.root / "link"
    link.symlink_to(outside)
    touched = bench.touches("delete_file", path="link")
    assert [use.path for use in touched.paths] == [str(link)]
    await bench.call("delete_file", path="link")
    assert not link.is_symlink()
    assert outside.read_text() == "keep"


async def test_behind_a_linked_directory_the_real_place_is_judged(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (bench.root / "here").symlink_to(tmp_path / "away")
    touched = bench.touches("delete_file", path="here/x")
    assert [use.path for use in touched.paths] == [str(tmp_path / "away" / "x")]


async def test_a_link_that_moved_after_the_question_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    victim = tmp_path / "away" / "x"
    victim.write_text("keep")
    bench.put("d/x", "go")
    args = bench.args("delete_file", path="d/x")
    bench.tools["delete_file"].touches(args)
    (bench.root / "d").rename(bench.root / "old")
    (bench.root / "d").symlink_to(tmp_path / "away")
    with pytest.raises(ToolError, match="leads to another file"):
        await bench.tools["delete_file"].run(args, print)
    assert victim.read_text() == "keep"


async def test_a_file_that_changed_since_it_was_read_stays(bench: Bench) -> None:
    path = bench.put("a.txt", "one")
    await bench.call("read_file", path="a.txt")
    path.write_text("two")
    assert "changed on disk" in await bench.refused("delete_file", path="a.txt")


# ── stat ──


async def test_what_is_at_a_path(bench: Bench) -> None:
    path = bench.put("a.sh", "x" * 1_234)
    path.chmod(0o750)
    os.utime(path, (0, 1_700_000_000))
    text = await bench.text("stat", path="a.sh")
    assert "kind: file" in text
    assert "size: 1,234 bytes" in text
    assert "-rwxr-x--- (0750)" in text
    assert "2023-11-14 22:13:20 UTC" in text


async def test_links_directories_pipes_and_nothing(bench: Bench) -> None:
    bench.put("d/a", "x")
    (bench.root / "link").symlink_to("d")
    (bench.root / "broken").symlink_to("none")
    os.mkfifo(bench.root / "pipe")
    text = await bench.text("stat", path="link")
    assert "link is a symbolic link to d" in text
    assert "1 entries" in text
    assert "where nothing is" in await bench.text("stat", path="broken")
    assert "kind: a pipe" in await bench.text("stat", path="pipe")
    output = await bench.call("stat", path="none")
    assert output.ok
    assert "There is nothing at none" in str(output.for_model)
    assert "There is nothing at d/a/b" in await bench.text("stat", path="d/a/b")
    assert "kind: a directory" in await bench.text("stat", path=".")


# ── json_query ──

DATA = '{"items": [{"name": "a", "price": 5}, {"name": "b", "price": 15}], "content-type": "x", "big": 12345678901234567890}'


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("items[?price > `10`].name", '[\n  "b"\n]'),
        ("length(items)", "2"),
        ('"content-type"', '"x"'),
        ("big", "12345678901234567890"),
    ],
)
async def test_queries(bench: Bench, query: str, answer: str) -> None:
    bench.put("a.json", b"\xef\xbb\xbf" + DATA.encode())
    assert await bench.text("json_query", query=query, path="a.json") == answer
    assert await bench.text("json_query", query=query, text=DATA) == answer


async def test_a_file_of_one_value_a_line_is_a_list(bench: Bench) -> None:
    bench.put("a.jsonl", '{"n": 1}\n\n{"n": 2}\n')
    assert await bench.text("json_query", query="[*].n", path="a.jsonl") == "[\n  1,\n  2\n]"


async def test_what_is_wrong_is_said(bench: Bench) -> None:
    bench.put("a.json", '{"a": 1,}')
    bench.put("b.bin", b"\0\1\2")
    assert "is no JSON" in await bench.refused("json_query", query="a", path="a.json")
    assert "line 1, column" in await bench.refused("json_query", query="a", path="a.json")
    assert "no text file" in await bench.refused("json_query", query="a", path="b.bin")
    assert "does not work" in await bench.refused("json_query", query="a[", text="{}")
    assert "does not work" in await bench.refused("json_query", query="length(@)", text="1")
    assert "Give either" in await bench.refused("json_query", query="a")
    assert "There is no file" in await bench.refused("json_query", query="a", path="none.json")
    assert "too deeply" in await bench.refused("json_query", query="a", text="[" * 200_000)


async def test_null_says_what_there_is(bench: Bench) -> None:
    text = await bench.text("json_query", query="item", text=DATA)
    assert text.startswith("null")
    assert "an object with items, content-type, big" in text


async def test_a_large_file_is_answered(bench: Bench) -> None:
    bench.put("big.json", "[" + ",".join(f'{{"n": {n}}}' for n in range(60_000)) + "]")
    assert await bench.text("json_query", query="[-1].n", path="big.json") == "59999"
