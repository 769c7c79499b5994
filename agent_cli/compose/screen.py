"""The terminal UI with what it needs from the other rooms: a session, first steps, names of models."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import structs
from msgspec.structs import replace

from agent_cli import __version__
from agent_cli.compose.files import files_below
from agent_cli.compose.operators_log import follow
from agent_cli.compose.options import RunOptions
from agent_cli.compose.scope import gates
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.sessions import Sessions
from agent_cli.compose.trust import ask
from agent_cli.compose.watchdog import watchdog_mode
from agent_cli.compose.workplace import Workplace
from agent_cli.config import places
from agent_cli.config.sections.screen import Ui
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.engine.session import Session
from agent_cli.kernel.commands import MODES, Mode
from agent_cli.kernel.errors import AgentError
from agent_cli.talk.door import Sources, Welcome
from agent_cli.talk.health import Condition
from agent_cli.tui.app import AgentApp
from agent_cli.tui.app import run as run_app
from agent_cli.tui.switching import choose

LOG = "agent-cli.log"


def run(options: RunOptions, first_message: str | None) -> int:
    """Paints first, then opens the session; the log of what goes wrong inside goes to a file, not the screen.

    Only a project that is not trusted yet is asked about before.
    """
    answered = ask(options)
    if answered is None:
        return 0
    options = answered
    if options.ephemeral:
        from agent_cli.store.memory import MemoryStore

        options = replace(options, memory=MemoryStore())
    _log_to_file(options)
    screen = Screen(options)
    app = screen.app = AgentApp(
        screen.open,
        welcome=_welcome(options),
        first_message=first_message,
        setup=FirstSteps(options),
        sources=Sources(
            screen.model_names,
            screen.rules,
            screen.watchdog,
            partial(files_below, options.cwd),
            screen.gates,
            Sessions(options, screen.use),
            Workplace(options, places.logs_dir(options.environ) / LOG),
            partial(_examine, options),
        ),
    )
    return run_app(app).exit_code


def _examine(options: RunOptions) -> Sequence[Condition]:
    from agent_cli.compose.health import examine

    return examine(options)


def _welcome(options: RunOptions) -> Welcome:
    """What is known before config was read."""
    mode = options.flags.get("permissions.mode", "ask")
    known: tuple[Mode, ...] = tuple(name for name in MODES if name == mode)
    return Welcome(
        version=__version__,
        cwd=str(options.cwd),
        model=str(options.flags.get("model.name", "")),
        mode=known[0] if known else "ask",
        history=str(_history(options)),
        log=str(places.logs_dir(options.environ) / LOG),
        theme=str(options.flags.get("ui.theme", "dark")),
    )


def _adopted(welcome: Welcome, ui: Ui) -> Welcome:
    """What config says of the screen."""
    theme = welcome.theme if ui.theme == "auto" else ui.theme
    return structs.replace(
        welcome,
        theme=theme,
        keys=ui.keys,
        status_command=ui.status_command or "",
        notify=ui.notify,
        title=ui.title,
        mouse=ui.mouse,
        motion=ui.motion,
        vi=ui.vi,
    )


def _history(options: RunOptions) -> Path:
    """Earlier messages are kept per project, named by its path."""
    name = hashlib.blake2b(str(options.cwd.resolve()).encode(), digest_size=8).hexdigest()
    return places.state_dir(options.environ) / "history" / f"{name}.jsonl"


def _log_to_file(options: RunOptions) -> None:
    import logging

    from agent_cli.compose.discreet import Discreet

    directory = places.logs_dir(options.environ)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler: logging.Handler = logging.FileHandler(directory / LOG, delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(Discreet("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("agent_cli")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)


class Screen:
    """Opens the session off the first frame; imports and config are read in a thread meanwhile."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._settings: Settings | None = None
        self._loaded: Loaded | None = None
        self.app: AgentApp | None = None
        self._log: asyncio.Task[None] | None = None

    async def open(self) -> Session:
        loaded = await asyncio.to_thread(prepare, self._options)
        self._settings, self._loaded = loaded.settings, loaded
        if self.app is not None:
            self.app.adopt(_adopted(self.app.welcome, self._settings.ui))
        options = self._options
        if options.resume == "" and self.app is not None:
            wish = await choose(self.app.conversation)
            options = replace(options, resume=wish.resume or None)
        session = open_session(options, loaded).session
        self._log = follow(session)
        return session

    def use(self, settings: Settings, session: Session) -> None:
        """Another session was opened with these settings."""
        self._settings = settings
        self._log = follow(session)

    def watchdog(self) -> str:
        """Its mode; "" before config is read."""
        return watchdog_mode(self._settings, attended=self._options.attended) if self._settings else ""

    def rules(self) -> Sequence[str]:
        """The permission rules of config, one a line."""
        if self._settings is None:
            return ()
        permissions = self._settings.permissions
        return (
            *(f"deny {rule}" for rule in permissions.deny),
            *(f"allow {rule}" for rule in permissions.allow),
        )

    def gates(self) -> Sequence[tuple[str, str]]:
        """What decides about calls beside mode and rules; nothing before config is read."""
        return () if self._loaded is None else gates(self._options, self._loaded)

    def model_names(self) -> Sequence[str]:
        """Every model of the catalog whose provider has a key here, and what is installed."""
        from agent_cli.providers import catalog
        from agent_cli.providers.claude.names import installed as programs
        from agent_cli.providers.local.provider import installed

        names = [card.id for card in catalog.cards("")]
        command = self._settings.claude.command if self._settings else "claude"
        names += programs(command, self._options.environ)
        return [*names, *(f"local:{name}" for name in installed())]


