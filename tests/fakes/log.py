"""A log in memory, which can be made to fail."""

from __future__ import annotations

from collections.abc import Iterator

from agent_cli.kernel import wire
from agent_cli.kernel.errors import StoreUnwritable
from agent_cli.kernel.events import Entry, Recorded
from agent_cli.kernel.values import kind_of


class ListLog:
    """Keeps entries as JSON, as a store would; `fail_at` is the seq whose append raises."""

    def __init__(self, session: str = "s1", entries: list[Entry] | None = None) -> None:
        self.session = session
        self.rows: list[tuple[Entry, str]] = [(entry, wire.to_json(entry.event)) for entry in entries or []]
        self.fail_at: int | None = None
        self.closed = False

    def append(self, entry: Entry, /) -> None:
        assert entry.seq == (self.rows[-1][0].seq if self.rows else 0) + 1
        if self.fail_at is not None and entry.seq >= self.fail_at:
            raise StoreUnwritable("disk full")
        self.rows.append((entry, wire.to_json(entry.event)))

    def read(self, since: int = 0) -> Iterator[Entry]:
        for entry, text in list(self.rows):
            if entry.seq > since:
                yield Entry(
                    entry.session,
                    entry.seq,
                    entry.time,
                    entry.turn,
                    entry.step,
                    wire.event_from_json(text),
                    entry.branch,
                )

    def close(self) -> None:
        self.closed = True

    @property
    def events(self) -> list[Recorded]:
        return [entry.event for entry in self.read()]

    @property
    def kinds(self) -> list[str]:
        return [kind_of(event) for event in self.events]
