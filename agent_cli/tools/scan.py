"""The search of `grep` in plain Python, for systems without ripgrep."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Literal, Protocol

from agent_cli.kernel.errors import ToolError
from agent_cli.tools.ignore import ignored_below, walk
from agent_cli.tools.matches import LINE, Matches
from agent_cli.tools.ripgrep import SECONDS
from agent_cli.tools.workspace import Workspace

_LONGEST = 1_000_000
MOST_CONTEXT = 20


class Search(Protocol):
    """What is asked: the arguments of `grep`."""

    @property
    def pattern(self) -> str: ...
    @property
    def context(self) -> int: ...
    @property
    def case(self) -> Literal["sensitive", "ignore", "smart"]: ...
    @property
    def mode(self) -> Literal["content", "files", "count"]: ...


async def search(workspace: Workspace, asked: Search, base: str, found: Matches) -> list[str]:
    """Fills `found`; returns what is worth noting. Cancelling ends the search at the next file."""
    ignores = asked.case == "ignore" or (asked.case == "smart" and asked.pattern == asked.pattern.lower())
    try:
        regex = re.compile(asked.pattern, re.IGNORECASE if ignores else 0)
    except re.error as problem:
        raise ToolError(
            f"The pattern is no regular expression: {problem}. Escape what is meant literally."
        ) from None
    files = _files(workspace, base)
    deadline = time.monotonic() + SECONDS

    def work() -> bool:
        for path in files:
            if time.monotonic() > deadline:
                return False
            if stopped:
                return True
            _file(path, regex, asked, found)
        return True

    stopped: list[bool] = []
    try:
        in_time = await asyncio.to_thread(work)
    except asyncio.CancelledError:
        stopped.append(True)
        raise
    return [] if in_time else [f"stopped after {SECONDS:g} s, more may match: narrow the path"]


def _files(workspace: Workspace, base: str) -> Iterator[str]:
    if Path(base).is_file():
        return iter((base,))
    return walk(base, ignored_below(base, workspace.root))


def _file(path: str, regex: re.Pattern[str], asked: Search, found: Matches) -> None:
    if asked.mode == "content":
        around = min(max(asked.context, 0), MOST_CONTEXT)
        for number, text, is_match in _with_context(_lines(path), regex, around):
            found.line(path, number, text, is_match=is_match)
        return
    hits = (number for number, text in _lines(path) if regex.search(text) is not None)
    if asked.mode == "count":
        count = sum(1 for _ in hits)
        if count:
            found.whole(path, count)
    elif next(hits, None) is not None:
        found.whole(path)


def _with_context(
    lines: Iterator[tuple[int, str]], regex: re.Pattern[str], around: int
) -> Iterator[tuple[int, str, bool]]:
    before: deque[tuple[int, str]] = deque(maxlen=around)
    follow = 0
    for number, text in lines:
        shown = text[: LINE + 1]
        if regex.search(text) is not None:
            yield from ((earlier, line, False) for earlier, line in before)
            before.clear()
            yield number, shown, True
            follow = around
        elif follow:
            follow -= 1
            yield number, shown, False
        else:
            before.append((number, shown))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a text file, each up to `_LONGEST` bytes; nothing of a binary or unreadable one."""
    try:
        with Path(path).open("rb") as file:
            if b"\0" not in file.peek(8_192)[:8_192]:
                yield from enumerate(_decoded(file), 1)
    except OSError:
        return


def _decoded(file: BufferedReader) -> Iterator[str]:
    while raw := file.readline(_LONGEST):
        yield raw.rstrip(b"\r\n").decode(errors="replace")
        while raw and not raw.endswith(b"\n"):
            raw = file.readline(_LONGEST)
