"""What a server returns → what the model reads."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agent_cli.kernel.messages import Block, Document, Image, Text
from agent_cli.kernel.outputs import Output
from agent_cli.kernel.pictures import LARGEST_IMAGE, LARGEST_PDF, LARGEST_SIDE, PDF, media_kind, pixels

if TYPE_CHECKING:
    from mcp_types import CallToolResult

LARGEST_TEXT = 2_000_000
"""Characters of one result: all of them are looked through for secrets, and meanwhile nothing else happens."""
MOST_PIECES = 1_000
CUT = "[cut: the server returned more than the {most:,} characters, or {pieces:,} pieces, that are taken of one result]"
NOTHING = "(the tool returned nothing)"


def output_of(result: CallToolResult) -> Output:
    """`no_op` is never set: that is for our own tools to say. Failures of the tool are results that failed."""
    blocks = tuple(blocks_of(result.content))
    structured = result.structured_content
    if structured is not None and not any(isinstance(block, Text) and block.text.strip() for block in blocks):
        blocks = (*blocks, Text(json.dumps(structured, ensure_ascii=False, indent=1)))
    blocks = tuple(_joined(_bounded(blocks)))
    return Output(
        blocks or (Text(NOTHING),), ok=not result.is_error, empty=not blocks and not result.is_error
    )


def _bounded(blocks: Iterable[Block]) -> Iterator[Block]:
    """The beginning of what is too much, and that it is."""
    left, cut = LARGEST_TEXT, Text(CUT.format(most=LARGEST_TEXT, pieces=MOST_PIECES))
    for at, block in enumerate(blocks):
        if at == MOST_PIECES:
            yield cut
            return
        if isinstance(block, Text):
            if len(block.text) > left:
                yield Text(block.text[:left])
                yield cut
                return
            left -= len(block.text)
        yield block


def _joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Neighbouring texts as one: what of it is kept elsewhere can be read on by an offset then."""
    for is_text, run in groupby(blocks, key=lambda block: isinstance(block, Text)):
        if is_text:
            yield Text("\n".join(block.text for block in run if isinstance(block, Text)))
        else:
            yield from run


def blocks_of(content: Iterable[Any]) -> Iterator[Block]:
    """Pieces of content of any kind; what no model can read is named."""
    for piece in content:
        match piece.type:
            case "text":
                yield Text(piece.text)
            case "image":
                yield _media(piece.data, "image")
            case "audio":
                yield Text(f"[audio of type {piece.mime_type}, which is not shown]")
            case "resource_link":
                told = f" ({piece.description})" if piece.description else ""
                yield Text(f"[resource {piece.uri}: {piece.name}{told}]")
            case "resource":
                yield from resource_blocks([piece.resource])
            case _:
                yield Text(f"[content of the unknown type {piece.type!r}]")


def resource_blocks(contents: Iterable[Any]) -> Iterator[Block]:
    """The contents of a resource, each with its address."""
    for held in contents:
        text: str | None = getattr(held, "text", None)
        if text is not None:
            yield Text(f'<resource uri="{held.uri}">\n{text}\n</resource>')
        else:
            yield Text(f"[resource {held.uri}, {held.mime_type or 'of no type'}]")
            yield _media(getattr(held, "blob", ""), f"resource {held.uri}")


def _media(data: str, what: str) -> Block:
    """By what the bytes are, not by what a server calls them."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text(f"[{what}: its data is no base64, so it is not shown]")
    kind = media_kind(raw[:16])
    if kind is None:
        return Text(f"[{what}: {len(raw):,} bytes that are no picture or PDF, so they are not shown]")
    largest = LARGEST_PDF if kind is PDF else LARGEST_IMAGE
    size = None if kind is PDF else pixels(raw)
    if len(raw) > largest or (size is not None and max(size) > LARGEST_SIDE):
        return Text(f"[{what}: a {kind.name} of {len(raw):,} bytes, too large to be shown]")
    plain = base64.b64encode(raw).decode()
    return Document(kind.media_type, plain) if kind is PDF else Image(kind.media_type, plain)
