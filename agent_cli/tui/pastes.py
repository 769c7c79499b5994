"""Big pastes and files: shown as a chip, sent whole."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.kernel.messages import Block, Text
from agent_cli.talk.attachments import LABEL

FILES_KEPT = 20
"""Files whose chip can come back from an earlier message."""
CHARACTERS = 2_000
LINES = 20


class Pastes:
    """Remembers what stands behind each chip of a draft."""

    def __init__(self) -> None:
        self._held: dict[str, str] = {}
        self._files: dict[str, Block] = {}

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

    def hold(self, label: str, block: Block) -> str:
        """The chip of a file that goes along for as long as its chip stands in the text."""
        chip, number = label, 1
        while self._files.get(chip, block) != block:
            number += 1
            chip = f"{label[:-1]} #{number}]"
        self._files[chip] = block
        while len(self._files) > FILES_KEPT:
            del self._files[next(iter(self._files))]
        return chip

    def files(self, draft: str) -> tuple[Block, ...]:
        """What goes along with the draft, in the order of its chips."""
        there = [(at, block) for chip, block in self._files.items() if (at := draft.find(chip)) >= 0]
        return tuple(block for _, block in sorted(there, key=lambda pair: pair[0]))

    def take_back(self, content: Sequence[Block]) -> str:
        """A message that was sent, as a draft again: its files stand behind its chips."""
        text = "\n".join(part.text for part in content if isinstance(part, Text))
        files = [part for part in content if not isinstance(part, Text)]
        for chip, block in zip(LABEL.findall(text), files, strict=False):
            self._files[chip] = block
        return text

    def unfold(self, draft: str) -> str:
        """The draft with every chip replaced by what it stands for."""
        for chip, text in self._held.items():
            draft = draft.replace(chip, text)
        return draft

    def chip_before(self, text: str) -> str:
        """The chip that the text ends with, "" for none."""
        return next((chip for chip in (*self._held, *self._files) if text.endswith(chip)), "")

    def forget(self) -> None:
        """What was pasted; files stay, since an earlier message may come back."""
        self._held.clear()
