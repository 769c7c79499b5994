"""Searching the earlier messages: a line that is typed into, and the match in the composer."""

from __future__ import annotations

from agent_cli.talk.history import History


class PastSearch:
    """Begins from a draft, which `leave` gives back. `step` goes on to an older match."""

    def __init__(self, past: History, draft: str) -> None:
        self._past = past
        self.draft = draft
        self.sought = ""
        self._at = 0

    def seek(self, sought: str) -> str:
        """The newest message that holds it; the draft for nothing."""
        self.sought, self._at = sought, 0
        return self._match()

    def step(self) -> str:
        """An older one, the oldest again where none is older."""
        self._at += 1
        found = self._match()
        if not found:
            self._at = max(self._at - 1, 0)
            found = self._match()
        return found

    def _match(self) -> str:
        if not self.sought:
            return self.draft
        found = self._past.matching(self.sought)
        return found[self._at] if self._at < len(found) else ""
