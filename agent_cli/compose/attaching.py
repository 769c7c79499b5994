"""A front end over a session of an attach server, with what it needs from the other rooms."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from agent_cli.compose.known import Known, history, log_to_file, welcome
from agent_cli.compose.lines import asker_of, write
from agent_cli.compose.models import recorded_card
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.config.settings import Settings
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.remote.session import RemoteSession, attach
from agent_cli.remote.wire import Wire
from agent_cli.talk.door import Sources, Welcome
from agent_cli.talk.history import History

TOKEN = "AGENT_CLI_ATTACH_TOKEN"  # noqa: S105  the name of a variable


class Target(msgspec.Struct, frozen=True):
    """`session` is an id, "" for the latest; `new` begins one. `token_file` holds the token, else the variable does."""

    url: str
    session: str = ""
    new: bool = False
    token_file: Path | None = None


def run(options: RunOptions, target: Target, *, lines: bool) -> int:
    """Until the operator leaves; the session goes on where it is. Returns the exit code.

    Raises ConfigError and AgentError where the server cannot be asked.
    """
    log_to_file(options)
    settings = prepare(options).settings
    wire = Wire(target.url, _token(options, target))
    session = _wanted(wire, target)
    there = Attached(options, settings, wire, session)
    if lines or not (os.isatty(0) and os.isatty(1)):
        return asyncio.run(there.in_lines())
    return there.on_screen()


class Attached:
    """What a front end asks for; what is known only on the server's machine it does without."""

    def __init__(self, options: RunOptions, settings: Settings, wire: Wire, session: str) -> None:
        self._options = options
        self._settings = settings
        self._wire = wire
        self._session = session
        self._opened: RemoteSession | None = None

    @property
    def welcome(self) -> Welcome:
        seen = welcome(self._options)
        again = f"agent-cli attach {self._wire.url} {{session}}"
        return msgspec.structs.replace(seen, resume=again, log=seen.log)

    async def open(self) -> RemoteSession:
        self._opened = await attach(self._wire, self._session, self._card)
        return self._opened

    def sources(self) -> Sources:
        return Sources(
            models=Known(self._options).model_names, watchdog=self._watchdog, elsewhere=self._wire.url
        )

    async def in_lines(self) -> int:
        from agent_cli.repl.conversation import Conversation

        terminal = os.isatty(0) and os.isatty(1)
        asker = asker_of(History(str(history(self._options))), terminal=terminal)
        conversation = Conversation(self.welcome, self.sources(), asker, write)
        code = await conversation.run(await self.open(), "")
        if conversation.last:
            sys.stderr.write(
                f"To go on with this session: {self.welcome.resume.format(session=conversation.last)}\n"
            )
        return code

    def on_screen(self) -> int:
        from agent_cli.tui.app import AgentApp
        from agent_cli.tui.app import run as run_app

        return run_app(AgentApp(self.open, welcome=self.welcome, sources=self.sources())).exit_code

    def _watchdog(self) -> str:
        return self._opened.watchdog if self._opened is not None else ""

    def _card(self, name: str) -> ModelCard:
        provider, _, model = name.partition("/")
        return recorded_card(self._options, self._settings, provider, model)


def _wanted(wire: Wire, target: Target) -> str:
    if target.new:
        return str(wire.post("/sessions", {})["id"])
    if target.session:
        return target.session
    known = wire.get("/sessions", limit=1)["sessions"]
    if not known:
        raise ConfigError(f"There is no session at {target.url} yet: begin one with --new.")
    return str(known[0]["id"])


def _token(options: RunOptions, target: Target) -> str:
    if target.token_file is None:
        return options.environ.get(TOKEN, "").strip()
    try:
        return target.token_file.expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"--token-file {target.token_file}: it cannot be read: {problem}.") from None
