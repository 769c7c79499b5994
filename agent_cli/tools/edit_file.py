"""Replaces parts of one file: all edits or none."""

from __future__ import annotations

from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Display, Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.match import Place, places
from agent_cli.tools.nearest import near_lines
from agent_cli.tools.prose import spec_of
from agent_cli.tools.text import Endings, flat, plain, readable
from agent_cli.tools.workspace import Workspace
from agent_cli.tools.writing import Change, carry_out, changed, check_known, standing

TELLING = 6
"""Characters of a new text from which on it says something that it stands in the file already: `x` stands anywhere."""
_SHOWN_LINES = 6
_SHOWN_WIDTH = 160


class Edit(Arguments, frozen=True):
    old: Annotated[str, for_people("text to replace, as it stands in the file")]
    new: Annotated[str, for_people("text to put there; empty removes")]
    replace_all: Annotated[bool, for_people("every occurrence; default exactly one")] = False


class EditArguments(Arguments, frozen=True):
    path: Annotated[str, for_people("absolute, ~ or relative to the working directory")]
    edits: tuple[Edit, ...]


class EditFile:
    arguments = EditArguments
    read_only = False
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("edit_file", EditArguments, registered)
        self._workspace = workspace

    def touches(self, args: EditArguments, /) -> Touches:
        return self._workspace.touches("write", args.path)

    def preview(self, args: EditArguments, /) -> Display:
        try:
            return self._change(args).diff
        except ToolError as problem:
            return Shown(str(problem))

    def foreseen(self, args: EditArguments, /) -> str:
        try:
            self._change(args)
        except ToolError as problem:
            return str(problem)
        return ""

    async def run(self, args: EditArguments, say: Say, /) -> Output:
        change = self._change(args)
        if change.is_nothing:
            told = f"{change.standing.shown} already reads like that; nothing was changed."
            return Output((Text(told),), no_op=True)
        return await carry_out(self._workspace, args.path, change)

    def _change(self, args: EditArguments) -> Change:
        path = self._workspace.target(args.path)
        held = standing(self._workspace, path)
        if held.raw is None:
            raise self._workspace.missing(path)
        if held.text is None:
            raise ToolError(f"{held.shown} is no text file; it cannot be edited.")
        if not args.edits:
            raise ToolError("`edits` is empty: give at least one {old, new}.")
        check_known(self._workspace, held, must_be_read=False)
        text, endings = flat(held.text), Endings(held.text)
        notes: list[str] = []
        for number, edit in enumerate(args.edits, 1):
            label = f"edit {number}" if len(args.edits) > 1 else "the edit"
            text, note = _applied(text, endings, edit, label, held.shown)
            notes += [note] if note else []
        return changed(held, endings.restore(text), tuple(notes))


def _applied(text: str, endings: Endings, edit: Edit, label: str, shown: str) -> tuple[str, str]:
    """The text after one edit, and what is worth saying about it. Raises ToolError."""
    old, new = plain(edit.old), plain(edit.new)
    if not old:
        raise ToolError(f"`old` of {label} is empty. Give the text to replace; nothing was changed.")
    how, found = places(text, old, new)
    if not found:
        raise ToolError(_not_found(text, old, new, label, shown))
    if len(found) > 1 and not edit.replace_all:
        raise ToolError(_ambiguous(text, found, label, shown))
    apart = _apart(found)
    for place in reversed(apart):
        text = endings.splice(text, place.start, place.end, place.new)
    notes = [f"{label.capitalize()} matched {how}."] if how != "exact" else []
    if edit.replace_all:
        notes.append(f"{label.capitalize()} replaced {len(apart)} occurrences.")
    return text, " ".join(notes)


def _apart(found: list[Place]) -> list[Place]:
    """The places from the left that do not overlap."""
    apart: list[Place] = []
    for place in found:
        if not apart or place.start >= apart[-1].end:
            apart.append(place)
    return apart


def _ambiguous(text: str, found: list[Place], label: str, shown: str) -> str:
    lines = [text.count("\n", 0, place.start) + 1 for place in found[:8]]
    more = f" and {len(found) - 8} more" if len(found) > 8 else ""
    return (
        f"`old` of {label} stands {len(found)} times in {shown}: at lines {', '.join(map(str, lines))}{more}. "
        "Nothing was changed: add lines around it until it is unique, or set replace_all."
    )


def _not_found(text: str, old: str, new: str, label: str, shown: str) -> str:
    told = [f"`old` of {label} is not in {shown}. Nothing was changed."]
    if len(new.strip()) >= TELLING and new in text:
        told.append(f"The new text already stands at line {text.count(chr(10), 0, text.find(new)) + 1}.")
    lines, wanted = text.split("\n"), old.removesuffix("\n").split("\n")
    near = near_lines(lines, wanted)
    if not near:
        told.append("No line comes near it: read the file again.")
    for start in near:
        end = min(len(lines), start + min(len(wanted), _SHOWN_LINES))
        told.append(f"Near it, from line {start + 1}:")
        told += [f"{at + 1}\t{readable(lines[at][:_SHOWN_WIDTH])}" for at in range(start, end)]
    return "\n".join(told)
