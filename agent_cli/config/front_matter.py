"""What stands between two lines of `---` at the top of a Markdown file: as much of YAML as people write there."""

from __future__ import annotations

import re

from agent_cli.kernel.values import Plain

EDGE = re.compile(r"---[ \t]*")
KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|)")
ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
FOLDED = frozenset({">", ">-", ">+", "|", "|-", "|+"})


class NoFront(Exception):
    """The text cannot be read so; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class Front(Plain, frozen=True):
    """`facts` are the texts by key, `lists` those that were written as a list, `lines` where each key stands."""

    facts: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    lines: dict[str, int]
    body: str

    def words(self, key: str) -> tuple[str, ...]:
        """The items of a list, however it is written: a list, or one text with commas; without commas, blanks."""
        if key in self.lists:
            return self.lists[key]
        return tuple(parted(self.facts.get(key, "")))


def read(text: str) -> Front | None:
    """None where the text begins with no front matter. Raises NoFront."""
    lines = text.replace("\r\n", "\n").split("\n")
    if not EDGE.fullmatch(lines[0]):
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if EDGE.fullmatch(line)), 0)
    if not end:
        raise NoFront(1, "the front matter has no end: a second line of ---")
    reading = _Reading(lines[:end])
    reading.run()
    return Front(reading.facts, reading.lists, reading.lines, "\n".join(lines[end + 1 :]).strip())


def parted(text: str) -> list[str]:
    """At commas, else at blanks, outside of parentheses: `Bash(git add:*), Read`."""
    by = "," if re.search(r",(?![^(]*\))", text) else " "
    parts = re.findall(rf"(?:\([^)]*\)|[^{by}(])+", text)
    return [bare(part) for part in parts if part.strip()]


def bare(text: str) -> str:
    """Without the quotes around it, or without the comment behind it."""
    text = text.strip()
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].rstrip() if text[:1] not in "\"'" else text


class _Reading:
    def __init__(self, lines: list[str]) -> None:
        self._rows = lines
        self._at = 1
        self.facts: dict[str, str] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self.lines: dict[str, int] = {}

    def run(self) -> None:
        while self._at < len(self._rows):
            row, number = self._rows[self._at], self._at + 1
            self._at += 1
            if not row.strip() or row.lstrip().startswith("#"):
                continue
            found = KEY.fullmatch(row.rstrip())
            if found is None:
                raise NoFront(number, f"this is no `key: value`: {row.strip()[:60]}")
            if found[1] in self.lines:
                raise NoFront(number, f"`{found[1]}` stands here a second time")
            self.lines[found[1]] = number
            self._value(found[1], (found[2] or "").strip())

    def _value(self, key: str, said: str) -> None:
        below = self._below()
        if said in FOLDED:
            self.facts[key] = ("\n" if said[0] == "|" else " ").join(row.strip() for row in below).strip()
        elif said.startswith("[") and said.endswith("]"):
            self.lists[key] = tuple(bare(part) for part in said[1:-1].split(",") if part.strip())
        elif not said and below and all(ITEM.fullmatch(row) for row in below if row.strip()):
            self.lists[key] = tuple(bare(ITEM.sub(r"\1", row)) for row in below if row.strip())
        else:
            self.facts[key] = " ".join([bare(said), *(row.strip() for row in below if row.strip())]).strip()

    def _below(self) -> list[str]:
        """The rows that belong to the key above them: those that stand further in, and items of a list."""
        start = self._at
        while self._at < len(self._rows) and (
            not self._rows[self._at].strip()
            or self._rows[self._at][0] in " \t"
            or ITEM.fullmatch(self._rows[self._at])
        ):
            self._at += 1
        return self._rows[start : self._at]
