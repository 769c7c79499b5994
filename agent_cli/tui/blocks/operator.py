"""What the operator said."""

from __future__ import annotations

from rich.segment import Segment

from agent_cli.kernel.messages import Block, Document, Image, Text
from agent_cli.talk.attachments import LABEL
from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import Item, head_and_tail, rows_of
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, padded, wrap

HEAD, TAIL = 12, 4
"""Lines of a long message that are shown folded."""


def words_of(content: tuple[Block, ...]) -> str:
    """The text of a message; what is not text is named where the text does not do that."""
    text = "\n".join(part.text for part in content if isinstance(part, Text))
    files = [part for part in content if not isinstance(part, Text)]
    unnamed = files[len(LABEL.findall(text)) :]
    return "\n".join(filter(None, [text, *map(_named, unnamed)]))


class Operator(Item):
    """`seq` is the number of the entry, 0 where nobody knows it."""

    __slots__ = ("_folded", "_text", "seq")

    def __init__(self, content: tuple[Block, ...], seq: int = 0) -> None:
        super().__init__()
        self.seq = seq
        self._text = words_of(content)
        self._folded = True

    def body(self, width: int, ink: Ink) -> list[Line]:
        lines = clean(self._text).split("\n")
        head, hidden, tail = head_and_tail(lines, HEAD, TAIL) if self._folded else (lines, 0, [])
        more = [f"… {hidden:,} more lines (Ctrl+O unfolds)"] if hidden else []
        inner = max(width - 5, 4)
        shown: list[Line] = []
        for text, style in (
            [(t, ink.operator) for t in head]
            + [(t, ink.operator + ink.dim) for t in more]
            + [(t, ink.operator) for t in tail]
        ):
            for row in wrap([Segment(text, style)], inner):
                line = [Segment(" "), Segment("▌ ", ink.operator_bar), *padded(row, inner + 1, ink.operator)]
                shown.append(line)
        return shown

    def estimate(self, width: int) -> int:
        return self.gap + min(rows_of(self._text, width), HEAD + TAIL + 1)

    def source(self) -> str:
        return self._text

    def toggle(self, *, folded: bool | None = None) -> bool:
        if self._text.count("\n") <= HEAD + TAIL:
            return False
        self._folded = not self._folded if folded is None else folded
        self.changed()
        return True


def _named(part: Image | Document) -> str:
    name = f"{part.name}, " if isinstance(part, Document) and part.name else ""
    return f"[{name}{part.media_type}, {len(part.data) * 3 // 4 // 1024 + 1:,} KB]"
