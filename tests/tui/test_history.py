"""Earlier messages survive, in order, within bounds, and never cost a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.talk.history import LIMIT, LONGEST, History


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "history.jsonl"


def test_it_walks_back_and_comes_back_to_the_draft(path: Path):
    history = History(str(path))
    for text in ("one", "two\nlines", "two\nlines"):
        history.add(text)
    assert history.older("draft") == "two\nlines"
    assert history.older("two\nlines") == "one"
    assert history.older("one") is None
    assert history.newer() == "two\nlines"
    assert history.newer() == "draft"
    assert history.newer() is None


def test_another_process_finds_them(path: Path):
    History(str(path)).add("ä \ud800 漢")
    assert History(str(path)).older("") == "ä ? 漢"
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_is_bounded(path: Path):
    history = History(str(path))
    for number in range(2 * LIMIT + 10):
        history.add(f"message {number}")
    history.add("x" * (LONGEST + 1))
    again = History(str(path))
    assert again.older("") == f"message {2 * LIMIT + 9}"
    assert len(path.read_text("utf-8").splitlines()) == LIMIT


def test_a_line_cut_off_by_a_crash_is_skipped(path: Path):
    History(str(path)).add("whole")
    with path.open("a", encoding="utf-8") as file:
        file.write('"half')
    assert History(str(path)).older("") == "whole"


def test_a_place_that_cannot_be_written_is_told_once_and_costs_nothing(tmp_path: Path):
    (tmp_path / "file").write_text("", "utf-8")
    history = History(str(tmp_path / "file" / "history.jsonl"))
    history.add("kept for this run")
    assert "not remembered" in history.trouble or "cannot be read" in history.trouble
    assert history.older("") == "kept for this run"


def test_without_a_path_it_lives_as_long_as_the_screen():
    history = History()
    history.add("one")
    assert history.older("") == "one"
    assert history.trouble == ""
