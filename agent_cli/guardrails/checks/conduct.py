"""Whether a call is sensible now: how many there were, how much they write and delete, and what came before them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from agent_cli.guardrails.checks.check import Act, Found, Severity, Subject, Surface
from agent_cli.guardrails.checks.past import Past

MARK = re.compile(r"\[REDACTED:[a-z0-9-]{2,30}\]")
SETTLED = 8
"""Files that a session knows before it has usual places."""
SESSIONS = 5
"""Earlier sessions of a project before something is new to it."""


class Rate:
    """How often a tool is called in one turn."""

    name = "rate"
    version = "1"
    surface: Surface = "action"

    def __init__(self, severity: Severity, most: Mapping[str, int]) -> None:
        self._severity: Severity = severity
        self._most = most

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act):
            return None
        most, count = self._most.get(subject.tool), past.calls.get(subject.tool, 0) + 1
        if most is None or count <= most:
            return None
        return Found(
            self._severity, f"{subject.tool} may be called {most} times in a turn, and this is call {count}"
        )


class Volume:
    """How much is written and deleted in one turn, in bytes, single calls being small or not."""

    name = "volume"
    version = "2"
    surface: Surface = "action"

    def __init__(self, severity: Severity, written: int | None, deleted: int | None) -> None:
        self._severity: Severity = severity
        self._written = written
        self._deleted = deleted

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act):
            return None
        sums = (
            ("written", self._written, past.written, written_by(subject)),
            ("deleted", self._deleted, past.deleted, subject.deletes or 0),
        )
        works = subject.effect in ("write", "execute") and not subject.reads
        for what, most, so_far, more in sums:
            if most is None or so_far + more <= most:
                continue
            if more:
                told = f"{so_far + more:,} bytes would be {what} in this turn, and at most {most:,} may be"
                return Found(self._severity, told)
            if works:
                told = f"{so_far:,} bytes were {what} in this turn, and at most {most:,} may be: only reading is left"
                return Found(self._severity, told)
        return None


class RedactedText:
    """The mark of a secret, written where the secret itself stands."""

    name = "redacted-text"
    version = "1"
    surface: Surface = "action"

    def __init__(self, severity: Severity) -> None:
        self._severity: Severity = severity

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act) or not past.redacted or subject.effect == "read":
            return None
        mark = next((found.group() for text in subject.texts if (found := MARK.search(text))), "")
        if not mark:
            return None
        return Found(
            self._severity,
            f"the arguments hold {mark}, which stands for a secret that you cannot see: written to a file it would"
            " destroy the secret. Leave that line alone, or have the user change it",
        )


class Unread:
    """A change or the end of a file that nobody has looked at in this session."""

    name = "unread"
    version = "1"
    surface: Surface = "action"

    def __init__(
        self,
        severity: Severity,
        changes: frozenset[str] = frozenset({"edit_file", "delete_file", "apply_patch"}),
    ) -> None:
        self._severity: Severity = severity
        self._changes = changes

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act) or subject.tool not in self._changes:
            return None
        news = [use.path for use in subject.paths if use.access == "w" and use.path not in past.known]
        if not news or (
            subject.tool == "apply_patch" and "*** Add File" in "".join(subject.texts) and not subject.deletes
        ):
            return None
        what = "deleted" if subject.deletes is not None else "changed"
        return Found(
            self._severity, f"{news[0]} would be {what}, and was neither read nor written in this session"
        )


class UnusualPath:
    """A write to where this session has not looked."""

    name = "unusual-path"
    version = "1"
    surface: Surface = "action"

    def __init__(self, severity: Severity) -> None:
        self._severity: Severity = severity

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act) or subject.effect != "write":
            return None
        if len(past.known) < SETTLED:
            return None
        usual = {_place(past.cwd, path) for path in past.known}
        odd = [
            use.path for use in subject.paths if use.access == "w" and _place(past.cwd, use.path) not in usual
        ]
        return Found(self._severity, f"{odd[0]} lies where this session has not been") if odd else None


def _place(root: str, path: str) -> str:
    """The directory of a file outside of the project; in it, the part of the project that it belongs to."""
    inside = root != "/" and path.startswith(f"{root}/")
    return (
        path[len(root) + 1 :].partition("/")[0]
        if inside and "/" in path[len(root) + 1 :]
        else posixpath.dirname(path)
    )


class FirstUse:
    """A tool that no earlier session of this project has used. `sessions` is how many there were."""

    name = "first-use"
    version = "1"
    surface: Surface = "action"

    def __init__(self, severity: Severity, sessions: int, used: frozenset[str]) -> None:
        self._severity: Severity = severity
        self._sessions = sessions
        self._used = used

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act) or self._sessions < SESSIONS:
            return None
        if subject.effect in ("read", "none") or subject.tool in self._used or subject.tool in past.used:
            return None
        return Found(
            self._severity,
            f"{subject.tool} was used in none of the {self._sessions} earlier sessions of this project",
        )


def written_by(act: Act) -> int:
    """Bytes, counted from the texts that a writing call brings along."""
    return sum(len(text.encode("utf-8", "replace")) for text in act.texts) if act.effect == "write" else 0
