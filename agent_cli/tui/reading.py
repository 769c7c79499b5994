"""Reads what the terminal sends: wakes when something comes, never to look whether something did."""

from __future__ import annotations

import os
import selectors
import signal
import termios
import tty
from collections.abc import Iterable
from typing import Any

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from agent_cli.tui.incoming import Decoder

LOOKS = 2
"""How often it is looked after the last byte whether an escape was a key of its own; Textual (8.x) looks ten times a
second, for as long as it runs."""
CHUNK = 4_096


class Bell:
    """Ends a wait for files from another thread: `fileno` has something to read once it rang."""

    def __init__(self) -> None:
        self.fileno, self._other = os.pipe()
        self.rang = False

    def ring(self) -> None:
        self.rang = True
        os.write(self._other, b"!")

    def close(self) -> None:
        os.close(self.fileno)
        os.close(self._other)


class TerminalDriver(LinuxDriver):
    """Textual's, with a reader of keys that sleeps while none comes. A terminal that went away hangs up."""

    _bell: Bell | None = None

    def start_application_mode(self) -> None:
        self._bell = Bell()
        super().start_application_mode()
        if self.attrs_before is not None:
            _mend(self.attrs_before)

    def disable_input(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None:
            bell.ring()
            super().disable_input()  # waits for the reader
            bell.close()

    def run_input_thread(self) -> None:
        bell = self._bell
        if bell is None:
            return
        parser, decode, looks = XTermParser(self._debug), Decoder().decode, 0
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(bell.fileno, selectors.EVENT_READ)
            while True:
                ready = selector.select(constants.ESCAPE_DELAY if looks else None)
                if bell.rang:
                    return
                looks = LOOKS if ready else max(looks - 1, 0)
                data = _read(self.fileno) if ready else b""
                if ready and not data:
                    os.kill(os.getpid(), signal.SIGHUP)
                    return
                if text := decode(data):
                    self._pass(parser.feed(text))
                self._pass(parser.tick())

    def _pass(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


def _mend(attributes: list[Any]) -> None:
    """The terminal as it is to be afterwards: not as a program left it that was killed while it read keys."""
    if not attributes[tty.LFLAG] & (termios.ECHO | termios.ICANON):
        attributes[tty.LFLAG] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
        attributes[tty.IFLAG] |= termios.ICRNL | termios.IXON
        attributes[tty.OFLAG] |= termios.OPOST | termios.ONLCR


def _read(terminal: int) -> bytes:
    """Nothing where the terminal went away."""
    try:
        return os.read(terminal, CHUNK)
    except OSError:
        return b""
