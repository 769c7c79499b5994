"""Big pastes: shown as a chip, sent whole."""

from __future__ import annotations

CHARACTERS = 2_000
LINES = 20


class Pastes:
    """Remembers what stands behind each chip of a draft."""

    def __init__(self) -> None:
        self._held: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text itself, or a chip where it is big."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if len(text) <= CHARACTERS and lines <= LINES:
            return text
        what = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        chip, number = f"[pasted {what}]", 1
        while self._held.get(chip, text) != text:
            number += 1
            chip = f"[pasted {what} #{number}]"
        self._held[chip] = text
        return chip

    def unfold(self, draft: str) -> str:
        """The draft with every chip replaced by what it stands for."""
        for chip, text in self._held.items():
            draft = draft.replace(chip, text)
        return draft

    def chip_before(self, text: str) -> str:
        """The chip that the text ends with, "" for none."""
        return next((chip for chip in self._held if text.endswith(chip)), "")

    def forget(self) -> None:
        self._held.clear()
