"""Images and PDF as files: what they are by their first bytes, how many pixels they have, and how big they may be."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    name: str
    media_type: str


IMAGES = (
    (b"\x89PNG\r\n\x1a\n", Kind("PNG image", "image/png")),
    (b"\xff\xd8\xff", Kind("JPEG image", "image/jpeg")),
    (b"GIF87a", Kind("GIF image", "image/gif")),
    (b"GIF89a", Kind("GIF image", "image/gif")),
)
PDF = Kind("PDF document", "application/pdf")
LARGEST_IMAGE = 3_750_000
"""Bytes: 5 MB as the services take it."""
LARGEST_SIDE = 8_000
"""Pixels: a service refuses a wider or higher one, and with it every later request of the session."""
LARGEST_PDF = 20_000_000
FRAMES = frozenset({*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)})
"""Markers of a JPEG behind which its size stands."""


def image_kind(head: bytes) -> Kind | None:
    """One of the image types that models take."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind("WebP image", "image/webp")
    return next((kind for magic, kind in IMAGES if head.startswith(magic)), None)


def media_kind(head: bytes) -> Kind | None:
    """What models take beside text: an image, or PDF."""
    return PDF if head.startswith(b"%PDF-") else image_kind(head)


def pixels(data: bytes) -> tuple[int, int] | None:
    """Width and height of an image, None where its head does not say."""
    match image_kind(data[:16]):
        case Kind("PNG image") if data[12:16] == b"IHDR" and len(data) >= 24:
            return _number(data[16:20]), _number(data[20:24])
        case Kind("GIF image") if len(data) >= 10:
            return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        case Kind("JPEG image"):
            return _of_jpeg(data)
        case Kind("WebP image"):
            return _of_webp(data)
        case _:
            return None


def _of_jpeg(data: bytes) -> tuple[int, int] | None:
    """From segment to segment, up to the one that begins a frame."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in FRAMES:
            return _number(data[at + 7 : at + 9]), _number(data[at + 5 : at + 7])
        alone = marker == 0xFF or 0xD0 <= marker <= 0xD8 or marker == 1
        at += (1 if marker == 0xFF else 2) if alone else 2 + max(_number(data[at + 2 : at + 4]), 2)
    return None


def _of_webp(data: bytes) -> tuple[int, int] | None:
    form, body = data[12:16], data[20:30]
    if len(body) < 10:
        return None
    if form == b"VP8X":
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if form == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 ":
        return int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF
    return None


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
