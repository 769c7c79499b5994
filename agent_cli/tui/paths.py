"""The files of a tree by what somebody types of their names: fast for a hundred thousand of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

MOST = 40
"""Paths that are offered at once."""
NEAR = 400
"""Hits of one kind that are looked at; the best of them are offered."""


class Paths:
    """`find` gives the closest first: names that begin so, names and directories that hold it, letters in order."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._text = "\n" + "\n".join(paths).lower()
        self._starts = [1]
        for path in paths:
            self._starts.append(self._starts[-1] + len(path) + 1)
        if self._starts[-1] != len(self._text) + 1:  # a letter that is longer when it is small
            self._text = "\n" + "\n".join(paths)
        self._last: tuple[str, list[int] | None] = ("", None)  # what was typed, and all that has its letters
        self._shallow = sorted(
            range(min(len(paths), 5_000)), key=lambda at: (paths[at].count("/"), paths[at])
        )

    def find(self, typed: str) -> list[str]:
        wanted = typed.lower().strip("\n")
        if not wanted:
            return [self._paths[at] for at in self._shallow[:MOST]]
        found: dict[int, tuple[int, ...]] = {}
        for start in ("/", "\n"):
            self._hits(start + wanted, found)
        if len(found) < NEAR:
            self._hits(wanted, found)
        if not found:
            self._letters(wanted, found)
        ranked = sorted(found, key=lambda at: (*self._rank(at, wanted), self._paths[at]))
        return [self._paths[at] for at in ranked[:MOST]]

    def _hits(self, wanted: str, found: dict[int, tuple[int, ...]]) -> None:
        at, hits = self._text.find(wanted), 0
        while at >= 0 and hits < NEAR:
            number = bisect_right(self._starts, at + (wanted[0] == "\n")) - 1
            found[number] = ()
            hits += 1
            at = self._text.find(wanted, self._starts[number + 1] - 1)

    def _letters(self, wanted: str, found: dict[int, tuple[int, ...]]) -> None:
        """Letters with gaps between; each line is walked through once."""
        before, among = self._last
        steps = "".join(f"[^\\n{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted)
        if among is not None and wanted.startswith(before):
            line = re.compile(steps)
            hits = [at for at in among if line.match(self._text, self._starts[at])]
        else:
            matches = islice(re.finditer(f"^{steps}", self._text, re.MULTILINE), NEAR)
            hits = [bisect_right(self._starts, match.start()) - 1 for match in matches]
        found.update(dict.fromkeys(hits, ()))
        self._last = wanted, hits if len(hits) < NEAR else None

    def _rank(self, at: int, wanted: str) -> tuple[int, int]:
        path = self._paths[at].lower()
        name = path[path.rfind("/") + 1 :]
        if name.startswith(wanted):
            return (0 if name == wanted else 1), len(path)
        if wanted in name:
            return 2, len(path)
        return (3 if wanted in path else 4), len(path)


def token(text: str) -> str | None:
    """What stands behind the `@` that is being typed at the end of the text, None where none is."""
    found = re.search(r"(?:^|[\s(])@([^\s@]*)$", text)
    return found.group(1) if found else None


def quoted(path: str) -> str:
    """As it is written into a message: with quotes where it has blanks."""
    return f'"{path}"' if re.search(r"\s", path) else path
