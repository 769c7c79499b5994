"""The app around the conversation: opening a session, keys of the whole screen, and leaving it in order."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from time import monotonic

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding
from textual.events import AppFocus, TextSelected, Unmount
from textual.screen import Screen
from textual.theme import Theme

from agent_cli.kernel.errors import AgentError, ConfigError, NoModel
from agent_cli.talk import outside
from agent_cli.talk.commands import book
from agent_cli.talk.door import Door, Leave, Sources, Welcome
from agent_cli.talk.untrusted import clean
from agent_cli.tui import switching
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.completion import MODEL
from agent_cli.tui.composer import Composer
from agent_cli.tui.conversation import Conversation
from agent_cli.tui.early import Patient
from agent_cli.tui.editing import Edit, in_editor
from agent_cli.tui.footer import HINT
from agent_cli.tui.herald import Herald, kept_title
from agent_cli.tui.ink import DARK, LIGHT, ink_of
from agent_cli.tui.keys import bound
from agent_cli.tui.manners import can_go_on, no_theme, settle
from agent_cli.tui.offers import Offers
from agent_cli.tui.reader import Reader
from agent_cli.tui.setup import Setup
from agent_cli.tui.staging import Staging

TWICE = 1.0
"""Seconds within which a second Ctrl+C quits."""

CLOSING = 5.0
"""Seconds that the session may take to close after a crash."""

MEND = "Press {key} to quit, mend that, and start again."


class Main(Screen[None], inherit_bindings=False):
    """Without Textual's own meanings of Tab and Ctrl+C."""


BREATH = 0.1
"""Seconds from the first frame to the opening of the session, which keeps the processor busy: first keys come first."""


