"""The terminal UI with what it needs from the other rooms: a session, first steps, names of models."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs
from msgspec.structs import replace

from agent_cli.compose.known import Known, lasting, log_to_file, welcome
from agent_cli.compose.later import load, open_session, prepare
from agent_cli.compose.options import RunOptions
from agent_cli.compose.trust import ask
from agent_cli.kernel.errors import AgentError, ModelGone
from agent_cli.talk.door import Welcome
from agent_cli.tui.app import AgentApp
from agent_cli.tui.app import run as run_app
from agent_cli.tui.switching import another_model, choose

if TYPE_CHECKING:
    from agent_cli.config.sections.screen import Ui
    from agent_cli.config.sources import Loaded
    from agent_cli.engine.session import Session


def run(options: RunOptions, first_message: str | None) -> int:
    """Paints first, then opens the session; the log of what goes wrong inside goes to a file, not the screen.

    Only a project that is not trusted yet is asked about before.
    """
    answered = ask(options)
    if answered is None:
        return 0
    options = lasting(answered)
    log_to_file(options)
    if first_message:
        load()
    screen = Screen(options)
    screen.listen()
    app = screen.app = AgentApp(
        screen.open,
        welcome=welcome(options),
        first_message=first_message,
        setup=FirstSteps(options),
        sources=screen.sources(),
    )
    return run_app(app).exit_code


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


class Screen(Known):
    """Opens the session off the first frame; imports and config are read in a thread meanwhile."""

    app: AgentApp | None = None

    async def open(self) -> Session:
        loaded = await asyncio.to_thread(self.read)
        if self.app is not None:
            self.app.adopt(_adopted(self.app.welcome, loaded.settings.ui))
        options = self.options
        if options.resume == "" and self.app is not None:
            wish = await choose(self.app.conversation)
            options = replace(options, resume=wish.resume or None)
        session = await self._opened(options, loaded)
        self.use(loaded.settings, session)
        return session

    async def _opened(self, options: RunOptions, loaded: Loaded) -> Session:
        """With another model where its own is gone, if the operator names one."""
        try:
            return open_session(options, loaded).session
        except ModelGone as problem:
            if self.app is None:
                raise
            name = await another_model(self.app.conversation, problem)
        options = replace(options, flags={**options.flags, "model.name": name})
        return open_session(options, await asyncio.to_thread(prepare, options)).session


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
