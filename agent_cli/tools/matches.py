"""The result of a search, kept within its bound while everything found is counted."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.permissions.secrets import looks_secret
from agent_cli.tools.workspace import Workspace

BYTES = 28_000
"""Of one result, notes included."""
NOTES = 600
LINE = 500
"""Characters of one line."""


class Passed:
    """Which files a walk may show: not those of deny rules, nor, unless they were named, secret-looking ones."""

    def __init__(self, workspace: Workspace, base: str, wanted: Callable[[str], bool] | None = None) -> None:
        self.left_out = 0
        self._workspace = workspace
        self._base = base
        self._named = looks_secret(base)
        self._wanted = wanted
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._judge(path)
        return known

    def _judge(self, path: str) -> bool:
        if path == self._base:
            return True
        if self._wanted is not None and not self._wanted(path):
            return False
        closed = self._workspace.closed(path) or (not self._named and looks_secret(path))
        self.left_out += closed
        return not closed

    def note(self) -> list[str]:
        if not self.left_out:
            return []
        files = "1 file was" if self.left_out == 1 else f"{self.left_out} files were"
        return [f"{files} left out: a rule closes them, or they look as if they hold secrets"]


class Matches:
    """Lines under the name of their file, files, or counts; `shown` texts up to the bound, then only numbers."""

    def __init__(self, workspace: Workspace, passed: Passed) -> None:
        self.matches = 0
        self.files = 0
        self._workspace = workspace
        self._passed = passed
        self._entries: list[str] = []
        self._left = BYTES - NOTES
        self._full = False
        self._shown = 0
        self._file = ""
        self._last = 0

    def line(self, path: str, number: int, text: str, *, is_match: bool) -> None:
        """One line of a file, a match or a line around one."""
        if not self._passed(path):
            return
        fresh = path != self._file
        self.files += fresh
        self.matches += is_match
        shown = text.rstrip("\r")
        if len(shown) > LINE:
            shown = shown[:LINE] + " […]"
        entry = f"{number}{':' if is_match else '-'}{shown}"
        if fresh:
            entry = f"{'' if not self._file else chr(10)}{self._workspace.shown(path)}\n{entry}"
        elif number > self._last + 1 and not is_match:
            entry = f"--\n{entry}"
        self._file, self._last = path, number
        self._keep(entry, is_match)

    def whole(self, path: str, count: int = 0) -> None:
        """A file that matches, with its number of matches where they were counted."""
        if not self._passed(path):
            return
        self.files += 1
        self.matches += count
        shown = self._workspace.shown(path)
        self._keep(f"{shown}:{count}" if count else shown, True)

    def text(self, unit: str, notes: list[str]) -> str:
        """`unit` is what the bound counts: "matches" or "files"."""
        total = self.matches if unit == "matches" else self.files
        told = list(notes)
        if self._full:
            where = f" in {self.files:,} files" if unit == "matches" else ""
            told.append(f"{self._shown:,} of {total:,} {unit}{where} shown; narrow the pattern or the path")
        return "\n".join([*self._entries, *(f"[{note}]" for note in (*told, *self._passed.note()))])

    def _keep(self, entry: str, counts: bool) -> None:
        size = len(entry.encode(errors="replace")) + 1
        if self._full or size > self._left:
            self._full = True
            return
        self._left -= size
        self._shown += counts
        self._entries.append(entry)
