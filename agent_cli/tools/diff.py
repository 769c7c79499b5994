"""Unified diffs that stay cheap: what two texts share at either end is never compared."""

from __future__ import annotations

from collections.abc import Iterator

from agent_cli.kernel.events import FileDiff
from agent_cli.tools.text import readable

CONTEXT = 3
_MOST_PAIRS = 1_000_000
"""Beyond so many pairs of lines the changed part counts as replaced whole."""

Change = tuple[str, int, int, int, int]


def file_diff(path: str, before: str, after: str) -> FileDiff:
    old, new = _lines(before), _lines(after)
    body: list[str] = []
    added = removed = 0
    for group in _groups(old, new):
        body.append(_heading(group))
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                body += [f" {line}" for line in old[old_from:old_to]]
                continue
            body += [f"-{line}" for line in old[old_from:old_to]]
            body += [f"+{line}" for line in new[new_from:new_to]]
            removed += old_to - old_from
            added += new_to - new_from
    head = f"--- {path if before else '/dev/null'}\n+++ {path if after else '/dev/null'}\n" if body else ""
    return FileDiff(path, readable(head + "\n".join(body) + ("\n" if body else "")), added, removed)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _groups(old: list[str], new: list[str]) -> Iterator[list[Change]]:
    """Changes with up to `CONTEXT` equal lines around them."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return
    start, tail = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    old, new = old[start : len(old) - tail], new[start : len(new) - tail]
    for group in _compared(old, new, head - start):
        yield [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group]


def _compared(old: list[str], new: list[str], head: int) -> Iterator[list[Change]]:
    if len(old) * len(new) > _MOST_PAIRS:
        end = min(CONTEXT, len(old) - head, len(new) - head)
        while end and old[-end:] != new[-end:]:
            end -= 1
        yield [
            ("equal", 0, head, 0, head),
            ("replace", head, len(old) - end, head, len(new) - end),
            ("equal", len(old) - end, len(old), len(new) - end, len(new)),
        ]
        return
    from difflib import SequenceMatcher

    yield from SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)


def _heading(group: list[Change]) -> str:
    return f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@"


def _range(start: int, end: int) -> str:
    count = end - start
    begins = start if count == 0 else start + 1
    return str(begins) if count == 1 else f"{begins},{count}"
