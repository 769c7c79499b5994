"""Where lines of the person come from: a terminal, with editing and history, or a pipe."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from agent_cli.talk.history import History
from agent_cli.talk.untrusted import clean_line

LONGEST = 65_536
"""Bytes of a line that is typed while nothing is asked."""


class Asker(Protocol):
    """Lines of a person."""

    async def ask(self, prompt: str, default: str = "", /, *, keep: bool = False) -> str:
        """One line, kept for later where it is to be. Raises EOFError at the end, KeyboardInterrupt where it was interrupted."""
        ...

    async def heard(self) -> str:
        """A line that is typed while nothing is asked. Never returns where nobody types: a pipe's lines wait to be asked for.

        May be cancelled at any time; then nothing that was typed is lost.
        """
        ...

    def interrupt(self) -> bool:
        """Ends a question that is open; False where none is."""
        ...

    @property
    def clears(self) -> bool:
        """Whether there is a screen that can be emptied."""
        ...

    def clear(self) -> None:
        """Empties it."""
        ...


class Plain:
    """Lines of a pipe, or of a terminal that can do nothing but lines; `echoed` says that it shows what is typed."""

    clears = False

    def __init__(self, write: Callable[[str], None], *, echoed: bool, descriptor: int = 0) -> None:
        self._write = write
        self._echoed = echoed
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._reading = False
        self._open: asyncio.Task[str | None] | None = None
        self._interrupted = False

    async def ask(self, prompt: str, default: str = "", /, *, keep: bool = False) -> str:
        self._begin()
        self._write(f"{prompt}(nothing: {clean_line(default)}) " if default else prompt)
        self._open = asyncio.create_task(self._lines.get())
        try:
            line = await self._open
        except asyncio.CancelledError:
            if self._interrupted:
                self._interrupted = False
                raise KeyboardInterrupt from None
            raise
        finally:
            self._open = None
        if not self._echoed or line is None:
            self._write("\n")
        if line is None:
            self._lines.put_nowait(None)
            raise EOFError
        return line or default

    async def heard(self) -> str:
        if self._echoed:
            self._begin()
            line = await self._lines.get()
            if line is not None:
                return line
            self._lines.put_nowait(None)
        return await _never()

    def interrupt(self) -> bool:
        if self._open is None:
            return False
        self._interrupted = True
        self._open.cancel()
        return True

    def clear(self) -> None:
        """What was written stays."""

    def _begin(self) -> None:
        if not self._reading:
            self._reading = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody asks any more
            with (
                suppress(OSError),
                os.fdopen(os.dup(self._descriptor), encoding="utf-8", errors="replace") as lines,
            ):
                for line in lines:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\n"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)


class Terminal:
    """`commands` gives what may be meant by the beginning of a command; Tab asks for it."""

    clears = True

    def __init__(self, history: History, commands: Callable[[str], Sequence[str]]) -> None:
        from prompt_toolkit import PromptSession

        self._session: PromptSession[str] = PromptSession(
            history=_past(history),
            completer=_completer(commands),
            complete_while_typing=False,
            complete_style=_readline_like(),
            reserve_space_for_menu=0,
            enable_suspend=True,
            output=_output(),
        )
        self._others: PromptSession[str] = PromptSession(output=_output(), enable_suspend=True)
        self._ended = False

    async def ask(self, prompt: str, default: str = "", /, *, keep: bool = False) -> str:
        if self._ended:
            raise EOFError
        session = self._session if keep else self._others
        typed = await session.prompt_async(prompt, default=default, handle_sigint=False)
        return whole(typed)

    async def heard(self) -> str:
        """Between two questions the terminal edits lines by itself, and gives one when it is whole."""
        if sys.platform == "win32" or self._ended:  # whose event loop cannot wait for a terminal
            return await _never()
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        descriptor = sys.stdin.fileno()
        loop.add_reader(descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(descriptor)
        try:
            read = os.read(descriptor, LONGEST)
        except OSError:  # the terminal is gone
            read = b""
        if not read:  # also Ctrl+D: it counts when something is asked again
            self._ended = True
            return await _never()
        typed = read.decode("utf-8", "replace").removesuffix("\n")
        if typed.strip():
            self._session.history.append_string(typed)
        return typed

    def clear(self) -> None:
        from prompt_toolkit.shortcuts import clear

        clear()

    def interrupt(self) -> bool:
        for session in (self._session, self._others):
            if session.app.is_running:
                session.app.exit(exception=KeyboardInterrupt)
                return True
        return False


async def _never() -> str:
    return await asyncio.get_running_loop().create_future()


def whole(typed: str) -> str:
    """Bytes that are no UTF-8, which prompt_toolkit gives as halves of pairs, become U+FFFD."""
    return typed.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _output() -> Any:
    """Without asking the terminal where its cursor is: not every one answers, and a screen reader may read it out."""
    if sys.platform == "win32":
        return None
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.output.vt100 import Vt100_Output

    def size() -> Size:
        found = shutil.get_terminal_size()
        return Size(rows=found.lines, columns=found.columns)

    return Vt100_Output(sys.stdout, size, term=os.environ.get("TERM"), enable_cpr=False)


def _readline_like() -> Any:
    from prompt_toolkit.shortcuts import CompleteStyle

    return CompleteStyle.READLINE_LIKE


def _past(history: History) -> Any:
    from prompt_toolkit.history import History as Kept

    class Past(Kept):
        """The same messages that the screen has."""

        def load_history_strings(self) -> Iterable[str]:
            return history.matching("")

        def store_string(self, string: str) -> None:
            history.add(string)

    return Past()


def _completer(commands: Callable[[str], Sequence[str]]) -> Any:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class OfCommands(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            text = document.text_before_cursor
            if text.startswith("/") and " " not in text:
                for name in commands(text[1:]):
                    yield Completion(f"/{name}", start_position=-len(text))

    return OfCommands()
