"""Every tool result passes one bound once, before it enters the log."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Block, Text

DEFAULT_BYTES = 32_000
BATCH_BYTES = 200_000
"""Of all results of one step together."""
ENVELOPE_BYTES = 51_200
"""What an envelope takes at most, itself included."""
LEAST_BYTES = 1_000
"""What each result may have, however many there are."""
NOTE_BYTES = 400
"""Of the line between head and tail, with a long path."""

Keep = Callable[[str], str]
"""Keeps a whole text in a file and gives its path, "" where that failed."""

_LEFT_OUT = "[… {left_out:,} of {total:,} bytes left out here{where} …]"
_KEPT = re.compile(
    r"^\[… [\d,]+ of ([\d,]+) bytes left out here; all of it is in (.+?)(?:; go on with .*)? …\]$",
    re.MULTILINE,
)


class Room(msgspec.Struct):
    """What the results of one step may still take, in bytes; `waiting` of them are to come. Belongs to that step."""

    left: int = BATCH_BYTES
    waiting: int = 0

    def take(self, output: Output, limit: int | None, keep: Keep | None = None, how: str = "") -> Output:
        """The output within `limit` (None: its tool has a bound of its own) and within what is left of it for this one, so
        that each of those to come has its least.
        """
        self.waiting = max(0, self.waiting - 1)
        free = self.left - NOTE_BYTES - self.waiting * (LEAST_BYTES + NOTE_BYTES)
        most = max(LEAST_BYTES, free if limit is None else min(limit, free))
        bounded = bound(output, most, keep, how)
        self.left -= sum(len(block.text.encode()) for block in bounded.for_model if isinstance(block, Text))
        return bounded


def bound(output: Output, limit: int = DEFAULT_BYTES, keep: Keep | None = None, how: str = "") -> Output:
    """The output with texts of at most `limit` bytes in all: of each that has to be cut head and tail, half of its share
    each, cut between characters.

    Between them stands what is missing, where all of it is kept, and `how` to go on ({offset}: where the head
    ends). JSON that could not be kept stays JSON: an object with `truncatedToolResult`, `originalBytes`, `head`
    and `tail`. Within the limit the output is byte-identical and nothing is kept.
    """
    texts = [block.text for block in output.for_model if isinstance(block, Text)]
    if sum(map(len, texts)) * 4 <= limit or sum(len(text.encode()) for text in texts) <= limit:
        return output
    kept = keep("\n".join(texts)) if keep is not None else ""
    offers = how if len(texts) == 1 else ""  # an offset counts in the one text
    share = limit // len(texts)
    blocks = tuple(_bound_block(block, share, kept, offers) for block in output.for_model)
    return msgspec.structs.replace(output, for_model=blocks)


def kept_in(text: str) -> tuple[str, str] | None:
    """The size and the path of the whole result, where this is what is left of one."""
    found = _KEPT.search(text)
    return (found[1], found[2]) if found else None


def _bound_block(block: Block, limit: int, kept: str, how: str) -> Block:
    if not isinstance(block, Text):
        return block
    raw = block.text.encode(errors="replace")
    if len(raw) <= limit:
        return block
    if not kept and _is_json(raw):
        return Text(_envelope(raw, min(limit, ENVELOPE_BYTES)))
    return Text(ends_of(raw, limit, len(raw), kept, how))


def ends_of(raw: bytes, room: int, whole: int, kept: str = "", how: str = "") -> str:
    """Head and tail of a text, `room` bytes of both, and between them what is missing of `whole` bytes, as `bound` does."""
    head = raw[: room // 2].decode(errors="ignore")
    tail = raw[-(room // 2) :].decode(errors="ignore")
    offset = len(head.encode())
    where = (f"; all of it is in {kept}" if kept else "") + (
        f"; go on with {how.format(offset=offset)}" if how and kept else ""
    )
    left_out = whole - offset - len(tail.encode())
    return f"{head}\n{_LEFT_OUT.format(left_out=left_out, total=whole, where=where)}\n{tail}"


def _is_json(raw: bytes) -> bool:
    if raw.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _envelope(raw: bytes, limit: int) -> str:
    """Valid JSON of at most `limit` bytes: the two ends are as long as they may be once they are written."""

    def written(head: str, tail: str) -> bytes:
        return msgspec.json.encode(
            {"truncatedToolResult": True, "originalBytes": len(raw), "head": head, "tail": tail}
        )

    half = max(0, (limit - len(written("", ""))) // 2)
    head, tail = raw[:half].decode(errors="ignore"), raw[len(raw) - half :].decode(errors="ignore")
    while (size := _written_size(head)) > half:
        head = head[: len(head) * half // size]
    while (size := _written_size(tail)) > half:
        tail = tail[len(tail) - len(tail) * half // size :]
    return written(head, tail).decode()


def _written_size(text: str) -> int:
    return len(msgspec.json.encode(text)) - 2
