"""Several files in one call: each under its path, all within one bound."""

from __future__ import annotations

from agent_cli.tools import read_many_files
from tests.tools.bench import Bench


async def test_files_and_patterns(bench: Bench) -> None:
    bench.put("src/a.py", "one\n")
    bench.put("src/deep/b.py", "two\n")
    bench.put("src/c.txt", "three\n")
    text = await bench.text("read_many_files", paths=["src/**/*.py", "src/c.txt", "src/a.py"])
    assert text == "==> src/a.py <==\n1\tone\n==> src/deep/b.py <==\n1\ttwo\n==> src/c.txt <==\n1\tthree"


async def test_reading_marks_the_files_as_seen(bench: Bench) -> None:
    path = bench.put("a.txt", "one\n")
    await bench.call("read_many_files", paths=["*.txt"])
    await bench.call("write_file", path="a.txt", content="two\n")
    assert path.read_text() == "two\n"


async def test_what_does_not_fit_is_named(bench: Bench) -> None:
    for number in range(5):
        bench.put(f"{number}.txt", "".join(f"line {n} of {number}\n" for n in range(5_000)))
    bench.put("small.txt", "all of it\n")
    text = await bench.text("read_many_files", paths=["*.txt"])
    assert len(text.encode()) <= read_many_files.PAGE
    assert "all of it" in text
    for number in range(5):
        assert f"==> {number}.txt <==\n1\tline 0 of {number}\n" in text
        assert f"[{number}.txt is shown in part]" in text


async def test_too_many_files_are_counted(bench: Bench) -> None:
    for number in range(130):
        bench.put(f"{number:03}.txt", "x\n")
    text = await bench.text("read_many_files", paths=["*.txt"])
    assert text.count("==> ") == 100
    assert "30 files did not fit: 100.txt, 101.txt" in text


async def test_what_git_ignores_what_rules_close_and_secrets_are_not_found_by_patterns(bench: Bench) -> None:
    bench.put(".gitignore", "build/\n")
    bench.put("build/x.txt", "ignored")
    bench.put(".env", "KEY=1")
    bench.put("closed.txt", "closed")
    bench.put("open.txt", "open")
    bench.workspace.closed = lambda path: path.endswith("closed.txt")
    text = await bench.text("read_many_files", paths=["**/*", "**/.env"])
    assert "open" in text
    for gone in ("ignored", "KEY", "==> closed"):
        assert gone not in text
    assert "no file matches '**/.env'" in text


async def test_named_files_are_judged_and_missing_ones_are_said(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    touched = bench.touches("read_many_files", paths=["a.txt", "src/*.py", ".env"])
    assert [use.path for use in touched.paths] == [
        f"{bench.root}/a.txt",
        f"{bench.root}/src",
        f"{bench.root}/.env",
    ]
    text = await bench.text("read_many_files", paths=["a.txt", "b.txt"])
    assert "1\tone" in text
    assert "There is no file b.txt. Did you mean a.txt?" in text
    nothing = await bench.call("read_many_files", paths=["*.zip"])
    assert not nothing.ok


async def test_a_name_with_signs_of_a_pattern_is_a_name_where_the_file_is(bench: Bench) -> None:
    bench.put("[id].tsx", "page\n")
    assert "1\tpage" in await bench.text("read_many_files", paths=["[id].tsx"])


async def test_binary_files_and_pipes_are_described(bench: Bench) -> None:
    import os

    bench.put("a.bin", b"\x7fELF\0\0")
    os.mkfifo(bench.root / "pipe")
    text = await bench.text("read_many_files", paths=["a.bin", "pipe"])
    assert "ELF program" in text
    assert "would wait for a writer" in text
