"""Markdown of a model as styled lines. Its text is data: nothing in it is markup of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rich.segment import Segment
from rich.style import Style

from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.code import coloured
from agent_cli.tui.blocks.item import INDENT, PROSE, Item, rows_of
from agent_cli.tui.blocks.table import table
from agent_cli.tui.ink import DARK, Ink, ink_of
from agent_cli.tui.wrap import Line, padded, wrap

STEADY = 4_000
"""Characters above which a piece that still grows is not set anew each time: it stays plain until it is whole."""

BULLETS = ("•", "◦", "▪")


class Prose(Item):
    """A finished piece of Markdown, or the open end of a stream that still grows."""

    __slots__ = ("_raw", "open")

    def __init__(self, text: str, *, open: bool = False, gap: int = 1) -> None:  # noqa: A002  what it is
        super().__init__(gap=gap)
        self.open = open
        self._raw = text

    def replace(self, text: str) -> None:
        if text != self._raw:
            self._raw = text
            self.changed()

    def close(self) -> None:
        self.open = False
        self.changed()

    def body(self, width: int, ink: Ink) -> list[Line]:
        inner = max(width - 2 * len(INDENT), 8)
        if self.open and (len(self._raw) > STEADY or self._raw.startswith("|")):
            return plain(self._raw, inner, ink.text)
        return [[Segment(INDENT), *line] if line else [] for line in markdown(self._raw, inner, ink)]

    @property
    def _is_wide(self) -> bool:
        return self._raw.lstrip().startswith("|")

    def estimate(self, width: int) -> int:
        return rows_of(self._raw, width) + self.gap

    def source(self) -> str:
        return self._raw

    def codes(self) -> Sequence[str]:
        if "```" not in self._raw and "~~~" not in self._raw:
            return ()
        return tuple(
            token.content.rstrip("\n") for token in _parser().parse(self._raw) if token.type == "fence"
        )


def plain(text: str, width: int, style: Style) -> list[Line]:
    """The text as it is, wrapped at words and indented like prose."""
    lines: list[Line] = []
    for line in clean(text).split("\n"):
        lines.extend([Segment(INDENT), *row] for row in wrap([Segment(line, style)], min(width, PROSE)))
    return lines


def markdown(text: str, width: int, ink: Ink) -> list[Line]:
    """The lines of a piece of Markdown, at most `width` cells each."""
    writer = _Writer(width, ink)
    tokens = _parser().parse(clean(text))
    at = 0
    while at < len(tokens):
        at = writer.block(tokens, at)
    return writer.lines


def warm() -> None:
    """Imports what the first piece of Markdown and the first fence need. May run in a thread."""
    _parser().parse("*x*")
    coloured(["x = 1"], "python", ink_of(DARK))


@cache
def _parser() -> Any:
    """CommonMark with tables and strike-through; HTML is text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@dataclass(slots=True)
class _Prefix:
    """What stands before the lines of a container: once `first`, then `rest`."""

    first: Segment | None
    rest: Segment


