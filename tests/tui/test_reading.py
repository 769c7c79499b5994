"""The reader of keys sleeps while none comes, and ends when it is told to or its terminal went away."""

from __future__ import annotations

import os
import selectors
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("another driver reads there", allow_module_level=True)

from textual.events import Key
from textual.message import Message

from agent_cli.tui.reading import Bell, TerminalDriver


class Reading(TerminalDriver):
    """The reader alone, on a pipe in the place of a terminal."""

    def __init__(self) -> None:
        self.fileno, self.terminal = os.pipe()
        self._debug = self._mouse = False
        self._bell = Bell()
        self.exit_event = threading.Event()
        self.read: list[str] = []
        self._key_thread = threading.Thread(target=self.run_input_thread)

    def process_message(self, message: Message) -> None:
        if isinstance(message, Key):
            self.read.append(message.key)

    @property
    def reads(self) -> bool:
        return self._key_thread is not None and self._key_thread.is_alive()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """How long the reader was ready to wait, each time."""
    found: list[float | None] = []
    select = selectors.SelectSelector.select

    def noted(self: selectors.SelectSelector, timeout: float | None = None) -> Any:
        found.append(timeout)
        return select(self, timeout)

    monkeypatch.setattr(selectors.SelectSelector, "select", noted)
    return found


def test_it_looks_for_the_end_of_an_escape_and_then_sleeps(waits: list[float | None]):
    driver = Reading()
    assert driver._key_thread is not None
    driver._key_thread.start()
    os.write(driver.terminal, b"a")
    until(lambda: driver.read == ["a"])
    os.write(driver.terminal, b"\x1b")
    until(lambda: driver.read == ["a", "escape"])
    until(lambda: waits[-1] is None)
    assert sum(timeout is not None for timeout in waits) <= 4, "two looks behind each key"
    driver.disable_input()
    assert not driver.reads, "it was told to end while it slept"
    driver.disable_input()  # a second time says nothing to nobody


def test_a_terminal_that_went_away_hangs_up(monkeypatch: pytest.MonkeyPatch):
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append((process, number)))
    driver = Reading()
    assert driver._key_thread is not None
    driver._key_thread.start()
    os.close(driver.terminal)
    until(lambda: not driver.reads)
    assert [process for process, _ in sent] == [os.getpid()]
    driver.disable_input()
