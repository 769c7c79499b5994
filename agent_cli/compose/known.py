"""What a front end with a person asks for, from the other rooms: models, rules, sessions, files, the log file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_cli import __version__
from agent_cli.compose.files import files_below, symbols_below
from agent_cli.compose.later import gates, prepare, watchdog_mode
from agent_cli.compose.operators_log import follow
from agent_cli.compose.options import RunOptions
from agent_cli.compose.sessions import Sessions
from agent_cli.compose.workplace import Workplace
from agent_cli.config import places
from agent_cli.kernel.commands import MODES, Mode
from agent_cli.kernel.errors import ConfigError
from agent_cli.talk.door import Sources, Welcome
from agent_cli.talk.health import Condition

if TYPE_CHECKING:
    from agent_cli.compose.beside import Beside
    from agent_cli.config.settings import Settings
    from agent_cli.config.sources import Loaded
    from agent_cli.engine.session import Session

LOG = "agent-cli.log"


class Known:
    """What is known of the run: its options at first, its settings once config was read."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.settings: Settings | None = None
        self.loaded: Loaded | None = None
        self._log: asyncio.Task[None] | None = None
        self._beside: Beside | None = None

    def listen(self) -> None:
        """For programs that attach, where the command line says so. Raises ConfigError."""
        if self.options.attach_listen is None:
            return
        from agent_cli.compose.beside import Beside  # only who wants it pays for it

        self._beside = Beside(self.options, self.options.attach_listen)
        sys.stderr.write(f"agent: the session is served at {self._beside.listening.url}, too\n")
        sys.stderr.flush()

    def read(self) -> Loaded:
        """Config. Blocks. Raises ConfigError."""
        loaded = prepare(self.options)
        self.settings, self.loaded = loaded.settings, loaded
        return loaded

    def sources(self) -> Sources:
        options = self.options
        return Sources(
            self.model_names,
            self.rules,
            self.watchdog,
            partial(files_below, options.cwd),
            self.gates,
            Sessions(options, self.use),
            Workplace(options, log_of(options)),
            partial(_examine, options),
            partial(symbols_below, options.cwd),
        )

    def use(self, settings: Settings, session: Session) -> None:
        """Another session was opened with these settings."""
        self.settings = settings
        self._log = follow(session)
        if self._beside is not None:
            self._beside.take(settings, session)

    def watchdog(self) -> str:
        """Its mode; "" before config is read."""
        return watchdog_mode(self.settings, attended=self.options.attended) if self.settings else ""

    def rules(self) -> Sequence[str]:
        """The permission rules of config, one a line."""
        if self.settings is None:
            return ()
        permissions = self.settings.permissions
        return (
            *(f"deny {rule}" for rule in permissions.deny),
            *(f"allow {rule}" for rule in permissions.allow),
        )

    def gates(self) -> Sequence[tuple[str, str]]:
        """What decides about calls beside mode and rules; nothing before config is read."""
        return () if self.loaded is None else gates(self.options, self.loaded)

    def model_names(self) -> Sequence[str]:
        """Every model of the catalog, first those whose provider has a key here, and what is installed."""
        from agent_cli.providers import catalog
        from agent_cli.providers.claude.names import installed as programs
        from agent_cli.providers.local.provider import installed
        from agent_cli.providers.vendors import KEYS

        environ = self.options.environ
        keyed = {vendor for vendor, keys in KEYS.items() if any(environ.get(key, "").strip() for key in keys)}
        names = [card.id for card in sorted(catalog.cards(""), key=lambda card: card.provider not in keyed)]
        command = self.settings.claude.command if self.settings else "claude"
        names += programs(command, self.options.environ)
        return [*names, *(f"local:{name}" for name in installed())]


def _examine(options: RunOptions) -> Sequence[Condition]:
    from agent_cli.compose.health import examine

    return examine(options)


def lasting(options: RunOptions) -> RunOptions:
    """Sessions in memory last as long as the program, so that one can go from one to another."""
    if not options.ephemeral:
        return options
    from agent_cli.store.memory import MemoryStore

    return replace(options, memory=MemoryStore())


def welcome(options: RunOptions) -> Welcome:
    """What is known before config was read."""
    mode = options.flags.get("permissions.mode", "ask")
    known: tuple[Mode, ...] = tuple(name for name in MODES if name == mode)
    return Welcome(
        version=__version__,
        cwd=str(options.cwd),
        model=str(options.flags.get("model.name", "")),
        mode=known[0] if known else "ask",
        history=str(history(options)),
        log=str(log_of(options)),
        theme=str(options.flags.get("ui.theme", "dark")),
    )


def history(options: RunOptions) -> Path:
    """Earlier messages are kept per project, named by its path."""
    name = hashlib.blake2b(str(options.cwd.resolve()).encode(), digest_size=8).hexdigest()
    return places.state_dir(options.environ) / "history" / f"{name}.jsonl"


def log_of(options: RunOptions) -> Path:
    return options.log_file or places.logs_dir(options.environ) / LOG


def log_to_file(options: RunOptions) -> None:
    """Raises ConfigError where a file was named that cannot be written."""
    import logging

    from agent_cli.compose.discreet import Discreet
    from agent_cli.headless.logfile import opened

    path = log_of(options)
    try:
        if options.log_file is None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(opened(path))
        handler: logging.Handler = logging.FileHandler(path, delay=True)
    except (OSError, ConfigError):
        if options.log_file is not None:
            raise
        handler = logging.NullHandler()
    handler.setFormatter(Discreet("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("agent_cli")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
