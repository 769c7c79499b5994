"""Server-sent events from bytes: a reader that is fed chunks as they come. Pure.

It keeps to https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream where
that matters here: LF, CR LF and CR end a line, comments and unknown fields are skipped, several `data`
lines make one event. Event names are not kept: every API we speak repeats them inside the data.
"""

from __future__ import annotations

MAX_EVENT_BYTES = 32 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
FIELDS = (b":", b"data", b"event", b"id", b"retry")
DONE = b"[DONE]"


class EventTooLong(ValueError):
    """One event holds more than MAX_EVENT_BYTES."""


def looks_like_events(start: bytes) -> bool:
    """Whether these first bytes may begin an event stream: a field name, a comment, or still too few to tell."""
    begun = start.removeprefix(BOM).lstrip(b"\r\n")
    return any(begun.startswith(field) or field.startswith(begun) for field in FIELDS)


class EventReader:
    """`feed` gives the data of every event that is complete with that chunk, in time that grows with the chunk alone."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._open = 0
        self._data: list[bytes] = []
        self._size = 0
        self._cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Raises EventTooLong."""
        if not self._begun and chunk:
            self._begun = True
            chunk = chunk.removeprefix(BOM)
        if self._cr or b"\r" in chunk:
            chunk = self._with_plain_ends(chunk)
        first, *lines = chunk.split(b"\n")
        self._rest.append(first)
        self._open += len(first)
        events: list[bytes] = []
        if lines:
            last = lines.pop()
            for line in (b"".join(self._rest), *lines):
                self._line(line, events)
            self._rest, self._open = [last], len(last)
        if self._size + self._open > MAX_EVENT_BYTES:
            raise EventTooLong
        return events

    def flush(self) -> list[bytes]:
        """What a stream leaves that ends without a blank line: complete lines, and a bare `[DONE]`."""
        if b"".join(self._rest).removeprefix(b"data:").strip() == DONE:
            self._data.append(DONE)
        left = b"\n".join(self._data)
        self._data, self._rest, self._open = [], [], 0
        return [left] if left else []

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if not line:
            if self._data:
                events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                self._data, self._size = [], 0
            return
        if line.startswith(b"data:"):
            value = line[6:] if line.startswith(b"data: ") else line[5:]
            self._data.append(value)
            self._size += len(value)

    def _with_plain_ends(self, chunk: bytes) -> bytes:
        """Line ends as LF; a CR at the end waits, since the LF that belongs to it may come next."""
        if self._cr:
            chunk = b"\r" + chunk
        self._cr = chunk.endswith(b"\r")
        if self._cr:
            chunk = chunk[:-1]
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
