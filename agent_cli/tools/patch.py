"""Reads patches: the `*** Begin Patch` format and unified diffs, both into the same sections."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.kernel.errors import ToolError

Kind: TypeAlias = Literal["add", "update", "delete"]


class Hunk(NamedTuple):
    """Whole lines to be replaced, with their ends. `anchors` are lines above the place, `line` its number (0: unknown).

    `is_last` says that the old lines end the file.
    """

    old: str
    new: str
    anchors: tuple[str, ...] = ()
    line: int = 0
    is_last: bool = False


class Section(NamedTuple):
    """What happens to one file. `text` is the content of a new one."""

    kind: Kind
    path: str
    move_to: str = ""
    hunks: tuple[Hunk, ...] = ()
    text: str = ""


_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_HEAD = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = "*** Move to: "
_LAST = "*** End of File"
_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def sections_of(patch: str) -> list[Section]:
    """Raises ToolError naming the line that cannot be read."""
    lines = _unwrapped(patch.replace("\r\n", "\n").split("\n"))
    reader = _Lines(lines)
    has_heads = any(_HEAD.fullmatch(line.rstrip()) for line in lines)
    found = list(_sections(reader) if has_heads else _unified(reader))
    if not found:
        raise ToolError(
            "The patch holds no section: begin with '*** Begin Patch' and '*** Update File: PATH', "
            "'*** Add File: PATH' or '*** Delete File: PATH'."
        )
    twice = {section.path for section in found if sum(one.path == section.path for one in found) > 1}
    if twice:
        raise ToolError(f"{min(twice)} has two sections: put its changes into one.")
    return found


def _unwrapped(lines: list[str]) -> list[str]:
    """Without what models put around a patch: fences, a here-document."""
    bare = [line.rstrip() for line in lines]
    start = bare.index(_BEGIN) + 1 if _BEGIN in bare else 0
    end = bare.index(_END, start) if _END in bare[start:] else len(lines)
    kept = lines[start:end]
    while kept and (not kept[-1].strip() or kept[-1].startswith("```")) and _BEGIN not in bare:
        kept.pop()
    while kept and kept[0].startswith("```"):
        kept.pop(0)
    return kept


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def peek(self, further: int = 0) -> str | None:
        at = self._at + further
        return self._lines[at] if at < len(self._lines) else None

    def take(self) -> str:
        line = self._lines[self._at]
        self._at += 1
        return line

    def wrong(self, why: str) -> ToolError:
        return ToolError(
            f"Line {self._at} of the patch {why}: {self._lines[self._at - 1]!r}. Nothing was changed."
        )


def _sections(reader: _Lines) -> list[Section]:
    found: list[Section] = []
    while (line := reader.peek()) is not None:
        reader.take()
        if not line.strip():
            continue
        head = _HEAD.fullmatch(line.rstrip())
        if head is None:
            raise reader.wrong("belongs to no section")
        kind, path = head.groups()
        if kind == "Add":
            found.append(Section("add", path.strip(), text=_added(reader)))
        elif kind == "Delete":
            found.append(Section("delete", path.strip()))
        else:
            found.append(_update(reader, path.strip()))
    return found


def _added(reader: _Lines) -> str:
    lines: list[str] = []
    while (line := reader.peek()) is not None and not line.startswith("*** "):
        reader.take()
        if line.startswith("+"):
            lines.append(line[1:])
        elif line.strip():
            raise reader.wrong("is no line of a new file: each begins with +")
    return "".join(f"{line}\n" for line in lines)


def _update(reader: _Lines, path: str) -> Section:
    move_to = ""
    if (reader.peek() or "").startswith(_MOVE):
        move_to = reader.take()[len(_MOVE) :].strip()
    hunks: list[Hunk] = []
    anchors: list[str] = []
    line_number = 0
    while (line := reader.peek()) is not None and _HEAD.fullmatch(line.rstrip()) is None:
        if line.startswith("@@"):
            reader.take()
            numbers = _RANGE.match(line)
            line_number = int(numbers.group(1)) if numbers else 0
            text = (line[numbers.end() :] if numbers else line[2:].removesuffix(" @@")).strip()
            anchors += [text] if text and not numbers else []
            continue
        hunk = _hunk(reader, tuple(anchors), line_number)
        anchors, line_number = [], 0
        if hunk is not None:
            hunks.append(hunk)
    return Section("update", path, move_to, tuple(hunks))


def _hunk(reader: _Lines, anchors: tuple[str, ...], number: int) -> Hunk | None:
    sides = _Sides()
    while (line := reader.peek()) is not None:
        is_last = line.rstrip() == _LAST
        if line.startswith(("@@", "*** ")) and not is_last:
            break
        reader.take()
        if is_last:
            sides.is_last = True
        elif line and line[0] not in " +-\\":
            raise reader.wrong("begins with none of ' ', '+', '-', '@@'")
        else:
            sides.add(line)
    sides.drop_blank_end()  # empty lines before the next section belong to nobody
    return sides.hunk(anchors, number)


class _Sides:
    """The lines of a hunk before and after."""

    def __init__(self) -> None:
        self.is_last = False
        self._old: list[str] = []
        self._new: list[str] = []
        self._open = [False, False]
        self._mark = " "
        self._blank = 0

    def add(self, line: str) -> None:
        """An empty line is one that stays; the backslash says that the line before it has no end."""
        mark, text = (line[0], line[1:]) if line else (" ", "")
        if mark == "\\":
            self._open = [self._open[0] or self._mark != "+", self._open[1] or self._mark != "-"]
            return
        self._blank = 0 if line else self._blank + 1
        self._mark = mark
        self._old += [text] if mark != "+" else []
        self._new += [text] if mark != "-" else []

    def drop_blank_end(self) -> None:
        if self._blank:
            del self._old[-self._blank :], self._new[-self._blank :]

    def hunk(self, anchors: tuple[str, ...], number: int) -> Hunk | None:
        if not self._old and not self._new:
            return None
        old, new = _text(self._old, is_open=self._open[0]), _text(self._new, is_open=self._open[1])
        return Hunk(old, new, anchors, number, self.is_last or self._open[0])


def _text(lines: list[str], *, is_open: bool) -> str:
    return "\n".join(lines) + ("" if is_open or not lines else "\n")


# ── unified diffs ──


def _unified(reader: _Lines) -> list[Section]:
    found: list[Section] = []
    renamed = ""
    while (line := reader.peek()) is not None:
        reader.take()
        if line.startswith("rename from "):
            renamed = line.removeprefix("rename from ").strip()
        elif line.startswith("rename to "):
            if not (reader.peek() or "").startswith(("--- ", "index ")):
                found.append(Section("update", renamed, line.removeprefix("rename to ").strip()))
        elif line.startswith("--- ") and (reader.peek() or "").startswith("+++ "):
            found.append(_diffed(reader, _name(line), _name(reader.take())))
        elif line.startswith(("GIT binary patch", "Binary files ")):
            raise reader.wrong("is a binary change, which cannot be applied")
    return found


def _name(line: str) -> str:
    name = line[4:].partition("\t")[0].strip().strip('"')
    return "" if name == "/dev/null" else re.sub(r"^[ab]/", "", name)


def _diffed(reader: _Lines, before: str, after: str) -> Section:
    hunks: list[Hunk] = []
    while (line := reader.peek()) is not None and line.startswith("@@"):
        reader.take()
        numbers = _RANGE.match(line)
        if numbers is None:
            raise reader.wrong("is no heading of a hunk such as '@@ -1,2 +1,3 @@'")
        hunk = _diff_hunk(reader, numbers)
        hunks += [hunk] if hunk is not None else []
    if not before:
        return Section("add", after, text="".join(hunk.new for hunk in hunks))
    if not after:
        return Section("delete", before)
    return Section("update", before, after if after != before else "", tuple(hunks))


def _diff_hunk(reader: _Lines, heading: re.Match[str]) -> Hunk | None:
    """Until the next heading; the counts of the heading, which models get wrong, only tell `--- ` from a line."""
    sides = _Sides()
    left = int(heading.group(2) or 1) + int(heading.group(3) or 1)
    while (line := reader.peek()) is not None and (not line or line[0] in " +-\\"):
        is_heading = line.startswith("--- ") and (reader.peek(1) or "").startswith("+++ ")
        if left <= 0 and (not line or is_heading):
            break
        reader.take()
        left -= 2 if not line or line[0] == " " else line[0] in "+-"
        sides.add(line)
    return sides.hunk((), int(heading.group(1)))
