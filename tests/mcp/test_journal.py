"""What a server says by itself is kept, and never much of it."""

from __future__ import annotations

from pathlib import Path

from agent_cli.mcp import journal
from agent_cli.mcp.journal import Journal


def test_a_file_that_is_too_large_begins_anew(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(journal, "LARGEST", 5_000)
    file = tmp_path / "logs" / "x.log"
    kept = Journal(str(file))
    for at in range(2_000):
        kept.feed(f"line {at} of many\n".encode())
        assert file.stat().st_size < 5_100
    assert kept.last == "line 1999 of many"


def test_an_endless_line_is_cut_and_nothing_steers_a_terminal(tmp_path: Path) -> None:
    kept = Journal("")
    kept.feed(b"x" * 1_000_000)
    kept.feed(b"\n\x1b[31mred\x1b]0;title\x07\n\n")
    assert kept.last == "?[31mred?]0;title?"
    assert all(len(line) <= journal.LONGEST for line in kept._lines)


def test_a_file_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file", "utf-8")
    kept = Journal(str(tmp_path / "logs" / "x.log"))
    kept.feed(b"said\n")
    assert kept.last == "said"
