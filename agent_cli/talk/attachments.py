"""Pictures and PDF files that go with a message of the operator's: by what names them, or as bytes."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from agent_cli.kernel.messages import Block, Document, Image
from agent_cli.kernel.pictures import LARGEST_IMAGE, LARGEST_PDF, LARGEST_SIDE, PDF, Kind, media_kind, pixels
from agent_cli.kernel.usage import ModelCard
from agent_cli.talk.untrusted import clean_line

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"})
MOST = 20
"""Files that one message takes along."""
LONGEST = 8_000
"""Characters of a text that may be nothing but paths."""
MENTION = re.compile(r"""(?:^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))""")
LABEL = re.compile(r"\[(?:image|pdf) [^\[\]\n]+\]")


class Attached(NamedTuple):
    """`label` is what stands for it in the text of the message."""

    label: str
    block: Image | Document


class NotAttached(ValueError):
    """Says why a file does not go along."""


def attach(path: Path, card: ModelCard | None) -> Attached:
    """The file as a model takes it; without a card, as any model does. Raises NotAttached."""
    name = clean_line(path.name)
    try:
        if (size := path.stat().st_size) > LARGEST_PDF:
            raise NotAttached(_too_large(name, size, LARGEST_PDF))
        data = path.read_bytes()
    except OSError as problem:
        raise NotAttached(f"{name} cannot be read: {problem.strerror}") from None
    return of_bytes(name, data, card)


def of_bytes(name: str, data: bytes, card: ModelCard | None) -> Attached:
    """Raises NotAttached."""
    kind = media_kind(data[:16])
    if kind is None:
        raise NotAttached(f"{name} is no PNG, JPEG, GIF, WebP or PDF by what is in it")
    is_pdf = kind is PDF
    if card is not None and not (card.documents if is_pdf else card.images):
        takes = f"{card.id} takes no {'PDF files' if is_pdf else 'images'}"
        raise NotAttached(f"{takes}: {name} is named, and not shown to it. /model changes the model")
    if len(data) > (largest := LARGEST_PDF if is_pdf else LARGEST_IMAGE):
        raise NotAttached(_too_large(name, len(data), largest))
    size = None if is_pdf else pixels(data)
    if size is not None and max(size) > LARGEST_SIDE:
        has = f"{name} has {size[0]:,}\xd7{size[1]:,} pixels"
        raise NotAttached(
            f"{has}, and {LARGEST_SIDE:,} on a side can be sent to a model: make it smaller first"
        )
    return Attached(_label(name, data, kind), _block(name, data, kind))


def named(text: str, cwd: str) -> list[Path]:
    """The files of a text that is nothing but their paths, as a terminal gives those that are dropped on it."""
    stripped = text.strip()
    if not stripped or len(stripped) > LONGEST or not any(suffix in stripped.lower() for suffix in SUFFIXES):
        return []
    if "\n" not in stripped and (whole := _path(stripped, cwd)) is not None:
        return [whole]
    try:
        words = shlex.split(stripped)
    except ValueError:
        return []
    found = [path for word in words if (path := _path(word, cwd)) is not None]
    return found[:MOST] if len(found) == len(words) else []


def mentioned(typed: str, cwd: str, card: ModelCard | None) -> tuple[tuple[Block, ...], list[str]]:
    """The pictures and PDF files behind each `@` of what somebody typed, and why some do not go along.

    Text that others wrote names nothing: it would give away files of this machine.
    """
    blocks: list[Block] = []
    troubles: list[str] = []
    for path in _mentions(typed, cwd):
        try:
            blocks.append(attach(path, card).block)
        except NotAttached as problem:
            troubles.append(str(problem))
    return tuple(blocks), troubles


def _mentions(text: str, cwd: str) -> Iterator[Path]:
    seen: set[Path] = set()
    for quoted, plain in MENTION.findall(text):
        path = _path(quoted or plain.rstrip(".,;:!?)"), cwd)
        if path is not None and path not in seen and len(seen) < MOST:
            seen.add(path)
            yield path


def _path(word: str, cwd: str) -> Path | None:
    """The picture or PDF file that a word names, None where it names none."""
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    if not any(word.lower().endswith(suffix) for suffix in SUFFIXES):
        return None
    try:
        path = Path(cwd or ".").expanduser() / Path(word).expanduser()
        return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, a home that nobody has
        return None


def _label(name: str, data: bytes, kind: Kind) -> str:
    name = name.replace("[", "(").replace("]", ")")
    if kind is PDF:
        return f"[pdf {name} {len(data) // 1024 + 1:,} KB]"
    size = pixels(data)
    return f"[image {name} {size[0]}\xd7{size[1]}]" if size else f"[image {name}]"


def _block(name: str, data: bytes, kind: Kind) -> Image | Document:
    held = base64.b64encode(data).decode()
    return Document(kind.media_type, held, name) if kind is PDF else Image(kind.media_type, held)


def _too_large(name: str, size: int, largest: int) -> str:
    return f"{name} has {size:,} bytes, and {largest:,} can be sent to a model: make it smaller first"
