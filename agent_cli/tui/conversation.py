"""The parts of the screen and how they move together: one `draw` brings all of them up to date."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Mount, Paste, Resize
from textual.widget import Widget
from textual.widgets import Input

from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.todo import TodoItem
from agent_cli.talk import outside
from agent_cli.talk.desk import Desk
from agent_cli.talk.door import Door, Sources, Welcome
from agent_cli.talk.history import History
from agent_cli.talk.learning import learn_commands
from agent_cli.talk.place import cwd_of, halt_of
from agent_cli.talk.resumed import moved, restored
from agent_cli.tui.approval import Approvals
from agent_cli.tui.attaching import Attacher, missing
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.markdown import warm
from agent_cli.tui.blocks.notice import Banner, Notice
from agent_cli.tui.blocks.opening import Opening
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.blocks.todo import panel
from agent_cli.tui.completion import Completion
from agent_cli.tui.composer import Composer
from agent_cli.tui.feed import Feed
from agent_cli.tui.finder import Finder
from agent_cli.tui.footer import Footer
from agent_cli.tui.guide import KeyGuide
from agent_cli.tui.herald import Herald
from agent_cli.tui.ink import Ink
from agent_cli.tui.keys import Keys
from agent_cli.tui.lines import Lines, nothing
from agent_cli.tui.menu import CommandMenu
from agent_cli.tui.older import Older
from agent_cli.tui.queue import Queue
from agent_cli.tui.reader import Reader
from agent_cli.tui.staging import Staging
from agent_cli.tui.story import Story
from agent_cli.tui.surface import Surface

SHORT = 14
"""Rows below which the air between the parts goes."""

WARM = 0.5
"""Seconds after the opening, when the first request is on its way, at which the renderers are imported."""


class Conversation(Vertical):
    """Transcript, queue, approvals, composer, status bar."""

    DEFAULT_CSS = """
    Conversation { layers: base above; }
    Conversation #queue { margin: 0 1; }
    Conversation #todo { margin: 1 1 0 1; padding: 0 1; border-left: outer $panel; }
    Conversation.-short > * { margin-top: 0; }
    """

    def __init__(
        self,
        welcome: Welcome,
        ink: Ink,
        sources: Sources,
        leave: Callable[[], None],
    ) -> None:
        super().__init__()
        self.stage = Staging(self, self.put)
        self.keys = Keys()
        self.reader = Reader(self.keys, self._stray)
        surface = Surface(self.stage, self.put, self._wipe, self.refresh_facts)
        self.desk = Desk(welcome, surface, sources, leave, KeyGuide(self.keys))
        self.composer = Composer(History(welcome.history), "Say what is to be done", self.keys)
        self.composer.attaching = Attacher(self.desk, self.composer, self.run_worker, self.put, self.draw)
        self.footer = Footer(
            self.desk, ink, lambda text: self.put(Notice(text, "warning")), lambda: self.keys.first("back")
        )
        self.story = Story(self.reader.column)
        self.older = Older(self.reader.column)
        self.feed = Feed(self.set_timer, self.call_after_refresh, self._apply, self.draw)
        self._ink = ink
        self._todo = Lines(id="todo")
        self.herald: Herald | None = None
        self._listed: tuple[TodoItem, ...] | None = None  # what the open panel shows
        self._queue = Queue()
        self._approvals: Approvals | None = None
        self._menu: CommandMenu | None = None
        self._opening = Opening(welcome.version, welcome.cwd, welcome.model, self.keys)
        self._resumed = 0  # the last fact from before this run
        self._failures: list[Banner] = []  # to open a session
        self._completion = Completion(self.desk, self.run_worker, self._typed, self.put)

    def compose(self) -> ComposeResult:
        yield self.reader
        yield self._todo
        yield self._queue
        yield self.composer
        yield self.footer

    @on(Mount)
    def _mounted(self) -> None:
        self.reader.repaint(self._ink)
        self.put(self._opening)
        self.composer.focus()

    # ── what others ask of it ──

    def put(self, item: Item) -> None:
        self.story.insert(item)
        if self.reader.follows:
            self.reader.to_end(item)
        self.feed.wake()

    def _wipe(self) -> None:
        """What is not finished stays."""
        unfinished = self.story.unfinished()
        self.reader.clear()
        self.reader.column.add(unfinished)
        self.reader.settle()

    def refresh_facts(self) -> None:
        self.feed.wake()

    async def follow(self, session: Door) -> None:
        """Shows the session until it is closed; why none was open before is of no use any more."""
        self.desk.attach(session)
        shown = self.reader.column.items
        self.reader.column.drop([banner for banner in self._failures if banner in shown])
        self._failures.clear()
        self._opening.now(session.state.card.id)
        if self._opening in self.reader.column.items:
            self.reader.column.update(self._opening)
        self._resumed = session.since
        if session.halted:
            self.put(
                Banner("The session is halted.", f"{session.halted}\n/guardrail says more and clears it.")
            )
        self.feed.wake()
        self.run_worker(self._learn())
        self.set_timer(WARM, lambda: self.run_worker(warm, thread=True))
        try:
            await self.feed.follow(session.events(self.older.begin(session)))
        except AgentError as problem:
            self.desk.broken, self.desk.compacting = True, 0.0
            self.put(Banner("The session cannot go on.", str(problem)))

    async def _learn(self) -> None:
        if trouble := await learn_commands(self.desk):
            self.put(Notice(trouble, "warning"))

    def fail(self, title: str, problem: AgentError, advice: str = "") -> None:
        self.footer.activity.connecting = False
        banner = Banner(title, f"{problem}\n\n{advice}".rstrip())
        self._failures.append(banner)
        self.put(banner)

    def repaint(self, ink: Ink) -> None:
        """Other colours."""
        self._ink = ink
        self.reader.repaint(ink)
        self.footer.repaint(ink)
        if self._approvals is not None:
            self._approvals.repaint(ink)
        self.draw()

    def toggle_todo(self) -> None:
        """Opens or closes the panel of things to do."""
        self._listed = () if self._listed is None else None
        self._draw_todo()

    def back(self) -> bool:
        """Leaves the innermost thing that is open; False where there is none."""
        focused = self.screen.focused
        if focused is self.composer and (self.composer.leave_search() or self.composer.resume()):
            pass
        elif self._menu is not None and self._menu.is_open:
            self._menu.close()
        elif self.stage.back() or (self._approvals is not None and self._approvals.leave_reason()):
            pass
        elif isinstance(focused, Finder):
            focused.remove()
            self.reader.focus()
        elif self.screen.selections:
            self.screen.clear_selection()
        elif focused is not self.composer:
            self.composer.focus()
        else:
            return False
        return True

    def page(self, step: int) -> None:
        """The transcript, or what a waiting approval shows, where the keys are."""
        if self._approvals is None or not self._approvals.page(step):
            self.reader.action_page(step)
            self.feed.wake()

    def switch(self) -> None:
        """The focus goes round: composer, waiting approvals, transcript."""
        ring: list[Widget] = [self.composer, self.reader]
        if self._approvals is not None and self._approvals.pending:
            ring.insert(1, self._approvals)
        focused = self.screen.focused
        at = next((at for at, widget in enumerate(ring) if widget is focused), -1)
        ring[(at + 1) % len(ring)].focus()

    def _apply(self, event: ev.Event) -> None:
        if isinstance(event, ev.Entry):
            self.older.heed(event, live=event.seq > self._resumed)
        self.story.apply(event)
        if not isinstance(event, ev.Entry):
            return
        before = self.desk.compacting
        self.desk.heed(event)
        ended = (isinstance(event.event, ev.TERMINAL) and not event.branch) or before > self.desk.compacting
        if event.seq == self._resumed and self.desk.session is not None:
            state = self.desk.session.state
            for told in filter(None, (restored(state, self.desk.session.halted), moved(state))):
                self.story.insert(Notice(told))
        if self.herald is not None and event.seq > self._resumed:
            self.herald.heed(event)
        if isinstance(event.event, ev.ApprovalRequested):
            self.footer.end_hint()
        if ended:
            self.footer.end_hint(of_turn=True)
            self.footer.outdate()

    # ── drawing ──

    def draw(self) -> None:
        self.story.flush()
        if self.reader.follows and self.reader.cursor is None and not self.screen.selections:
            self.older.let_go()
        self.reader.settle()
        if self.reader.max_scroll_y == 0:
            self._take_older()
        if self._listed is not None:
            self._draw_todo()
        self._draw_queue()
        self._draw_approvals()
        if self.herald is not None:
            session = self.desk.session
            state, halted = session.state if session is not None else None, bool(halt_of(self.desk))
            self.herald.stand(state, self.desk.welcome.cwd, halted=halted)
        self.footer.follow(self.story.streamed, self.story.waiting, below=not self.reader.follows)

    def _draw_todo(self) -> None:
        """The panel follows the list while it is open."""
        state = self.desk.session.state if self.desk.session is not None else None
        items = state.todo if state is not None else ()
        if self._listed is None:
            self._todo.put(nothing)
        elif items != self._listed or not self._todo.display:
            self._listed = items
            self._todo.most = max(self.size.height // 3, 3)
            self._todo.put(panel(items, self._ink))

    def _draw_queue(self) -> None:
        key, halt, running = self.keys.first("take-back"), halt_of(self.desk), self.desk.running
        opening = self.desk.session is None
        self._queue.draw(self.desk.queued, self._ink, key, opening=opening, halt=halt, running=running)

    def _draw_approvals(self) -> None:
        pending = self.desk.session.state.pending if self.desk.session is not None else {}
        if self._approvals is None:
            if not pending:
                return
            self._approvals = Approvals(self._ink, self.keys, self._stray)
            self.mount(self._approvals, before=self.composer)
            self.call_after_refresh(self._draw_approvals)
            return
        if not self._approvals.is_mounted:
            return
        if self._approvals.sync(pending) and not self.composer.text and self.screen.focused is self.composer:
            self._approvals.focus()
        if not self._approvals.pending and self._approvals.has_focus_within:
            self.composer.focus()

    @on(Reader.Early)
    def _take_older(self) -> bool:
        """More of what was before; what stands on the screen stays there. False where there is no more."""
        if not self.older:
            return False
        try:
            first = self.older.take()
        except AgentError as problem:
            self.older.mark.say(f"what was before cannot be read: {problem}")
            self.reader.column.update(self.older.mark)
            self.reader.settle()
            return False
        self.reader.keep(first)
        return True

    # ── what comes from the parts ──

    @on(Resize)
    def _resized(self, event: Resize) -> None:
        self.set_class(event.size.height < SHORT, "-short")
        self.composer.fit(max(event.size.height // 3, 1))
        self.call_after_refresh(self._draw_approvals)

    @on(Composer.Changed)
    def _typed(self) -> None:
        self.composer.fit(max(self.size.height // 3, 1))
        self.call_after_refresh(self._draw_approvals)
        if halt_of(self.desk) != self._queue.halt:
            self.feed.wake()
        before = self.composer.get_text_range((0, 0), self.composer.cursor_location)
        found = [] if self.composer.search else self._completion.of(self.composer.text, before)
        if self._menu is None and found:
            self._menu = self.composer.menu = CommandMenu()
            self.mount(self._menu)
        if self._menu is not None:
            self._menu.offer(found, self.size.height - self.composer.region.y)

    async def _run_shell(self, command: str) -> None:
        """Its output goes into the message that is written."""
        self.footer.hint(f"runs {command}")
        said = await outside.shell(command, cwd_of(self.desk), apart=True)
        self.story.insert(Report("", [("you ran", said.rstrip())]))
        self.composer.write(said)
        self.footer.hint("its output is in your message")
        self.feed.wake()

    @on(Composer.Switched)
    def _typing(self) -> None:
        self.footer.types(self.composer.vi)

    @on(Composer.Sought)
    def _searches(self, event: Composer.Sought) -> None:
        found = "" if event.found else "  (not found)"
        self.footer.hint("" if event.text is None else f"search: {event.text}{found}")

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        self.footer.end_hint(of_turn=True)
        command = event.text[1:].strip() if event.text.startswith("!") and "\n" not in event.text else ""
        if command:
            self.composer.took(event.text)
            self.run_worker(self._run_shell(command))
            return
        self.reader.to_end()
        if self.desk.take(event.text, event.when, event.files, event.typed):
            self.composer.took(event.text)
            for chip in missing(event.text, event.files):
                self.put(Notice(f"{chip} went without its file: add that again", "warning"))
        else:
            self.composer.put(event.typed + self.composer.text)
        if self.composer.past.trouble:
            self.put(Notice(self.composer.past.trouble, "warning"))
            self.composer.past.trouble = ""

    @on(Composer.Left)
    def _left(self) -> None:
        self.desk.leave()

    @on(Approvals.Decided)
    def _decided(self, event: Approvals.Decided) -> None:
        self.desk.order(event.answer)
        self.draw()

    def _stray(self, *keys: Key) -> None:
        """At once, and as keys: what is typed on goes straight to the composer, in its order."""
        self.screen.set_focus(self.composer)
        for key in keys:
            self.composer.post_message(Key(key.key, key.character))

    @on(Paste)
    def _pasted(self, event: Paste) -> None:
        """A paste over anything else is for the composer too."""
        event.stop()
        self.composer.focus()
        self.composer.post_message(Paste(event.text))

    @on(Reader.Find)
    def _find(self) -> None:
        finder = Finder()
        self.mount(finder, before=self.composer)
        finder.focus()

    @on(Input.Submitted, "Finder")
    def _sought(self, event: Input.Submitted) -> None:
        event.input.remove()
        self.reader.focus()
        found = not event.value or self.reader.search(event.value)
        while not found and self._take_older():
            found = self.reader.search(event.value)
        if not found:
            self.footer.hint(f"not found: {event.value}")
