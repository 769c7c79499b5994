"""Long work tells how far it has come, in a terminal and nowhere else."""

from __future__ import annotations

import sys

import pytest

from agent_cli.cli.progress import counted

ITEMS = ("a", "b", "c")


def test_nothing_is_said_without_a_terminal(capsys):
    with counted("removing", ITEMS, 3) as each:
        assert tuple(each) == ITEMS
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_on_stderr_alone(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with counted("removing", ITEMS, 3) as each:
        assert tuple(each) == ITEMS
    said = capsys.readouterr()
    assert said.out == ""
    assert "removing" in said.err
    assert "3/3" in said.err


def test_what_breaks_breaks(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(ZeroDivisionError), counted("removing", ITEMS, 3) as each:
        for _ in each:
            raise ZeroDivisionError
