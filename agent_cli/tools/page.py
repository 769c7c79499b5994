"""A web page as Markdown, and the parts of a long text that speak of something."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

_DROPPED = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "form", "dialog")
_LEAST = 200
"""Characters from which a `main` or `article` counts as the content of the page."""
_BLANK = re.compile(r"[ \t]+\n")
_GAPS = re.compile(r"\n{3,}")
_WORD = re.compile(r"\w{3,}")


def markdown_of(raw: bytes, charset: str | None, url: str) -> tuple[str, str]:
    """Title and text. Links become absolute; scripts, styles and what is hidden are left out."""
    from bs4 import BeautifulSoup

    soup: Any = BeautifulSoup(raw, "html.parser", from_encoding=charset)
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for node in soup.find_all(string=_is_comment):
        node.extract()
    for node in soup.find_all(_is_dropped):
        node.decompose()
    for link in soup.find_all("a", href=True):
        link["href"] = _absolute(url, str(link["href"]))
    for image in soup.find_all("img"):
        image.replace_with(str(image.get("alt") or ""))
    return title, _tidy(_converted(_content(soup)))


def _is_comment(text: object) -> bool:
    from bs4 import Comment

    return isinstance(text, Comment)


def _is_dropped(node: Any) -> bool:
    return (
        node.name in _DROPPED
        or node.has_attr("hidden")
        or node.get("aria-hidden") == "true"
        or "display:none" in str(node.get("style") or "").replace(" ", "").lower()
    )


def _absolute(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return href


def _content(soup: Any) -> Any:
    for name in ("main", "article"):
        found = soup.find_all(name)
        if len(found) == 1 and len(found[0].get_text(strip=True)) >= _LEAST:
            return found[0]
    return soup.body or soup


def _converted(node: Any) -> str:
    from markdownify import MarkdownConverter

    converter: Any = MarkdownConverter(heading_style="ATX", bullets="-", escape_misc=False)
    try:
        return str(converter.convert_soup(node))
    except RecursionError:
        return str(node.get_text("\n"))


def _tidy(text: str) -> str:
    return _GAPS.sub("\n\n", _BLANK.sub("\n", text.replace("\xa0", " "))).strip()


def about(text: str, wanted: str, size: int) -> str:
    """The parts of a text that hold most of the wanted words, in their order, at most `size` bytes.

    "" where none holds any. What is left out between two parts is marked.
    """
    words = {word.casefold() for word in _WORD.findall(wanted)}
    parts = _parts(text)
    scores = [len(words & {word.casefold() for word in _WORD.findall(part)}) for part in parts]
    chosen: set[int] = set()
    for at in sorted(range(len(parts)), key=lambda at: (-scores[at], at)):
        cost = len(parts[at].encode()) + len(_GAP)
        if scores[at] == 0 or cost > size:
            continue
        size -= cost
        chosen.add(at)
    if not chosen:
        return ""
    shown: list[str] = []
    for at, part in enumerate(parts):
        if at in chosen:
            shown.append(part)
        elif not shown or shown[-1] != _GAP:
            shown.append(_GAP)
    return "\n\n".join(shown)


_GAP = "[…]"
_PART = 1_500


def _parts(text: str) -> list[str]:
    """Paragraphs, joined to parts of about `_PART` characters; a heading begins a new one."""
    parts: list[str] = []
    for paragraph in text.split("\n\n"):
        if parts and not paragraph.startswith("#") and len(parts[-1]) + len(paragraph) < _PART:
            parts[-1] += f"\n\n{paragraph}"
        else:
            parts += [paragraph[at : at + _PART * 4] for at in range(0, len(paragraph) or 1, _PART * 4)]
    return parts
