"""A text that comes in pieces, without what looks like a secret: no piece of one is let out before all of it is known.

What is held back is the word that is not over yet, or all of a private key. What was let out is the redacted text, in
order; `rest` gives what is still held.
"""

from __future__ import annotations

import re

from agent_cli.guardrails.secrets import in_use
from agent_cli.guardrails.secrets.scan import find

LINE = 400
"""Characters before the held ones that a name of a setting may stand in."""
LONGEST = 8_000
"""Characters of a word that is held; of a longer one the beginning is let out."""
KEPT = 600
_BLOCK = "-----BEGIN "
_END = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
_HEADER = re.compile(r"-----BEGIN [A-Z0-9 ]{0,60}(?:PRIVATE KEY(?: BLOCK)?-----|-{0,4}\Z)")
_WORD = "".join(chr(code) for code in range(33, 127) if chr(code) not in "()[]{}<>,;|")
"""What a word with a secret in it is made of, quotes and the sign between name and value included."""


class Flow:
    """Of one text. `kinds` are what was replaced so far."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""
        self.kinds: list[str] = []

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        self._held += piece
        cut = self._safe()
        return self._let_out(cut) if cut else ""

    def rest(self) -> str:
        return self._let_out(len(self._held))

    def _safe(self) -> int:
        """How much of what is held cannot be the beginning of a secret."""
        held = self._held
        block = held.rfind(_BLOCK)
        if block >= 0 and _HEADER.match(held, block) and not _END.search(held, block):
            return self._before_block(block)
        start = min(len(held.rstrip(_WORD)), in_use.begun(held))
        return start if len(held) - start < LONGEST else len(held) - KEPT

    def _before_block(self, block: int) -> int:
        return block if len(self._held) - block < 4 * LONGEST else len(self._held)

    def _let_out(self, cut: int) -> str:
        """The spans are looked for with what was let out before, so that a name there counts."""
        text, at = self._before + self._held, len(self._before)
        end = at + cut
        parts: list[str] = []
        for span in find(text):
            if span.end > at and span.start < end:
                parts += (text[at : max(at, span.start)], f"[REDACTED:{span.kind}]")
                self.kinds.append(span.kind)
                at = span.end
                end = max(end, at)
        parts.append(text[at:end])
        self._before, self._held = text[max(0, end - LINE) : end], text[end:]
        return "".join(parts)
