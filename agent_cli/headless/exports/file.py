"""A session written to a file in one of three forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from agent_cli.headless.exports import jsonl, pages
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry

Form: TypeAlias = Literal["jsonl", "markdown", "html"]


def pieces(form: Form, title: str, facts: dict[str, str], entries: Iterable[Entry]) -> Iterator[str]:
    """The text of the file, a piece at a time. `facts` stand at its head, except in JSONL."""
    match form:
        case "jsonl":
            return jsonl.lines(entries)
        case "html":
            return pages.page(title, facts, entries)
        case "markdown":
            return pages.markdown(title, facts, entries)


def write(path: Path, text: Iterator[str]) -> None:
    """Appears under its name only when it is complete; for its owner only. Raises AgentError."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)
        with unfinished.open("w", encoding="utf-8", errors="replace", newline="") as file:
            file.writelines(text)
        unfinished.replace(path)
    except OSError as problem:
        raise AgentError(f"{path} cannot be written: {problem.strerror}. Name another file.") from None
