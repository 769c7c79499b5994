"""The files of a tree by what somebody types of their names: fast for a hundred thousand of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

MOST = 40
"""Paths that are offered at once."""
NEAR = 400
"""Hits of one kind that are looked at; the best of them are offered."""
RARE = 5_000
"""A letter that stands no more often in the whole tree is gone to at once."""


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
        self._last: tuple[str, list[int], int] = (
            "",
            [],
            0,
        )  # typed, what has its letters, where the look ended
        self._counts: dict[str, int] = {}
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
        """Letters with gaps between. What was found for fewer letters is looked at first, then the rest of the tree."""
        among, end = self._last[1:] if wanted.startswith(self._last[0]) else ([], 0)
        steps = "".join(f"[^\\n{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted)
        line = re.compile(f"^{steps}", re.MULTILINE)
        hits = [at for at in among if line.match(self._text, self._starts[at])]
        for number in self._lines(line, min(wanted, key=self._count), end):
            if len(hits) >= NEAR:
                break
            hits.append(number)
            end = self._starts[number + 1] - 1
        else:
            end = len(self._text)
        found.update(dict.fromkeys(hits, ()))
        self._last = wanted, hits, end

    def _lines(self, line: re.Pattern[str], rarest: str, at: int) -> Iterator[int]:
        """Those that match, from that place on; with a rare letter only those that have it are looked at."""
        if self._count(rarest) > RARE:
            for match in line.finditer(self._text, at):
                yield bisect_right(self._starts, match.start()) - 1
            return
        while (place := self._text.find(rarest, at)) >= 0:
            number = bisect_right(self._starts, place) - 1
            if line.match(self._text, self._starts[number]):
                yield number
            at = self._starts[number + 1] - 1

    def _count(self, letter: str) -> int:
        if letter not in self._counts:
            self._counts[letter] = self._text.count(letter)
        return self._counts[letter]

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
