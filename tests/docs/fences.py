"""Fenced blocks of the pages: what is in them, and how it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """`kind` is the first word behind the fence, `note` the rest: why it is not run, or that it opens the screen."""

    page: str
    line: int
    kind: str
    note: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Without comments that stand alone, with continued lines joined."""
        joined = self.text.replace("\\\n", " ").splitlines()
        return [line for line in joined if line.strip() and not line.startswith("#")]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        kind, _, note = found[1].strip().partition(" ")
        yield Block(page.name, text.count("\n", 0, found.start()) + 1, kind, note, found[2])
