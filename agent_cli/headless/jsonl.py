"""`--output-format json` and `stream-json`.

A line of `stream-json` is one event: `v` (the version of this format), `type` (the event's kind), its place
(`session`, `turn`, `step`; for facts also `seq`, `time`, `branch`), and every field of the event. Lines of
previews (`text-delta`, `reasoning-delta`, `arguments-delta`, `tool-progress`, `waiting`) may be missing;
facts never are. The last line has type `result`. New fields may come within a version; none goes away.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

import msgspec

from agent_cli.headless.printer import Printer, Voice
from agent_cli.headless.streams import Stream
from agent_cli.headless.summary import Result
from agent_cli.kernel import events as ev
from agent_cli.kernel import wire

VERSION = 1


class JsonPrinter(Printer):
    """One object on stdout, also of a run that failed."""

    def finish(self, result: Result) -> None:
        self.out.write(line_of(whole(result)))
        super().finish(result)


class StreamPrinter(Printer):
    """One event a line, then the result."""

    def __init__(self, out: Stream, voice: Voice) -> None:
        super().__init__(out, voice)
        self._place: dict[str, Any] = {}

    def event(self, event: ev.Event) -> None:
        if isinstance(event, ev.Entry):
            if not event.branch:  # previews are never of a subtask
                self._place = {"session": event.session, "turn": event.turn, "step": event.step}
            record = fact_of(event)
        else:
            fields = whole(event)
            record = {"v": VERSION, "type": fields.pop("kind"), **self._place, **fields}
        self.out.write(line_of(record))
        super().event(event)

    def finish(self, result: Result) -> None:
        self.out.write(line_of({"v": VERSION, "type": "result", **whole(result)}))
        super().finish(result)


def fact_of(entry: ev.Entry) -> dict[str, Any]:
    """The record of a fact."""
    fields = whole(entry.event)
    place = {"session": entry.session, "turn": entry.turn, "step": entry.step}
    head = {"v": VERSION, "type": fields.pop("kind"), **place}
    return {**head, "seq": entry.seq, "time": entry.time, "branch": entry.branch, **fields}


def whole(value: Any) -> Any:
    """The JSON value of a value with every field in it, also those that hold their default."""
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field else {}
        return tag | {name: whole(getattr(value, name)) for name in value.__struct_fields__}
    if is_items(value):
        return [whole(item) for item in value]
    return value


def is_items(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def line_of(record: dict[str, Any]) -> str:
    try:
        return wire.to_json(record) + "\n"
    except (UnicodeEncodeError, OverflowError):  # half of a surrogate pair, or a number of more than 64 bits
        return json.dumps(record) + "\n"
