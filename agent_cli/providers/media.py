"""Images and files as the services take them. One that would be refused is told of in words instead:
a conversation that holds it would be refused for ever.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from msgspec.structs import replace

from agent_cli.kernel.messages import Document, Image, Message, Part, Text, ToolResult
from agent_cli.kernel.pictures import LARGEST_SIDE, image_kind, pixels
from agent_cli.kernel.usage import ModelCard

MAX_IMAGE_BYTES = 5 * 1024 * 1024
SHORTEST_HEADER = 16
HEAD = 400_000
"""Characters in which the size of an image stands."""


MANY, MANY_SIDE = 20, 2_000
"""With more pictures than that in a request, Anthropic refuses it where one of them has more pixels on a side."""


def few_or_small(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same messages; where they hold too many pictures, the large ones are named instead of shown."""
    if sum(isinstance(block, Image) for message in messages for block in _held(message)) <= MANY:
        return messages
    return tuple(
        replace(message, parts=tuple(map(_part, message.parts)))
        if any(isinstance(block, Image) for block in _held(message))
        else message
        for message in messages
    )


def _held(message: Message) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield from part.content
        else:
            yield part


def _part(part: Part) -> Part:
    match part:
        case Image():
            return _small(part)
        case ToolResult():
            content = tuple(_small(block) if isinstance(block, Image) else block for block in part.content)
            return replace(part, content=content)
        case _:
            return part


def _small(image: Image) -> Image | Text:
    size = _pixels(image.data)
    if size is None or max(size) <= MANY_SIDE:
        return image
    return Text(
        f"[image not shown: it has {size[0]:,}\xd7{size[1]:,} pixels; beside {MANY} others the most is {MANY_SIDE:,} on a side]"
    )


def media_of(block: Image | Document, card: ModelCard) -> Image | Document | str:
    """The block, its media type as its bytes have it, or a text in its place."""
    match block:
        case Image():
            return _image(block, card)
        case Document():
            return _document(block, card)


def _image(image: Image, card: ModelCard) -> Image | str:
    if not card.images:
        return f"[image not shown: {card.id} takes no images]"
    if len(image.data) * 3 // 4 > MAX_IMAGE_BYTES:
        return f"[image not shown: it is over {MAX_IMAGE_BYTES // 1024 // 1024} MB]"
    kind = _kind(image.data)
    if kind is None:
        return "[image not shown: it is no PNG, JPEG, GIF or WebP]"
    size = _pixels(image.data)
    if size is not None and max(size) > LARGEST_SIDE:
        return f"[image not shown: it has {size[0]:,}\xd7{size[1]:,} pixels, the most is {LARGEST_SIDE:,} on a side]"
    return image if kind == image.media_type else Image(kind, image.data)


def _document(document: Document, card: ModelCard) -> Document | str:
    name = document.name or "document"
    if not card.documents:
        return f"[{name} not shown: {card.id} takes no files]"
    if document.media_type != "application/pdf":
        return f"[{name} not shown: {document.media_type} is no PDF]"
    return document


def _pixels(data: str) -> tuple[int, int] | None:
    try:
        return pixels(base64.b64decode(data[:HEAD]))
    except (binascii.Error, ValueError):
        return None


def _kind(data: str) -> str | None:
    try:
        start = base64.b64decode(data[:32], validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(start) < SHORTEST_HEADER:
        return None
    kind = image_kind(start)
    return kind.media_type if kind is not None else None
