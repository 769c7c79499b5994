"""What the program says, as lines of plain text: words instead of marks and colours, nothing that a terminal obeys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_cli.kernel.outputs import Display, FileDiff, Shown
from agent_cli.kernel.todo import TodoStatus
from agent_cli.talk.amounts import counted, tokens
from agent_cli.talk.answers import Alarm, Answer, Filling, Level, Note, Table, Todos
from agent_cli.talk.changed import Changed
from agent_cli.talk.untrusted import clean

INDENT = "  "
DRAWN = re.compile("[━╌┿▁-█ ]*[━╌┿▁-█] *")
"""What pictures a figure that stands beside it."""
PREFIX: dict[Level, str] = {"info": "", "warning": "warning: ", "error": "error: "}
STATUS: dict[TodoStatus, str] = {"done": "done", "in_progress": "now", "pending": "to do"}
MOST = 400
"""Lines of diffs that are shown of all changes."""


def lines_of(answer: Answer) -> list[str]:
    match answer:
        case Note(text, level):
            return clean(f"{PREFIX[level]}{text}").split("\n")
        case Alarm(title, text, level):
            return [clean(f"{PREFIX[level]}{title}"), *_indented(text)]
        case Table(title, rows):
            return _table(title, rows)
        case Filling(title, rows):
            return _table(title, [*rows, ("", ""), ("What fills it", ""), *_parts(answer)])
        case Todos(items):
            listed = (f"{STATUS[item.status]}: {item.text}" for item in items)
            return [f"To do: {counted(items)}", *(clean(f"{INDENT}{each}") for each in listed)]
        case Changed():
            return _changes(answer)


def _parts(filling: Filling) -> list[tuple[str, str]]:
    """What fills the window, what is free of it, and where reduction begins."""
    window, limit = filling.window, filling.limit
    parts = [(share.name, share.tokens) for share in filling.shares]
    if window:
        parts.append(("free", max(window - filling.used, 0)))
        parts += [("threshold", limit)] if limit else []
    whole = window or filling.used
    return [(name, f"{tokens(count)} tokens, {count / whole:.1%}") for name, count in parts]


def shown(display: Display) -> str:
    match display:
        case Shown(text):
            return clean(text)
        case FileDiff(diff=diff):
            return clean(diff)


def _table(title: str, rows: Sequence[tuple[str, str]]) -> list[str]:
    lines = [clean(title)] if title else []
    for name, text in rows:
        if not text:
            lines.append(clean(name))
            continue
        first, *more = clean(DRAWN.sub("", text)).split("\n")
        lines.append(f"{INDENT}{clean(name)}: {first}" if name else f"{INDENT}{INDENT}{first}")
        lines += [f"{INDENT}{INDENT}{line}" for line in more]
    return lines


def _changes(found: Changed) -> list[str]:
    added, removed = sum(file.added for file in found.files), sum(file.removed for file in found.files)
    count = len(found.files)
    lines = [
        f"{count} file{'s' * (count != 1)} changed {found.since}: {added} lines added, {removed} removed"
    ]
    for file in found.files:
        lines.append(clean(f"{file.path}: {file.added} added, {file.removed} removed"))
        if len(lines) < MOST:
            lines += _indented(file.diff)
    return [*lines, *(clean(f"warning: {told}") for told in found.unknown)]


def _indented(text: str) -> list[str]:
    return [f"{INDENT}{line}" for line in clean(text).rstrip().split("\n")] if text.strip() else []
