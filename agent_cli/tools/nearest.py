"""What may have been meant: paths near one that is not there, lines near a text that is not found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_MOST_ENTRIES = 3_000
_MOST_LINES = 4_000
_SKIPPED = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "target", "dist", "build"}
)


def near_paths(path: str, root: str) -> list[str]:
    """Up to three existing paths: like-named ones beside it, and the same name elsewhere under `root`."""
    import difflib

    wanted = Path(path)
    parent, name = wanted.parent, wanted.name
    while parent != parent.parent and not parent.is_dir():
        parent, name = parent.parent, parent.name
    lower = {entry.name.casefold(): entry for entry in _entries(parent)}
    close = difflib.get_close_matches(name.casefold(), lower, n=3, cutoff=0.6)
    beside = [lower[match] for match in close]
    same = (there for there in _walk(Path(root)) if there.name.casefold() == wanted.name.casefold())
    elsewhere = list(islice(same, 3))
    found = [*beside, *elsewhere] if parent == wanted.parent else elsewhere or beside
    return [str(there) for there in dict.fromkeys(found)][:3]


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _walk(root: Path) -> Iterator[Path]:
    """Paths under the root, nearest first, at most `_MOST_ENTRIES`."""
    waiting = [root]
    left = _MOST_ENTRIES
    for directory in waiting:
        for there in _entries(directory):
            left -= 1
            if left < 0:
                return
            yield there
            if there.name not in _SKIPPED and there.is_dir() and not there.is_symlink():
                waiting.append(there)


def near_lines(lines: list[str], wanted: list[str]) -> list[int]:
    """Up to three indexes where the wanted lines may begin, the likeliest first."""
    import difflib

    key = max(wanted, key=lambda line: len(line.strip()), default="").strip()
    if not key:
        return []
    back = wanted.index(next(line for line in wanted if line.strip() == key))
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        places.setdefault(line.strip()[:500], []).append(index)
    alike = [line for line in places if line and abs(len(line) - len(key)) <= max(20, len(key) // 2)]
    close = difflib.get_close_matches(key[:500], alike[:_MOST_LINES], n=3, cutoff=0.5)
    return [max(0, index - back) for line in close for index in places[line]][:3]
