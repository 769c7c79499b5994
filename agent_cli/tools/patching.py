"""Applies the hunks of one file to its text: each where its lines stand, in order."""

from __future__ import annotations

from agent_cli.kernel.errors import ToolError
from agent_cli.tools.match import Place, line_places
from agent_cli.tools.nearest import near_lines
from agent_cli.tools.patch import Hunk
from agent_cli.tools.text import Endings

_SHOWN_LINES = 6
_SHOWN_WIDTH = 160


def patched(text: str, endings: Endings, hunks: tuple[Hunk, ...], shown: str) -> tuple[str, list[str]]:
    """The text after all of them, and what is worth saying. Raises ToolError."""
    notes: list[str] = []
    cursor = moved = 0
    for number, hunk in enumerate(hunks, 1):
        label = f"Hunk {number} of {shown}" if len(hunks) > 1 else f"The hunk of {shown}"
        start = _behind_anchors(text, hunk, cursor, label)
        expected = hunk.line + moved if hunk.line else 0
        how, place = _insertion(text, hunk, start, expected) or _place(text, hunk, start, expected, label)
        if how != "exact":
            notes.append(f"{label} matched {how}.")
        text = endings.splice(text, place.start, place.end, place.new)
        cursor = place.start + len(place.new)
        moved += place.new.count("\n") - hunk.old.count("\n")
    return text, notes


def _behind_anchors(text: str, hunk: Hunk, start: int, label: str) -> int:
    for anchor in hunk.anchors:
        found = _line_that_is(text, anchor, start)
        if found is None:
            raise ToolError(
                f"{label}: there is no line {anchor!r} (from `@@`) from line {_number(text, start)} on. "
                "Nothing was changed."
            )
        start = found
    return start


def _line_that_is(text: str, anchor: str, start: int) -> int | None:
    """Where the first line behind `start` that reads like the anchor ends; else one that begins so."""
    ends: dict[bool, int] = {}
    at = start
    for line in text[start:].splitlines(keepends=True):
        at += len(line)
        if line.strip().startswith(anchor):
            ends.setdefault(line.strip() == anchor, at)
    return ends.get(True, ends.get(False))


def _insertion(text: str, hunk: Hunk, start: int, expected: int) -> tuple[str, Place] | None:
    """Where lines go of which the hunk only says that they come."""
    if hunk.old:
        return None
    at = start if hunk.anchors else len(text)
    if hunk.line and not hunk.anchors:
        at = sum(len(line) for line in text.splitlines(keepends=True)[:expected])
    new = hunk.new
    if at == len(text) and text and not text.endswith("\n"):
        new = "\n" + new.removesuffix("\n")
    return "exact", Place(at, at, new)


def _place(text: str, hunk: Hunk, start: int, expected: int, label: str) -> tuple[str, Place]:
    how, every = line_places(text, hunk.old, hunk.new)
    found = [place for place in every if place.start >= start]
    if hunk.is_last:
        found = [place for place in found if place.end >= len(text.rstrip("\n"))]
    if not found:
        raise ToolError(_not_found(text, hunk, start, label))
    if len(found) == 1 or hunk.anchors:
        return how, found[0]
    if expected:
        near = sorted(found, key=lambda place: abs(_number(text, place.start) - expected))
        first, second = (abs(_number(text, place.start) - expected) for place in near[:2])
        if first < second:
            return how, near[0]
    lines = ", ".join(str(_number(text, place.start)) for place in found[:8])
    raise ToolError(
        f"{label}: its lines stand {len(found)} times, at lines {lines}. Nothing was changed: give more lines "
        "around the change, or name a line above it behind `@@`."
    )


def _number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _not_found(text: str, hunk: Hunk, start: int, label: str) -> str:
    earlier = [place for place in line_places(text, hunk.old, hunk.new)[1] if place.start < start]
    if earlier:
        return (
            f"{label}: its lines stand at line {_number(text, earlier[0].start)}, above the change before it. "
            "Nothing was changed: give the changes of a file from top to bottom."
        )
    told = [f"{label}: its lines are not in the file. Nothing was changed."]
    if hunk.new.strip() and hunk.new in text:
        told.append(f"The new lines already stand at line {_number(text, text.find(hunk.new))}.")
    lines, wanted = text.split("\n"), hunk.old.removesuffix("\n").split("\n")
    for begin in near_lines(lines, wanted):
        end = min(len(lines), begin + min(len(wanted), _SHOWN_LINES))
        told.append(f"Near it, from line {begin + 1}:")
        told += [f"{at + 1}\t{lines[at][:_SHOWN_WIDTH]}" for at in range(begin, end)]
    return "\n".join(told)
