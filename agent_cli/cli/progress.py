"""How far long work has come: a bar on a terminal's stderr, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


Track: TypeAlias = Callable[[Iterable[Any], int], Iterable[Any]]
"""Items and how many there are; gives them on, and counts each when the next one is taken."""


@contextmanager
def tracked(title: str) -> Generator[Track]:
    if not sys.stderr.isatty():
        yield lambda items, total: items
        return
    with _bar() as bar:
        yield lambda items, total: bar.track(items, total=total, description=title)


@contextmanager
def counted(title: str, items: Iterable[T], total: int) -> Generator[Iterable[T]]:
    with tracked(title) as track:
        yield track(items, total)


def _bar() -> Progress:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