class FirstSteps:
    """What the screen offers where no model was found. A key is kept for this run only."""

    variables = (
        ("ANTHROPIC_API_KEY", "Anthropic"),
        ("OPENAI_API_KEY", "OpenAI"),
        ("GEMINI_API_KEY", "Gemini"),
    )

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._fetching: asyncio.Event | None = None  # set when the last download has ended

    @property
    def local(self) -> str:
        from agent_cli.providers.local import weights

        model = weights.MODELS[0]
        return f"{model.name}, {model.size / 1e9:.1f} GB"

    @property
    def download(self) -> str:
        from agent_cli.providers.local import weights

        model = weights.MODELS[0]
        path = weights.path_of(model)
        if path.is_file() and path.stat().st_size == model.size:
            return ""
        return f"{model.size / 1e9:.1f} GB, {model.licence}, to {path}"

    async def use_key(self, variable: str, key: str, /) -> Session:
        return open_session(replace(self._options, environ={**self._options.environ, variable: key})).session

    async def install_local(self, progress: Callable[[int, int, str], None], /) -> Session:
        await self._fetch(progress)
        return self._with("local")

    async def _fetch(self, progress: Callable[[int, int, str], None]) -> None:
        """Cancelled, it stops its thread; the one before it must have stopped first, since both want the file."""
        from agent_cli.providers.local import weights
        from agent_cli.providers.local.install import Watcher, install

        if self._fetching is not None:
            await self._fetching.wait()
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        ended = self._fetching = asyncio.Event()
        problems: list[Exception] = []

        def report(sofar: int, total: int, source: str) -> None:
            pause(0)
            loop.call_soon_threadsafe(progress, sofar, total, source)

        def pause(seconds: float) -> None:
            if stop.wait(seconds):
                raise AgentError("The download was stopped; the next one goes on from there.")

        def notice(line: str) -> None:
            report(0, 0, line)

        def work() -> None:
            try:
                install(weights.MODELS[0], Watcher(report, notice, pause))
            except Exception as problem:  # noqa: BLE001  raised again where it is awaited
                problems.append(problem)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        # a connection that stands still must not keep the process
        threading.Thread(target=work, name="download", daemon=True).start()
        try:
            await ended.wait()
        finally:
            stop.set()
        if problems:
            raise problems[0]

    async def demo(self) -> Session:
        return self._with("scripted")

    def _with(self, provider: str) -> Session:
        flags = {key: value for key, value in self._options.flags.items() if not key.startswith("model.")}
        return open_session(replace(self._options, flags={**flags, "model.provider": provider})).session
