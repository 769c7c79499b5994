"""Commands that no mode and no rule lets through. A short list of catastrophes, not a boundary."""

from __future__ import annotations

import re

from agent_cli.permissions.shell import Segment, Words, unwrapped
from agent_cli.permissions.variables import segments

_FORK_BOMB = r"(?<![\w:.])([\w:.]{1,64})\s{0,64}\(\)\s{0,64}\{[^}]{0,256}?\1\s{0,64}\|\s{0,64}\1\s{0,64}&[^}]{0,256}\}\s{0,64};?\s{0,64}\1"
"""With bounds everywhere: commands may be long, and are looked at before they run."""
_DISK = r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md|dm-)\w*"
_ROOT = (
    r"/+(\.?\*)?|/+\.{1,2}/*|~/*\*?|(\$HOME|\$\{HOME\})/*\*?"
    r"|/+(home|Users)/[^/*]+/*\*?"
    r"|/+(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library)/*\*?"
)
_HERE = frozenset({"*", ".", "./", "./*"})
_STOPS = frozenset({"shutdown", "reboot", "halt", "poweroff"})
_FORMATS = frozenset({"wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "parted"})


def catastrophe(line: str) -> str | None:
    """What the line would do, None where it is none of the known catastrophes."""
    if re.search(_FORK_BOMB, line):
        return "starts a fork bomb"
    place = ""
    for segment in segments(line):
        found = _to_a_disk(segment) or next(filter(None, map(_judge, unwrapped(segment.words))), None)
        if found is not None:
            return found
        if segment.words[:1] == ("cd",):
            place = segment.words[-1]
        if re.fullmatch(_ROOT, place) and segment.words[:1] == ("rm",) and _HERE & set(segment.words):
            return _removes((*segment.words, place))
    return None


def _to_a_disk(segment: Segment) -> str | None:
    hit = next((target for target in segment.targets if re.fullmatch(_DISK, target)), None)
    return f"writes over the disk {hit}" if hit else None


def _judge(words: Words) -> str | None:
    verb, rest = words[0], words[1:]
    if verb == "rm":
        return _removes(rest)
    if verb == "find":
        return _finds(rest)
    if verb in ("chmod", "chown", "chgrp"):
        hit = _root_among(rest) if _has(rest, "R", "--recursive") else None
        return f"changes the access of everything in {hit}" if hit else None
    if (
        verb in ("dd", "tee", "shred", "cp")
        or verb in _FORMATS
        or verb.startswith(("mkfs", "mke2fs", "mkswap"))
    ):
        return _overwrites(verb, rest)
    if verb in _STOPS or (verb in ("init", "telinit") and rest[:1] in (("0",), ("6",))):
        return "stops the machine"
    if verb == "systemctl" and any(word in _STOPS for word in rest):
        return "stops the machine"
    if verb == "kill" and "-1" in rest[1:]:
        return "ends every process"
    return None


def _removes(rest: Words) -> str | None:
    if "--no-preserve-root" in rest:
        return "removes the file system"
    hit = _root_among(rest) if _has(rest, "rR", "--recursive") else None
    return f"removes everything in {hit}" if hit else None


def _finds(rest: Words) -> str | None:
    places = rest[: next((at for at, word in enumerate(rest) if word.startswith("-")), len(rest))]
    hit = _root_among(places) if "-delete" in rest else None
    return (
        f"removes everything in {hit}"
        if hit and not {"-name", "-iname", "-path", "-regex"} & set(rest)
        else None
    )


def _overwrites(verb: str, rest: Words) -> str | None:
    if verb == "dd":
        rest = tuple(word[3:] for word in rest if word.startswith("of="))
    if verb in _FORMATS and any(
        word in ("-l", "--list", "print", "-p", "--print", "--version") for word in rest
    ):
        return None
    written = rest[-1:] if verb == "cp" else rest
    hit = next((word for word in written if re.fullmatch(_DISK, word)), None)
    return f"writes over the disk {hit}" if hit else None


def _root_among(words: Words) -> str | None:
    return next((word for word in words if re.fullmatch(_ROOT, word)), None)


def _has(words: Words, letters: str, long: str) -> bool:
    return any(
        word == long
        or (word.startswith("-") and not word.startswith("--") and any(letter in word for letter in letters))
        for word in words
    )