class _Writer:
    """Turns block tokens into lines, one container inside the other."""

    def __init__(self, width: int, ink: Ink) -> None:
        self.lines: list[Line] = []
        self.width = width
        self.ink = ink
        self._prefixes: list[_Prefix] = []
        self._lists: list[int | None] = []  # the next number, None in a list of bullets
        self._fresh = True  # nothing stands yet in the innermost container
        self._tight = False

    def block(self, tokens: list[Any], at: int) -> int:
        """Writes the block that begins at that token; returns where the next one begins."""
        token = tokens[at]
        match token.type:
            case "paragraph_open":
                self._tight = token.hidden
                return at + 1
            case "inline":
                self._paragraph(token, tokens[at - 1])
            case "fence" | "code_block":
                self._fence(token)
            case "hr":
                self._space()
                self._emit([Segment("─" * min(self._room(), PROSE), self.ink.faint)])
            case "table_open":
                return self._table(tokens, at)
            case "bullet_list_open" | "ordered_list_open":
                self._open_list(token)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._open_item(token)
            case "blockquote_open":
                self._space()
                self._prefixes.append(_Prefix(None, Segment("│ ", self.ink.faint)))
                self._fresh = True
            case "list_item_close" | "blockquote_close":
                self._close()
            case _:
                pass
        return at + 1

    def _paragraph(self, token: Any, opened: Any) -> None:
        base = self.ink.text
        if opened.type == "heading_open":
            base = self.ink.heading if opened.tag in ("h1", "h2") else self.ink.strong
        elif any(prefix.rest.text == "│ " for prefix in self._prefixes):
            base = self.ink.quote
        self._space()
        lines = spans(token.children or (), base, self.ink)
        if self._prefixes and self._prefixes[-1].first:
            _tick(lines[0])
        for line in lines:
            for row in wrap(line, min(self._room(), PROSE)):
                self._emit(row)

    def _fence(self, token: Any) -> None:
        self._space()
        lines = token.content.rstrip("\n").split("\n")
        language = token.info.split()[0] if token.info.strip() else ""
        room = self._room()
        for line in coloured(lines, language, self.ink):
            for row in wrap(line, max(room - 4, 4), words=False):
                self._emit(padded([Segment("  ", self.ink.fence), *row], room, self.ink.fence))

    def _table(self, tokens: list[Any], at: int) -> int:
        rows: list[list[Line]] = []
        aligns: list[str] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                base = self.ink.strong if token.type == "th_open" else self.ink.text
                cell = [
                    segment
                    for line in spans(tokens[at + 1].children or (), base, self.ink)
                    for segment in line
                ]
                rows[-1].append(cell)
                if len(rows) == 1:
                    aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
            at += 1
        self._space()
        for line in table(rows, aligns, self._room(), self.ink.faint):
            self._emit(line)
        return at + 1

    def _open_list(self, token: Any) -> None:
        if not self._lists:
            self._space()
        ordered = token.type == "ordered_list_open"
        self._lists.append(int(token.attrGet("start") or 1) if ordered else None)
        self._tight = True

    def _open_item(self, token: Any) -> None:
        number = self._lists[-1]
        if number is None:
            mark = BULLETS[(len(self._lists) - 1) % len(BULLETS)] + " "
        else:
            mark = f"{token.info or number}. "
            self._lists[-1] = number + 1
        self._prefixes.append(_Prefix(Segment(mark, self.ink.accent), Segment(" " * len(mark))))
        self._fresh = True

    def _close(self) -> None:
        prefix = self._prefixes[-1]
        if prefix.first is not None:  # an item without content
            self._emit([])
        self._prefixes.pop()
        self._fresh = False

    def _space(self) -> None:
        """A blank line between blocks; none at the start of a container and inside a tight list."""
        if self.lines and not self._fresh and not (self._tight and self._lists):
            self._emit([])
        self._fresh = False

    def _room(self) -> int:
        return max(self.width - sum(len(prefix.rest.text) for prefix in self._prefixes), 8)

    def _emit(self, line: Line) -> None:
        lead: Line = []
        for prefix in self._prefixes:
            lead.append(prefix.first or prefix.rest)
            prefix.first = None
        self.lines.append([*lead, *line])


def spans(tokens: Sequence[Any], base: Style, ink: Ink) -> list[Line]:
    """Inline tokens as lines of styled text, broken where the text has a line break."""
    lines: list[Line] = [[]]
    styles = [base]
    targets: list[tuple[str, int]] = []
    for token in tokens:
        match token.type:
            case "strong_open":
                styles.append(styles[-1] + ink.strong)
            case "em_open":
                styles.append(styles[-1] + ink.emphasis)
            case "s_open":
                styles.append(styles[-1] + ink.struck)
            case "link_open":
                targets.append((str(token.attrGet("href") or ""), len(lines[-1])))
                styles.append(styles[-1] + ink.link)
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "link_close":
                styles.pop()
                _target(lines[-1], *targets.pop(), ink)
            case "code_inline":
                lines[-1].append(Segment(clean(token.content), ink.code))
            case "softbreak" | "hardbreak":
                lines.append([])
            case "image":
                lines[-1].append(Segment(clean(f"[image: {token.content or 'without a title'}]"), ink.dim))
            case _:
                if token.content:
                    lines[-1].append(Segment(clean(token.content), styles[-1]))
    return lines


def _tick(line: Line) -> None:
    """A task of a list gets its box."""
    box = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}.get(line[0].text[:4]) if line else None
    if box:
        line[0] = Segment(box + line[0].text[4:], line[0].style)


def _target(line: Line, target: str, start: int, ink: Ink) -> None:
    """Shows where a link really goes, unless its text is that already."""
    shown = "".join(segment.text for segment in line[start:])
    if target and target not in (shown, f"mailto:{shown}"):
        line.append(Segment(f" ({clean(target)})", ink.faint))