class AgentApp(Patient[Leave], inherit_bindings=False):
    """`open_session` is awaited after the first frame; what is typed before it returns is kept and sent then.

    An AgentError of it is shown in full; for a NoModel, `setup` offers ways to a first session.
    `run` returns a Leave, None after a crash.
    """

    AUTO_FOCUS = None  # the composer takes it
    CSS = "Screen { background: $background; }"

    ENABLE_COMMAND_PALETTE = False  # Textual's own key for it; ours can be changed
    BINDINGS = [
        bound("interrupt", "interrupt", priority=True),
        bound("back", "retreat"),
        bound("switch", "switch"),
        bound("next-mode", "do('mode')", priority=True),
        bound("fold-all", "do('fold')", priority=True),
        bound("todo", "do('todo')", priority=True),
        bound("suspend", "do('suspend')", priority=True),
        bound("models", "do('models')", priority=True),
        bound("help", "do('help')", priority=True),
        bound("palette", "command_palette", priority=True),
        bound("page-up", "do('page-up')", priority=True),
        bound("page-down", "do('page-down')", priority=True),
    ]

    def __init__(
        self,
        open_session: Callable[[], Awaitable[Door]],
        *,
        welcome: Welcome | None = None,
        first_message: str | None = None,
        setup: Setup | None = None,
        sources: Sources | None = None,
    ) -> None:
        super().__init__()
        self.title = "agent-cli"
        self.use_command_palette = True
        self.welcome = welcome or Welcome()
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = self._theme(self.welcome.theme)
        self.conversation = Conversation(
            self.welcome, ink_of(self.current_theme), sources or Sources(), self.leave
        )
        self._open_session = open_session
        self._setup = setup
        self._first_message = first_message
        self._offers: Offers | None = None
        self._interrupted = -TWICE
        self._told: set[str] = set()  # of what config asks for and cannot have
        self._leaving, self._unopened = False, 0  # the exit code where config keeps every session shut
        self.herald = Herald(self._signal, lambda: self.app_focus)
        self.crash = ""
        """What broke the screen, "" if nothing did."""

    @property
    def session(self) -> Door | None:
        return self.conversation.desk.session

    def get_default_screen(self) -> Screen[None]:
        return Main(id="_default")

    def compose(self) -> ComposeResult:
        yield self.conversation

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, self._recoloured)
        self._catch_signals()
        self.adopt(self.welcome)
        if self._first_message:
            self.conversation.desk.say(self._first_message)
            self.call_after_refresh(self.conversation.composer.past.add, self._first_message)
        self.call_after_refresh(self.accept)
        breath = 0.001 if self._first_message else BREATH
        self.call_after_refresh(lambda: self.set_timer(breath, lambda: self.run_worker(self._open())))

    def adopt(self, welcome: Welcome) -> None:
        """Takes over what config says of the screen: theme, keys, the status command; what is not taken is told."""
        self.welcome = self.conversation.desk.welcome = welcome
        self.theme = self._theme(welcome.theme)
        self.herald.how, self.herald.titled = welcome.notify, welcome.title
        self.conversation.herald = self.herald
        keys = self.conversation.keys
        for trouble in (*keys.take(welcome.keys), *no_theme(welcome.theme, self.available_themes)):
            if trouble not in self._told:
                self._told.add(trouble)
                self.conversation.put(Notice(trouble, "warning"))
        self.set_keymap(keys.keymap)
        self.conversation.footer.own.command = welcome.status_command
        settle(self, self.conversation.composer, welcome)
        self.conversation.refresh_facts()

    def leave(self, exit_code: int = 0) -> None:
        """Closes the session and ends. A second call does not wait for the session."""
        if self._leaving:
            self.exit(self._left(exit_code), exit_code)
            return
        self._leaving = True
        self.run_worker(self._leave(exit_code))

    # ── the session ──

    async def _open(self) -> None:
        gc.freeze()  # what was loaded until now stays
        gc.enable()
        try:
            session = await self._open_session()
        except AgentError as problem:
            broken = isinstance(problem, ConfigError) and not isinstance(problem, NoModel)
            self._unopened, mend = (2, MEND.format(key=self._key("quit"))) if broken else (0, "")
            self.conversation.fail("No session could be opened.", problem, mend)
            if isinstance(problem, NoModel) and self._setup is not None:
                self._offers = Offers(self._setup, ink_of(self.current_theme), self._key("switch"))
                await self.conversation.mount(self._offers, before=self.conversation.composer)
                if not self.conversation.composer.text:
                    self._offers.focus()
            return
        await self.conversation.follow(session)

    @on(Offers.Opened)
    async def _opened(self, event: Offers.Opened) -> None:
        if self._offers is not None:
            await self._offers.remove()
            self._offers = None
        if event.first and not self.conversation.desk.unsent:
            self.conversation.desk.say(event.first)
        self.conversation.composer.focus()
        self.run_worker(self.conversation.follow(event.session))

    @on(Offers.Failed)
    def _failed(self, event: Offers.Failed) -> None:
        self.conversation.fail("That did not work.", event.error)

    @on(Offers.Stopped)
    def _stopped(self) -> None:
        self.conversation.put(Notice("The download was stopped. It goes on from there next time."))

    @on(Staging.Switch)
    def _switch(self, event: Staging.Switch) -> None:
        self.run_worker(switching.switch(self, event.wish))

    async def _leave(self, exit_code: int) -> None:
        draft = self.conversation.composer
        draft.resume()
        draft.past.add(draft.pastes.unfold(draft.text))
        if self.session is not None:
            try:
                await self.session.close("the operator left")
            except AgentError as problem:
                self.exit(self._left(exit_code or 1), exit_code or 1, str(problem))
                return
        self.exit(self._left(exit_code), exit_code)

    def _theme(self, wanted: str) -> str:
        name = {"dark": DARK.name, "light": LIGHT.name}.get(wanted, wanted)
        return name if name in self.available_themes else DARK.name

    def _signal(self, codes: str) -> None:
        if self._driver is not None:
            self._driver.write(codes)

    def _key(self, name: str) -> str:
        return self.conversation.keys.first(name)

    def _left(self, exit_code: int) -> Leave:
        started = self.session is not None and self.session.state.started
        name = self.session.id if self.session is not None and started else ""
        return Leave(name, exit_code or self._unopened)

    # ── keys ──

    def action_interrupt(self) -> None:
        """Ctrl+C: always interrupts; twice in short order quits."""
        now = monotonic()
        if now - self._interrupted <= TWICE:
            self.leave()
            return
        self._interrupted = now
        running = self.conversation.desk.running
        self.conversation.desk.interrupt()
        self.conversation.footer.hint(
            f"{'interrupting; ' if running else ''}{self._key('interrupt')} again quits",
            of_turn=running,
            within=HINT if running else TWICE,  # then it does not quit any more
        )

    def action_retreat(self) -> None:
        if self._offers is not None and self._offers.back():
            return
        if not self.conversation.back() and self.conversation.desk.running:
            self.conversation.desk.interrupt()
            self.conversation.footer.hint("interrupting", of_turn=True)

    def action_switch(self) -> None:
        if self._offers is not None and self.focused is self.conversation.composer:
            self._offers.focus()
        else:
            self.conversation.switch()

    def action_do(self, what: str) -> None:
        conversation = self.conversation
        match what:
            case "mode":
                conversation.desk.next_mode()
            case "help":
                conversation.reader.to_end()
                conversation.desk.take("/help")
            case "suspend" if can_go_on():
                self.action_suspend_process()
            case "suspend":
                conversation.footer.hint("there is no shell here to go back to")
            case "todo":
                conversation.toggle_todo()
            case "models":
                conversation.composer.begin(MODEL)
            case "page-up" | "page-down":
                conversation.page(-1 if what == "page-up" else 1)
            case _ if conversation.reader.cursor is not None:
                conversation.reader.action_fold()
            case _:
                conversation.reader.toggle_all()

    def _order(self, line: str) -> None:
        self.conversation.reader.to_end()
        self.conversation.desk.take(line)

    @on(Composer.Asked)
    def _asked(self) -> None:
        self.action_do("help")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette lists what the slash lists, and what has a key everywhere."""
        for command in book.COMMANDS:
            if command.name not in {"quit", *self.conversation.desk.lacks}:
                line = f"/{command.name}"
                yield SystemCommand(line, command.description, lambda line=line: self._order(line))
        yield SystemCommand("theme", "other colours", self.action_change_theme)
        for binding in self.BINDINGS:
            if isinstance(binding, Binding) and binding.id not in (None, "palette"):
                act = partial(self.run_action, binding.action)
                yield SystemCommand(f"{self._key(binding.id or '')}  {binding.id}", binding.description, act)
        yield SystemCommand("/quit", "leave; the session can be resumed", self.leave)

    @on(Edit)
    def _wants_editor(self, event: Edit) -> None:
        self.run_worker(self._edit(event))

    async def _edit(self, event: Edit) -> None:
        try:
            event.take(await in_editor(self, event.text))
        except ValueError as problem:
            self.conversation.put(Notice(str(problem), "warning"))

    @on(TextSelected)
    def _selected(self) -> None:
        text = self.screen.get_selected_text()
        if text:
            self._copy(Reader.Copy(text, "the selection"))

    @on(Reader.Copy)
    def _copy(self, event: Reader.Copy) -> None:
        if event.text:
            self.copy_to_clipboard(event.text)
            self.run_worker(self._copied(event))
        else:
            self.conversation.footer.hint(f"nothing to copy: {event.what}")

    async def _copied(self, event: Reader.Copy) -> None:
        """Says which clipboards took it: nobody answers for the terminal's."""
        taker = await asyncio.to_thread(outside.copy, event.text) if not self.is_headless else ""
        also = f" and with {taker}" if taker else ""
        self.conversation.footer.hint(f"copied {event.what} through the terminal (OSC 52){also}")

    @on(Offers.Typed)
    def _stray(self, event: Offers.Typed) -> None:
        self.conversation.composer.insert(event.text)
        self.conversation.composer.focus()  # what goes on is a message, whatever its letters are

    @on(Offers.Declined)
    def _declined(self) -> None:
        self.leave()

    def _recoloured(self, theme: Theme) -> None:
        self.conversation.repaint(ink_of(theme))

    @on(AppFocus)
    def _looked_at(self) -> None:
        """Nobody looks after what others change while nothing moves."""
        self.conversation.refresh_facts()

    # ── ends ──

    def _catch_signals(self) -> None:
        """A kill leaves the terminal and the session in order."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.leave, 128 + number)

    @on(Unmount)
    async def _unmounted(self) -> None:
        """After a crash nobody else lets go of the session's log."""
        if self.session is None or self._leaving:
            return
        try:
            async with asyncio.timeout(CLOSING):
                await self.session.close("the screen broke" if self.crash else "the screen ended")
        except (AgentError, TimeoutError):
            logging.getLogger("agent_cli.tui").exception("the session was not closed")

    def _fatal_error(self) -> None:
        """Says what broke without the values of variables: they may hold keys."""
        import traceback

        self.crash = traceback.format_exc()
        self.bell()
        self._close_messages_no_wait()


def run(app: AgentApp) -> Leave:
    """Runs it in the terminal; afterwards says how to go on, on stderr. `Leave.exit_code` is the process's."""
    gc.disable()  # until the first frame
    with kept_title():
        leave = app.run(mouse=app.welcome.mouse)
    session = app.session
    name = leave.session if leave is not None else session.id if session is not None else ""
    lines: list[str] = []
    if app.crash:
        lines.append(f"agent-cli: the screen broke; nothing that was recorded is lost.\n{app.crash.rstrip()}")
        logging.getLogger("agent_cli.tui").error("the screen broke\n%s", app.crash)
        if app.welcome.log:
            lines.append(f"That stands in {app.welcome.log}, too.")
    if name:
        lines.append(f"To go on with this session: {app.welcome.resume.format(session=name)}")
    if lines:
        sys.stderr.write(clean("\n".join(lines)) + "\n")
    return leave or Leave(name, 1 if app.crash else app.return_code or 1)
