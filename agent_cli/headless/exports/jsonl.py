"""A session as JSON lines: the facts of `stream-json`, in order, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from agent_cli.kernel import wire
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry
from agent_cli.kernel.records import VERSION, fact_of, line_of

PLACE = ("v", "session", "seq", "time", "turn", "step", "branch")
"""What a line has beside the fields of its event."""


def lines(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        yield line_of(fact_of(entry))


def entries(text: Iterable[str]) -> Iterator[Entry]:
    """The facts of exported lines; what is no fact (a preview, a result) is passed over.

    Raises AgentError naming the line that cannot be read.
    """
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            entry = _entry(json.loads(line))
        except (ValueError, RecursionError, msgspec.ValidationError) as problem:
            raise AgentError(
                f"Line {number} is not a fact of a session: {problem}. Nothing was imported; the file has to be "
                "one that `agent-cli sessions export --format jsonl` wrote."
            ) from None
        if entry is not None:
            yield entry


def _entry(record: Any) -> Entry | None:
    """None where it is no fact. Raises ValueError, ValidationError."""
    if not wire.is_object(record):
        raise ValueError("not an object")
    if "seq" not in record:
        return None
    if record.get("v") != VERSION:
        raise ValueError(f"version {record.get('v')} of the format; this program reads version {VERSION}")
    fields = {name: value for name, value in record.items() if name not in PLACE}
    event = wire.event_from_json(json.dumps({"kind": fields.pop("type", ""), **fields}))
    place = {name: record.get(name) for name in PLACE[1:]}
    return Entry(event=event, **msgspec.convert(place, _Place).fields())


class _Place(msgspec.Struct, frozen=True):
    session: str
    seq: int
    time: float
    turn: int
    step: int
    branch: str = ""

    def fields(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self)
