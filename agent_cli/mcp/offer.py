"""Which tools of the servers a model gets: all of them in a fixed order, or, where their schemas are too much for its window,
some of them and a tool that finds the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from agent_cli.context.estimate import tokens_of_prose
from agent_cli.kernel.wire import to_json
from agent_cli.mcp.listing import Listing, Offered
from agent_cli.mcp.search import NAME, FindTools
from agent_cli.mcp.servers import Server
from agent_cli.ports import Tool

MOST = 90
"""Tools that are offered at once, whatever their size: a service takes 128 of all kinds."""
UNKNOWN_WINDOW = 128_000


class Source(Protocol):
    @property
    def server(self) -> Server: ...
    @property
    def listing(self) -> Listing: ...


class Offer:
    """Read from the session's thread, told of changes from the servers'."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        made: Callable[[Server, Offered], Tool],
        share: float,
        withheld: frozenset[str],
    ) -> None:
        self._sources = sources
        self._made = made
        self._share = share
        self._withheld = withheld
        self._active: tuple[str, ...] = ()
        self._version = 0
        self._lock = threading.Lock()
        self._kept: tuple[tuple[int, int | None], dict[str, Tool]] | None = None
        self.hidden: frozenset[str] = frozenset()
        """Names of the tools that are found by search only."""

    def changed(self) -> None:
        with self._lock:
            self._version += 1

    def activate(self, names: tuple[str, ...]) -> None:
        self._active += tuple(name for name in names if name not in self._active)
        self.changed()

    def tools(self, window: int | None) -> Mapping[str, Tool]:
        """The same object as long as they are the same."""
        key = self._version, window
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        found = self._found(window)
        if self._kept is not None and _same(self._kept[1], found):
            found = self._kept[1]
        self._kept = key, found
        return found

    def _found(self, window: int | None) -> dict[str, Tool]:
        every: dict[str, dict[str, Tool]] = {}
        taken: set[str] = set()
        for name, source in self._sources.items():
            offered = [one for one in source.listing.tools if one.spec.name not in self._withheld | taken]
            taken |= {one.spec.name for one in offered}
            every[name] = {one.spec.name: self._made(source.server, one) for one in offered}
        searched = self._searched(every, int((window or UNKNOWN_WINDOW) * self._share))
        hidden = {name: tool for server in searched for name, tool in every[server].items()}
        self.hidden = frozenset(hidden)
        tools = {
            name: tool
            for server, held in every.items()
            if server not in searched
            for name, tool in held.items()
        }
        if hidden:
            tools[NAME] = FindTools(hidden, self.activate)
        return {**tools, **{name: hidden[name] for name in self._active if name in hidden}}

    @staticmethod
    def _searched(every: Mapping[str, Mapping[str, Tool]], budget: int) -> frozenset[str]:
        """The largest servers, until the others fit."""
        sizes = {
            server: sum(
                tokens_of_prose(tool.spec.description + to_json(tool.spec.schema)) for tool in held.values()
            )
            for server, held in every.items()
        }
        left, count = sum(sizes.values()), sum(map(len, every.values()))
        found: list[str] = []
        for server in sorted(sizes, key=lambda name: (-sizes[name], name)):
            if left <= budget and count <= MOST:
                break
            found.append(server)
            left, count = left - sizes[server], count - len(every[server])
        return frozenset(found)


def _same(old: Mapping[str, Tool], new: Mapping[str, Tool]) -> bool:
    """A server that was started again offers the same tools: nothing has to be sent anew for that."""
    return list(old) == list(new) and all(
        old[name].spec == new[name].spec and old[name].read_only == new[name].read_only for name in old
    )
