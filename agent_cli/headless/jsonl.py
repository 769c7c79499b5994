"""`--output-format json` and `stream-json`.

A line of `stream-json` is one event: `v` (the version of this format), `type` (the event's kind), its place
(`session`, `turn`, `step`; for facts also `seq`, `time`, `branch`), and every field of the event. Lines of
previews (`text-delta`, `reasoning-delta`, `arguments-delta`, `tool-progress`, `waiting`) may be missing;
facts never are. A session that is driven by `--input-format stream-json` begins with a line `ready`, and tells lines of its
input that cannot be taken as `input-error`. The last line has type `result`. New fields may come within a version; none goes away.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent_cli import __version__
from agent_cli.headless.printer import Printer, Voice
from agent_cli.headless.streams import Stream
from agent_cli.headless.summary import Result
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.records import VERSION, fact_of, line_of, preview_of, whole


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready"):
    """The session is open and takes orders."""

    session: str
    model: str
    mode: Mode
    version: str = __version__


class InputError(msgspec.Struct, frozen=True, tag_field="type", tag="input-error"):
    """That line of the input could not be taken. Nothing else has changed."""

    line: int
    message: str


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
            record = preview_of(event, self._place)
        self.out.write(line_of(record))
        super().event(event)

    def ready(self, session: str, model: str, mode: Mode) -> None:
        """The session is open and takes orders."""
        self.out.write(line_of({"v": VERSION, **whole(Ready(session, model, mode))}))

    def input_error(self, line: int, message: str) -> None:
        self.out.write(line_of({"v": VERSION, **whole(InputError(line, message))}))

    def finish(self, result: Result) -> None:
        self.out.write(line_of({"v": VERSION, "type": "result", **whole(result)}))
        super().finish(result)
