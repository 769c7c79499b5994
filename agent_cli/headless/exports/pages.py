"""A session as Markdown, and as one HTML page that needs nothing beside it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from agent_cli.headless.exports.story import Passage, passages
from agent_cli.headless.plain import plain
from agent_cli.kernel.events import Entry

RESULT_BYTES = 20_000
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;"
    "background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.6rem;border-radius:4px}"
    ".operator{border-left:4px solid #3366cc;padding-left:.8rem}.note{color:#666}.failed summary{color:#b00020}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}}"
)


def markdown(
    title: str, facts: dict[str, str], entries: Iterable[Entry], most: int = RESULT_BYTES
) -> Iterator[str]:
    """Pieces of text; `most` bytes of each result; control codes of what was recorded are made visible."""
    yield f"# {plain(title)}\n\n"
    yield "".join(f"- {name}: {plain(value)}\n" for name, value in facts.items())
    for passage in passages(entries, most):
        yield "\n" + plain(_markdown(passage)) + "\n"


def _markdown(passage: Passage) -> str:
    match passage.who:
        case "operator":
            return f"## You\n\n{passage.body}"
        case "agent":
            return f"## Agent\n\n{passage.body}"
        case "note":
            return f"*{passage.head}*"
        case "call":
            fence = _fence(passage.body)
            mark = "" if passage.ok else " (failed)"
            return f"**{passage.head}**{mark}\n\n{fence}\n{passage.body}\n{fence}"


def _fence(text: str) -> str:
    """Longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)


def page(title: str, facts: dict[str, str], entries: Iterable[Entry]) -> Iterator[str]:
    """Pieces of one HTML page. Everything recorded is text in it, never markup."""
    shown = _text(title)
    yield f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{shown}</title><style>{STYLE}</style>\n'
    yield f"<h1>{shown}</h1>\n<ul>"
    yield "".join(f"<li>{_text(name)}: {_text(value)}</li>" for name, value in facts.items())
    yield "</ul>\n"
    for passage in passages(entries, RESULT_BYTES):
        yield _html(passage) + "\n"
    yield "</html>\n"


def _html(passage: Passage) -> str:
    body = _text(passage.body)
    match passage.who:
        case "operator":
            return f'<section class="operator"><pre>{body}</pre></section>'
        case "agent":
            return f'<section class="agent"><pre>{body}</pre></section>'
        case "note":
            return f'<p class="note">{_text(passage.head)}</p>'
        case "call":
            failed = "" if passage.ok else ' class="failed"'
            mark = "" if passage.ok else " (failed)"
            return (
                f"<details{failed}><summary>{_text(passage.head)}{mark}</summary><pre>{body}</pre></details>"
            )


def _text(text: str) -> str:
    import html

    return html.escape(plain(text))


def day(seconds: float) -> str:
    """Local time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
