"""One entry as columns, both ways. Writing refuses nothing that JSON can hold; reading never fails."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import Entry, OperatorNote, Recorded
from agent_cli.kernel.values import kind_of
from agent_cli.kernel.wire import WireError, encode, event_from_json, is_list, is_object, to_json

Row: TypeAlias = tuple[int, float, int, int, str, str, bytes]
"""seq, time, turn, step, branch, kind, body"""


MOST = 1 << 53
LATEST = 2e11


def body_of(event: Recorded) -> str:
    """The JSON of an event. Halves of surrogate pairs, which UTF-8 cannot hold, become U+FFFD.

    Raises StoreError for a value that JSON cannot hold.
    """
    try:
        return to_json(event)
    except UnicodeEncodeError:
        # json escapes what msgspec refuses to encode, and gives tuples back as lists.
        return json.dumps(_mended(json.loads(json.dumps(encode(event)))), ensure_ascii=False)
    except (RecursionError, TypeError, ValueError) as problem:
        raise StoreError(
            f"The event '{kind_of(event)}' cannot be written as JSON: {problem}. It was not recorded, "
            "and the session stands where it was."
        ) from None


def entry_of(session: str, row: Row) -> Entry:
    """A row that this version cannot read becomes a note to the operator in its place."""
    seq, time, turn, step, branch, kind, body = row
    time, turn, step, branch = moment(time), count(turn), count(step), text(branch)
    try:
        event = event_from_json(body, kind)
    except (WireError, TypeError, ValueError, RecursionError) as problem:
        event = OperatorNote(
            f"Entry {seq} ({kind}) cannot be read by this version: {problem}. It is left out.",
            "warning",
            text(kind),
        )
    return Entry(session, seq, time, turn, step, event, branch)


def count(value: Any) -> int:
    """A column that holds how many or which one: SQLite keeps anything in it, and damage may have put it there."""
    return value if isinstance(value, int) and 0 <= value < MOST else 0


def moment(value: Any) -> float:
    """A column that holds seconds since the epoch, of a time that a calendar has."""
    return float(value) if isinstance(value, int | float) and 0 <= value < LATEST else 0.0


def text(value: Any) -> str:
    """A column that holds text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def mended(text: str) -> str:
    """The text with halves of surrogate pairs joined or replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if is_object(value):
        return {mended(key): _mended(item) for key, item in value.items()}
    if is_list(value):
        return [_mended(item) for item in value]
    return value
