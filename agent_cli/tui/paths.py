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
LOOK = 1_000_000
"""Characters that are looked at for letters with gaps between, for one key."""
SAMPLE, OFTEN = 200_000, 500
"""A letter that stands so often in so many characters is not rare."""
START = len("\n/")
"""What stands before each path in the text that is searched."""


class Paths:
    """`find` gives the closest first: names that begin so, names and directories that hold it, letters in order."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._text = _one_text(paths).lower()
        self._starts = [START]
        for path in paths:
            self._starts.append(self._starts[-1] + len(path) + START)
        if self._starts[-1] != len(self._text) + START:  # a letter that is longer when it is small
            self._text = _one_text(paths)
        self._absent = "\n"  # the last that stands nowhere: nor does what holds it
        self._last: tuple[str, list[int], int] = ("", [], 0)  # typed, what has its letters, up to where
        self._counts: dict[str, int] = {}
        self._shallow = sorted(
            range(min(len(paths), 5_000)), key=lambda at: (paths[at].count("/"), paths[at])
        )
        self.unfinished = False
        """The last `find` did not look everywhere; the next one for the same goes on."""

    def find(self, typed: str) -> list[str]:
        return [self._paths[at] for at in self.places(typed)]

    def places(self, typed: str, *, gaps: bool = True) -> list[int]:
        """The same by their numbers; without `gaps` only what holds it as it is."""
        self.unfinished = False
        wanted = typed.lower().strip("\n")
        if not wanted:
            return self._shallow[:MOST]
        found = dict.fromkeys(self._hits(wanted)) if self._absent not in wanted else {}
        if len(found) == NEAR:
            found.update(dict.fromkeys(self._hits(f"/{wanted}")))
        elif not found:
            self._absent = self._absent if self._absent in wanted else wanted
            found = dict.fromkeys(self._letters(wanted) if gaps else ())
        return sorted(found, key=lambda at: (*self._rank(at, wanted), self._paths[at]))[:MOST]

    def _hits(self, wanted: str) -> list[int]:
        """Those that hold it, the first of them. Each stands behind a slash, as if it lay in a directory."""
        hits: list[int] = []
        at = self._text.find(wanted)
        while at >= 0 and len(hits) < NEAR:
            hits.append(bisect_right(self._starts, at + 1) - 1)
            at = self._text.find(wanted, self._starts[hits[-1] + 1] - START)
        return hits

    def _letters(self, wanted: str) -> list[int]:
        """Letters with gaps between. What was found for fewer letters is looked at first, then the rest of the tree."""
        among, end = self._last[1:] if wanted.startswith(self._last[0]) else ([], 0)
        steps = "".join(f"[^\\n{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted)
        line = re.compile(f"\\n/{steps}")  # literals to begin with are gone to at once
        hits = [at for at in among if line.match(self._text, self._starts[at] - START)]
        last = self._starts[bisect_right(self._starts, end + LOOK) - 1] - START
        until = last if end + LOOK < len(self._text) else len(self._text)
        for number in self._lines(line, min(wanted, key=self._count), end, until):
            if len(hits) >= NEAR:
                break
            hits.append(number)
            end = self._starts[number + 1] - START
        else:
            end = until
        self._last = wanted, hits, end
        self.unfinished = end < len(self._text) and len(hits) < NEAR
        return hits

    def _lines(self, line: re.Pattern[str], rarest: str, at: int, until: int) -> Iterator[int]:
        """Those that match, between these places; with a rare letter only those that have it are looked at."""
        if self._count(rarest) > RARE:
            for match in line.finditer(self._text, at, until):
                yield bisect_right(self._starts, match.start() + START) - 1
            return
        while (place := self._text.find(rarest, at, until)) >= 0:
            number = bisect_right(self._starts, place + 1) - 1
            if line.match(self._text, self._starts[number] - START):
                yield number
            at = self._starts[number + 1] - START

    def _count(self, letter: str) -> int:
        """How often it stands in the tree; only more than RARE where its beginning says that it is many times."""
        if letter not in self._counts:
            some = self._text.count(letter, 0, SAMPLE)
            self._counts[letter] = some + RARE if some > OFTEN else self._text.count(letter)
        return self._counts[letter]

    def _rank(self, at: int, wanted: str) -> tuple[int, int]:
        path = self._paths[at].lower()
        name = path[path.rfind("/") + 1 :]
        if name.startswith(wanted):
            return (0 if name == wanted else 1), len(path)
        if wanted in name:
            return 2, len(path)
        return (3 if wanted in path else 4), len(path)


def _one_text(paths: Sequence[str]) -> str:
    return "\n/" * bool(paths) + "\n/".join(paths)


def token(text: str) -> str | None:
    """What stands behind the `@` that is being typed at the end of the text, None where none is."""
    found = re.search(r"(?:^|[\s(])@([^\s@]*)$", text)
    return found.group(1) if found else None


def quoted(path: str) -> str:
    """As it is written into a message: with quotes where it has blanks."""
    return f'"{path}"' if re.search(r"\s", path) else path
