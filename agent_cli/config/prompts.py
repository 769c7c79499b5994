"""Slash commands of the operator's own: `commands/NAME.md` in the user's directory and in the project's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from agent_cli.kernel.values import Plain

LIMIT = 32 * 1024
"""Bytes; a larger file is no prompt and is left out."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
HEAD = re.compile(r"\A---[ \t]*\n(.*?)\n?---[ \t]*(?:\n|\Z)", re.DOTALL)
FACT = re.compile(r"(description|argument-hint):[ \t]*(.*)")


class Prompt(Plain, frozen=True):
    """`arguments` says what may be typed behind the name."""

    name: str
    body: str
    path: str
    description: str = ""
    arguments: str = ""


def read_prompts(directories: Iterable[Path]) -> tuple[Prompt, ...]:
    """Of two with one name the later counts. What cannot be read or is empty is left out."""
    found: dict[str, Prompt] = {}
    for directory in directories:
        for path in sorted(directory.glob("*.md")):
            prompt = _prompt(path)
            if prompt is not None:
                found[prompt.name] = prompt
    return tuple(found[name] for name in sorted(found))


def _prompt(path: Path) -> Prompt | None:
    name = path.stem.casefold()
    try:
        if not NAME.fullmatch(name) or not path.is_file() or path.stat().st_size > LIMIT:
            return None
        text = path.read_text("utf-8", "replace")
    except OSError:
        return None
    head = HEAD.match(text)
    facts = dict(FACT.findall(head[1])) if head else dict[str, str]()
    body = (text[head.end() :] if head else text).strip()
    if not body:
        return None
    return Prompt(
        name, body, str(path), _bare(facts.get("description", "")), _bare(facts.get("argument-hint", ""))
    )


def _bare(text: str) -> str:
    return text.strip().strip("\"'")
