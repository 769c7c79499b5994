"""The attach server beside a front end with a person: it serves the session that is open there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agent_cli.compose.archive import Archive
from agent_cli.compose.attach_tokens import tokens_of
from agent_cli.compose.options import RunOptions
from agent_cli.compose.watchdog import watchdog_mode
from agent_cli.config.settings import Settings
from agent_cli.server.app import App
from agent_cli.server.counters import Counters
from agent_cli.server.door import Opened, Terms
from agent_cli.server.gate import Gate, Listening
from agent_cli.server.hosting import Hosting
from agent_cli.server.running import bound, check_installed, check_width, serve

if TYPE_CHECKING:
    from agent_cli.engine.session import Session


class Beside:
    """Listens from now on, and answers from the first session on. Raises ConfigError.

    The person decides and closes: nothing is refused because nobody follows, and nothing is let go of.
    """

    def __init__(self, options: RunOptions, address: tuple[str, int]) -> None:
        check_installed()
        self._options = options
        self._tokens = tokens_of(options)
        check_width(address[0], tokens=bool(self._tokens.all()))
        self._bound = bound(*address)
        self.listening = Listening(address[0], self._bound.getsockname()[1])
        self._hosting: Hosting | None = None
        self._serving: asyncio.Task[None] | None = None

    def take(self, settings: Settings, session: Session) -> None:
        """That session is open now, and no other."""
        hosting = self._hosting = self._hosting or self._begin(settings)
        hosting.only = frozenset((session.id,))
        watchdog = watchdog_mode(settings, attended=self._options.attended)
        hosting.host(Opened(session, watchdog), attended=True)

    def _begin(self, settings: Settings) -> Hosting:
        counters, terms = Counters(), Terms(**msgspec.structs.asdict(settings.serve))
        hosting = Hosting(Archive(self._options, settings, (Path("/"),)), terms, counters.feed)
        app = App(hosting, Gate(self.listening, self._tokens, terms.requests_per_minute), counters)
        self._serving = asyncio.create_task(serve(hosting, app, self._bound, asyncio.Event()))
        return hosting
