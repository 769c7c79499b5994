"""An image from the clipboard of this machine, through the program that is there for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

LONGEST = 3.0
"""Seconds that a program may take."""
MISSING = (
    "no program here reads an image from the clipboard ({wanted}): "
    "drop the file on the terminal, or name it with @"
)


class Reader(NamedTuple):
    """`kinds` lists what the clipboard holds, () where nobody needs to ask; `read` writes the image as PNG."""

    kinds: tuple[str, ...]
    read: tuple[str, ...]


READERS = (
    Reader(("wl-paste", "--list-types"), ("wl-paste", "--type", "image/png")),
    Reader(
        ("xclip", "-selection", "clipboard", "-t", "TARGETS", "-o"),
        ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ),
    Reader((), ("pngpaste", "-")),
    Reader((), ("osascript", "-e", "get the clipboard as «class PNGf»")),
)
HEX = re.compile(rb"PNGf([0-9A-Fa-f]+)")


def readers() -> list[Reader]:
    """The programs that are here; none where there is no desktop."""
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform != "darwin" and not desktop:
        return []
    return [reader for reader in READERS if shutil.which(reader.read[0]) is not None]


def missing() -> str:
    """What to say where there is none."""
    wanted = "pngpaste" if sys.platform == "darwin" else "wl-paste, xclip"
    return MISSING.format(wanted=wanted)


def picture() -> bytes:
    """The image in it, b"" for none. Waits for the program; never raises."""
    for reader in readers():
        if reader.kinds and b"image/png" not in _said(reader.kinds):
            continue
        said = _said(reader.read)
        coded = HEX.search(said) if reader.read[0] == "osascript" else None
        data = bytes.fromhex(coded[1].decode()) if coded else said
        if data.startswith(b"\x89PNG"):
            return data
    return b""


def _said(command: tuple[str, ...]) -> bytes:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
