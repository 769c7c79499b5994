"""Opening, keys of the whole screen, and leaving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from textual import events

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Compact, Interrupt, Say, SetMode
from agent_cli.kernel.errors import AgentError, ConfigError, NoModel, StoreCorrupt, StoreUnwritable
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.talk.door import Door, Leave, Welcome
from agent_cli.tui.app import AgentApp
from tests.fakes.screen import WELCOME, answer, screen, sees, shown, still, strike, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import asks, whole_turn


class Opening:
    """Opens a session when a test lets it, or fails."""

    def __init__(self, session: FakeSession | None = None, error: AgentError | None = None) -> None:
        self.session = session or FakeSession()
        self.error = error
        self.let = asyncio.Event()
        self.asked = 0

    async def __call__(self) -> Door:
        self.asked += 1
        await self.let.wait()
        if self.error is not None:
            raise self.error
        return self.session


async def test_it_paints_and_takes_keys_before_there_is_a_session():
    opening = Opening()
    app = AgentApp(opening, welcome=WELCOME)
    async with app.run_test(size=(80, 20)) as pilot:
        await sees(pilot, "agent-cli 0.1.0  scripted-1")
        strike(app, "early")
        await pilot.press("enter")
        await sees(pilot, "↳ early  when the session is open")
        strike(app, "draft")
        assert opening.session.commands == []
        opening.let.set()
        await until(pilot, lambda: opening.session.commands == [Say((Text("early"),))])
        await until(pilot, lambda: "↳" not in shown(app))
        await until(pilot, lambda: app.conversation.composer.text == "draft")


async def test_the_first_message_is_sent_when_the_session_is_open_and_is_remembered():
    session = FakeSession()
    async with screen(session, first_message="repair it") as (app, pilot):
        await until(pilot, lambda: session.commands == [Say((Text("repair it"),))])
        await pilot.press("up")
        await until(pilot, lambda: app.conversation.composer.text == "repair it")


async def test_a_session_that_does_not_open_is_told_in_full_and_one_can_leave():
    long = "The database /home/x/sessions.db is unreadable. " * 6 + "Move it away."
    opening = Opening(error=StoreCorrupt(long))
    opening.let.set()
    app = AgentApp(opening, welcome=WELCOME)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "No session could be opened.")
        await sees(pilot, "Move it away.")
        await sees(pilot, "✗ no session")
        await pilot.press("ctrl+d")
        await until(pilot, lambda: app.return_value == Leave("", 0))


class Ways:
    """The setup of a test: each way works, or fails as it is told."""

    variables = (("ANTHROPIC_API_KEY", "Anthropic"), ("OPENAI_API_KEY", "OpenAI"))
    local = "0.5 GB"
    download = "0.5 GB, Apache-2.0, to /models/weights"

    def __init__(self) -> None:
        self.session = FakeSession()
        self.keys: list[tuple[str, str]] = []
        self.fails: AgentError | None = None
        self.finish = asyncio.Event()
        self.stopped = 0

    async def use_key(self, variable: str, key: str, /) -> Door:
        self.keys.append((variable, key))
        return self._open()

    async def install_local(self, progress: Callable[[int, int, str], None], /) -> Door:
        progress(250_000_000, 500_000_000, "weights")
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return self._open()

    async def demo(self) -> Door:
        return self._open()

    def _open(self) -> Door:
        if self.fails is not None:
            raise self.fails
        return self.session


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    monkeypatch.setattr("agent_cli.tui.grace.QUIET", 0.0)
    monkeypatch.setattr("agent_cli.tui.offers.HOLD", 0.0)
    return Ways()


def keyless(ways: Ways) -> AgentApp:
    opening = Opening(error=NoModel("No key was found: neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set."))
    opening.let.set()
    return AgentApp(opening, welcome=WELCOME, setup=ways)


async def test_without_a_key_three_ways_are_offered(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "neither ANTHROPIC_API_KEY nor")
        await sees(pilot, "How shall we start?")
        text = shown(app)
        assert "k enter a key (Anthropic, OpenAI)" in text
        assert "l install the local model (0.5 GB)" in text
        await pilot.press("d")
        await until(pilot, lambda: app.session is ways.session)
        await until(pilot, lambda: "How shall we start?" not in shown(app))
        await until(pilot, lambda: "No session could be opened" not in shown(app))
        await until(pilot, lambda: ways.session.commands == [Say((Text("Show me what you can do."),))])
        await pilot.press("x")
        assert app.conversation.composer.text == "x"


async def test_arrows_and_enter_choose_a_way_too(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "▸ k enter a key")
        await pilot.press("up", "up")
        await sees(pilot, "▸ d play the demo")
        await pilot.press("enter")
        await until(pilot, lambda: app.session is ways.session)


async def test_a_file_that_is_wrong_is_told_in_full_and_offers_nothing(ways: Ways):
    told = "model.nmae of /p/.agents/config.toml is not a key. " * 4 + "Remove it."
    opening = Opening(error=ConfigError(told))
    opening.let.set()
    app = AgentApp(opening, welcome=WELCOME, setup=ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "Remove it.")
        await sees(pilot, "Press Ctrl+D to quit")
        assert "How shall we start?" not in await still(pilot)
        await pilot.press("ctrl+d")
        await until(pilot, lambda: app.return_value == Leave("", 2))


async def test_a_key_is_entered_unseen(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("k")
        await sees(pilot, "Anthropic key (ANTHROPIC_API_KEY)")
        assert "used for this run, kept nowhere" in shown(app)
        await pilot.press("tab")
        strike(app, "sk-secret")
        await sees(pilot, "OpenAI key (OPENAI_API_KEY)")
        assert "sk-secret" not in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: ways.keys == [("OPENAI_API_KEY", "sk-secret")])
        await until(pilot, lambda: app.session is ways.session)


async def test_escape_leaves_the_entry_of_the_key(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("k")
        await sees(pilot, "Anthropic key")
        await pilot.press("escape")
        await sees(pilot, "How shall we start?")


async def test_a_way_that_fails_leaves_the_others_open(ways: Ways):
    ways.fails = ConfigError("The key was refused by the service.")
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("k", "x", "enter")
        await sees(pilot, "The key was refused by the service.")
        await sees(pilot, "How shall we start?")


async def test_installing_shows_how_far_it_is(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("l")
        await sees(pilot, "Download 0.5 GB, Apache-2.0, to /models/weights? y/n")
        await pilot.press("y")
        await sees(pilot, "250 of 500 MB  weights")
        ways.finish.set()
        await until(pilot, lambda: app.session is ways.session)
        assert ways.session.commands == [], "the real model is asked nothing by itself"


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_nothing_is_downloaded_without_a_yes(key: str, ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("l")
        await sees(pilot, "y/n")
        await pilot.press(key)
        await sees(pilot, "How shall we start?")
        assert "MB" not in await still(pilot)


async def test_escape_stops_the_download_and_it_can_go_on(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("l", "y")
        await sees(pilot, "Esc stops it")
        await pilot.press("escape")
        await sees(pilot, "It goes on from there next time.")
        await sees(pilot, "How shall we start?")
        assert ways.stopped == 1
        ways.finish.set()
        await pilot.press("l", "y")
        await until(pilot, lambda: app.session is ways.session)


async def test_leaving_stops_the_download(ways: Ways):
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("l", "y")
        await sees(pilot, "Esc stops it")
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: app.return_value == Leave("", 0))
    assert ways.stopped == 1


async def test_what_was_typed_before_goes_to_the_session_of_the_chosen_way(ways: Ways):
    opening = Opening(error=NoModel("no key"))
    opening.let.set()
    app = AgentApp(opening, welcome=WELCOME, setup=ways, first_message="hello")
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await pilot.press("d")
        await until(pilot, lambda: ways.session.commands == [Say((Text("hello"),))])


async def test_what_was_being_typed_chooses_no_way(ways: Ways, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_cli.tui.grace.QUIET", 1_000.0)
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await until(pilot, lambda: app.focused is not app.conversation.composer)
        strike(app, "list all")
        await until(pilot, lambda: app.conversation.composer.text == "list all")
        await sees(pilot, "How shall we start?")


async def test_escape_interrupts_when_nothing_is_open():
    session = FakeSession()
    async with screen(session) as (_, pilot):
        await pilot.press("escape")
        await pilot.pause()
        assert session.commands == []
        turn(session)
        await sees(pilot, "Esc interrupts")
        await pilot.press("escape")
        await until(pilot, lambda: session.commands == [Interrupt()])


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_that_it_interrupts_is_said_until_the_turn_has_ended(key: str):
    session = FakeSession()
    async with screen(session) as (_, pilot):
        turn(session)
        await sees(pilot, "Esc interrupts")
        await pilot.press(key)
        await sees(pilot, "interrupting")
        session.play(ev.TurnError("canceled", "interrupted", 130, "interrupted"))
        await sees(pilot, "○ ready")
        assert "interrupting" not in shown(pilot.app)


async def test_a_new_message_ends_the_hint_that_the_turn_is_interrupted():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        await sees(pilot, "Esc interrupts")
        await pilot.press("escape")
        await sees(pilot, "interrupting")
        app.conversation.composer.insert("rather this")
        await pilot.press("enter")
        await until(pilot, lambda: "interrupting" not in shown(app))


async def test_an_approval_is_more_than_any_hint():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        app.conversation.footer.hint("copied the block")
        await sees(pilot, "copied the block")
        asks(session)
        await sees(pilot, "? waits")
        assert "copied the block" not in shown(app)


async def test_a_compaction_shows_at_once_and_can_be_stopped():
    session = FakeSession()
    session.play(ev.SessionStarted("", "0", "linux", "2026-11-30", "scripted", "scripted-1", "ask"))
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("/compact the parser")
        await pilot.press("enter")
        await sees(pilot, "compacting …")
        assert session.commands == [Compact("the parser")]
        app.conversation.composer.insert("/compact")
        await pilot.press("enter")
        await sees(pilot, "It is being compacted already")
        await pilot.press("escape")
        await until(pilot, lambda: session.commands == [Compact("the parser"), Interrupt()])
        session.play(ev.OperatorNote("not compacted: interrupted", "warning"))
        await sees(pilot, "○ ready")
        await sees(pilot, "not compacted: interrupted")


@pytest.mark.parametrize(
    "outcome",
    [ev.CompactionPerformed("summary", 9_000, 1_000), ev.ContextReductionFailed("compaction", "no summary")],
)
async def test_a_compaction_is_over_when_its_outcome_is_known(outcome: ev.Recorded):
    session = FakeSession()
    session.play(ev.OperatorNote("an older note"))
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("/compact")
        await pilot.press("enter")
        await sees(pilot, "compacting …")
        session.play(outcome)
        await sees(pilot, "○ ready")


async def test_escape_leaves_the_transcript_first():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        await sees(pilot, "go on")
        await pilot.press("tab", "escape")
        assert app.focused is app.conversation.composer
        assert session.commands == []


async def test_ctrl_c_interrupts_always_and_twice_leaves():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        await sees(pilot, "go on")
        app.conversation.composer.insert("a draft")
        await pilot.press("tab", "ctrl+c")
        await until(pilot, lambda: session.commands == [Interrupt()])
        await sees(pilot, "Ctrl+C again quits")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.return_value == Leave("01SESSION", 0))
        assert session.closed


async def test_that_ctrl_c_leaves_is_said_for_as_long_as_it_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_cli.tui.app.TWICE", 0.1)
    async with screen() as (app, pilot):
        await pilot.press("ctrl+c")
        began = time.monotonic()
        await sees(pilot, "Ctrl+C again quits")
        await until(pilot, lambda: "again quits" not in shown(app))
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("waits", [True, False])
async def test_the_key_that_leaves_does_so_wherever_the_focus_is(waits: bool):
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        if waits:
            asks(session)
            await sees(pilot, "asks for permission")
        else:
            await pilot.press("tab")
        composer = app.conversation.composer
        await until(pilot, lambda: app.screen.focused is not composer)
        await pilot.press("ctrl+d")
        await until(pilot, lambda: app.return_value == Leave("01SESSION", 0))


async def test_a_slow_second_ctrl_c_does_not_leave(monkeypatch: pytest.MonkeyPatch):
    now = [10.0]
    monkeypatch.setattr("agent_cli.tui.app.monotonic", lambda: now[0])
    session = FakeSession()
    async with screen(session) as (_app, pilot):
        await pilot.press("ctrl+c")
        now[0] += 1.1
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert not session.closed
        now[0] += 0.9
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)


async def test_leaving_does_not_wait_for_ever_for_a_session():
    class Stuck(FakeSession):
        async def close(self, reason: str = "") -> None:
            await asyncio.Event().wait()

    session = Stuck()
    async with screen(session) as (app, pilot):
        app.leave()
        await pilot.pause()
        assert app.return_value is None
        app.leave()
        await until(pilot, lambda: app.return_value == Leave("", 0))


async def test_a_session_that_cannot_be_closed_is_told():
    class Broken(FakeSession):
        async def close(self, reason: str = "") -> None:
            raise StoreUnwritable("The disk is full.")

    async with screen(Broken()) as (app, pilot):
        app.leave()
        await until(pilot, lambda: app.return_value == Leave("", 1))


async def test_shift_tab_changes_the_mode():
    session = FakeSession()
    async with screen(session) as (_, pilot):
        await pilot.press("shift+tab")
        await until(pilot, lambda: session.commands == [SetMode("acceptEdits")])
        session.play(ev.ModeSwitched("acceptEdits"))
        await sees(pilot, "accept edits mode")


async def test_the_transcript_has_keys():
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=(80, 40)) as (app, pilot):
        await sees(pilot, "── done")
        reader = app.conversation.reader
        await pilot.press("tab", "k", "k", "k")
        await sees(pilot, "▎ ✓ edit_file")
        await pilot.press("y")
        assert app.clipboard.startswith("edit_file src/parser.py\n--- a/src/parser.py")
        await pilot.press("c")
        assert app.clipboard.startswith("--- a/src/parser.py")
        await pilot.press("g")
        await sees(pilot, "▎ agent-cli 0.1.0")
        await pilot.press("j", "j", "space")
        await sees(pilot, "▾ thought for 2 lines")
        await pilot.press("space")
        await sees(pilot, "▸ thought for 2 lines")
        await pilot.press("G")
        assert reader.follows
        await pilot.press("tab", "x")
        assert app.conversation.composer.text == "x"
        assert "▎" not in shown(app)


async def test_ctrl_o_unfolds_everything_and_folds_it_again():
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=(80, 60)) as (_, pilot):
        await sees(pilot, "more lines")
        await pilot.press("ctrl+o")
        await sees(pilot, "tests/test_parser.py:20: in test_empty")
        await pilot.press("ctrl+o")
        await sees(pilot, "more lines")


async def test_copying_code_goes_from_fence_to_fence():
    session = FakeSession()
    turn(session)
    answer(session, "```\nfirst\n```\n\ntext\n\n```\nsecond\n```\n")
    async with screen(session) as (app, pilot):
        await sees(pilot, "second")
        await pilot.press("tab", "k", "k", "c")
        assert app.clipboard == "first"
        await pilot.press("c")
        assert app.clipboard == "second"
        await sees(pilot, "code 2 of 2")
        await pilot.press("g", "c")
        await sees(pilot, "nothing to copy")


async def test_at_the_end_of_a_turn_its_answer_is_what_is_copied():
    session = FakeSession()
    turn(session)
    answer(session, "So:\n\n```\nfirst\n```\n")
    async with screen(session) as (app, pilot):
        await sees(pilot, "── done")
        await pilot.press("tab", "c")  # a note stands below the end of the turn
        assert app.clipboard == "first"
        await pilot.press("k", "y")
        assert app.clipboard == "So:\n\n```\nfirst\n```\n"
        await pilot.press("c")
        assert app.clipboard == "first"
        await pilot.press("escape")
        turn(session)
        session.play(ev.TurnError("canceled", "interrupted", 130, "stopped by nobody"))
        await sees(pilot, "interrupted")
        await pilot.press("tab", "c")
        await sees(pilot, "nothing to copy")


async def test_searching_the_transcript():
    session = FakeSession()
    session.play(*(ev.OperatorNote(f"note number {number}") for number in range(100)))
    async with screen(session) as (app, pilot):
        await sees(pilot, "note number 99")
        await pilot.press("tab", "slash")
        strike(app, "NUMBER 1")
        await pilot.press("enter")
        await sees(pilot, "▎ · note number 19")
        await pilot.press("n")
        await sees(pilot, "▎ · note number 18")
        await pilot.press("N")
        await sees(pilot, "▎ · note number 19")
        await pilot.press("slash")
        strike(app, "nowhere")
        await pilot.press("enter")
        await sees(pilot, "not found: nowhere")
        await pilot.press("slash", "escape")
        assert app.focused is app.conversation.reader


async def test_help_and_the_palette_list_the_commands():
    async with screen(size=(90, 60)) as (app, pilot):
        await pilot.press("f1")
        await sees(pilot, "command palette: everything there is")
        await pilot.press("ctrl+p")
        strike(app, "stats")
        await sees(pilot, "tokens and cost of each model")
        await pilot.press("escape")
        assert app.focused is app.conversation.composer


async def test_a_long_answer_of_a_command_is_shown_from_its_first_line_on():
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=(80, 24)) as (app, pilot):
        await sees(pilot, "── done")
        strike(app, "/help")
        await pilot.press("enter")
        await sees(pilot, "Beginnings")
        assert shown(app).splitlines().index("  Beginnings") <= 1
        await sees(pilot, " ↓  ask mode")
        strike(app, "/mode")
        await pilot.press("enter")
        await sees(pilot, "Permission mode")
        await sees(pilot, " ○ ")


async def test_a_log_that_breaks_is_told_and_the_screen_stays():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        session.breaks(StoreUnwritable("The disk is full."))
        await sees(pilot, "The session cannot go on.")
        await sees(pilot, "The disk is full.")
        await pilot.press("x")
        assert app.conversation.composer.text == "x"


async def test_a_session_that_broke_works_no_more_and_keeps_no_message():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        await sees(pilot, "working")
        session.refuses = StoreUnwritable("The disk is full.")
        session.breaks(session.refuses)
        await sees(pilot, "✗ cannot go on")
        assert "working" not in shown(app)
        app.conversation.composer.insert("not lost")
        await pilot.press("enter")
        await sees(pilot, "The session did not take that.")
        await until(pilot, lambda: app.conversation.composer.text == "not lost")


async def test_no_timer_runs_while_nothing_moves():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        conversation = app.conversation
        turn(session)
        await until(pilot, lambda: conversation.footer.ticks)
        answer(session, "done")
        await until(pilot, lambda: not conversation.footer.ticks)
        await still(pilot)
        frames, draws = conversation.feed.frames, conversation.footer.bar.draws
        running = {
            str(timer)
            for node in app.screen.walk_children(with_self=True)
            for timer in node._timers
            if timer._repeat is None and timer._active.is_set()
        }
        assert not running
        await still(pilot)
        assert (conversation.feed.frames, conversation.footer.bar.draws) == (frames, draws)
        assert not conversation.composer.cursor_blink


async def test_a_crash_names_no_secret_and_no_exit_code_zero(monkeypatch: pytest.MonkeyPatch):
    app = AgentApp(Opening(), welcome=WELCOME)

    def breaks() -> None:
        secret = "sk-" + "secret"
        raise RuntimeError(f"broken by {len(secret)}")

    with pytest.raises(RuntimeError, match="broken by"):
        async with app.run_test() as pilot:
            app.call_later(breaks)
            await until(pilot, lambda: app.crash)
    assert "broken by" in app.crash
    assert "sk-secret" not in app.crash
    assert app.return_code == 1


async def test_a_crash_lets_go_of_the_session():
    session = FakeSession()

    def breaks() -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        async with screen(session) as (app, pilot):
            app.call_later(breaks)
            await until(pilot, lambda: app.crash)
    assert session.closed == "the screen broke"


async def test_a_crash_does_not_wait_for_ever_for_a_session(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("agent_cli.tui.app.CLOSING", 0.01)

    class Stuck(FakeSession):
        async def close(self, reason: str = "") -> None:
            await asyncio.Event().wait()

    def breaks() -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        async with screen(Stuck()) as (app, pilot):
            app.call_later(breaks)
            await until(pilot, lambda: app.crash)
    assert "the session was not closed" in caplog.text


async def test_typing_over_the_transcript_goes_on_in_the_composer():
    async with screen() as (app, pilot):
        await pilot.press("tab")
        strike(app, "what is going on, j or k?")  # some of them are keys of the transcript
        await until(pilot, lambda: app.conversation.composer.text == "what is going on, j or k?")
        await pilot.press("tab")
        app.post_message(events.Paste("pasted"))
        await until(pilot, lambda: app.conversation.composer.text.endswith("?pasted"))


async def test_a_click_on_the_transcript_leaves_the_keys_to_the_composer():
    async with screen() as (app, pilot):
        await pilot.click(app.conversation.reader, offset=(5, 1))
        await pilot.press("k")
        assert app.conversation.composer.text == "k"


async def test_a_kill_switch_that_comes_later_stays_on_the_screen_until_it_is_taken_back():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        answer(session, "done")
        session.halted = (
            "kill_switch: kill switch all is on, by ann: fire (agent-cli kill-switch off --scope all)"
        )
        session.play(
            ev.GuardrailTrip("kill_switch", "all", "halt", "session", "kill switch all is on", False)
        )
        await sees(pilot, "The session is halted  until the kill switch is taken back")
        await sees(pilot, "by ann: fire (agent-cli kill-switch")
        session.halted = ""
        session.play(ev.GuardrailReset("kill_switch"))
        await until(pilot, lambda: "until the kill switch is taken back" not in shown(app))
        await sees(pilot, "guardrail kill_switch reset")


async def test_a_halted_session_says_so_at_once():
    session = FakeSession()
    session.halted = "The ceiling of $10 is reached."
    async with screen(session) as (_, pilot):
        await sees(pilot, "The ceiling of $10 is reached.")
        await sees(pilot, "/guardrail")


@pytest.mark.parametrize("text", ["quiet please", "delete it", "kill that", "list all"])
async def test_a_sentence_chooses_no_way_even_after_a_pause(
    text: str, ways: Ways, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent_cli.tui.offers.HOLD", 1_000.0)
    app = keyless(ways)
    async with app.run_test(size=(80, 30)) as pilot:
        await sees(pilot, "How shall we start?")
        await until(pilot, lambda: app.focused is not app.conversation.composer)
        strike(app, text)
        await until(pilot, lambda: app.conversation.composer.text == text)
        await sees(pilot, "Tab comes here, to choose")
        assert app.return_value is None
        await pilot.press("tab", "q")
        await sees(pilot, "q …")
        await pilot.press("escape")
        await until(pilot, lambda: "q …" not in shown(app))
        await pilot.press("q", "enter")
        await until(pilot, lambda: app.return_value == Leave("", 0))


def todo(*items: tuple[str, str]) -> tuple[ev.Recorded, ...]:
    call = ToolCall("t1", "todo", {"items": [{"text": text, "status": status} for text, status in items]})
    said = ev.AssistantMessage((call,), "scripted", "scripted-1", "tool-calls")
    result = ev.Output((Text("noted"),), ev.Shown("\n".join(text for text, _ in items)))
    return said, ev.ToolCallProposed(call), ev.ToolReturned("t1", "todo", result)


async def test_what_the_agent_has_set_itself_to_do_is_a_panel_and_a_block():
    session = FakeSession()
    async with screen(session, size=(60, 30)) as (app, pilot):
        await pilot.press("ctrl+t")
        await sees(pilot, "To do: nothing is listed")
        turn(session)
        session.play(*todo(("look", "done"), ("mend", "in_progress"), ("test", "pending")))
        await sees(pilot, "To do: 1 of 3 done")
        for line in ("✓ look", "▸ mend", "○ test"):
            assert shown(app).count(line) == 2, "once in the panel, once under the call"
        session.play(*todo(("look", "done"), ("mend", "done"), ("test", "in_progress")))
        await sees(pilot, "To do: 2 of 3 done")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "To do:" not in shown(app))
        app.conversation.composer.insert("/todo")
        await pilot.press("enter")
        await sees(pilot, "To do: 2 of 3 done")


async def test_a_resumed_session_says_what_it_has_brought_along():
    session = FakeSession()
    turn(session)
    session.play(ev.ModeSwitched("plan"), ev.PlanRecorded("plan.md", "mend it"))
    session.play(ev.ApprovalDecided("c", "bash", True, "operator", "tool", "bash:*"))
    session.play(*todo(("look", "done"), ("mend", "pending")))
    answer(session, "Done.")
    async with screen(session, size=(120, 30)) as (app, pilot):
        await sees(
            pilot,
            "resumed at turn 1: scripted-1, plan mode, 1 grant, no guardrail halt, a plan in force, to do: 1 of 2 done",
        )
        turn(session, "go on")
        await sees(pilot, "▌ go on")
        assert shown(app).count("resumed at") == 1


async def test_a_session_that_begins_with_a_message_was_not_resumed():
    session = FakeSession()
    session.since = 0
    turn(session, "first words")
    async with screen(session) as (app, pilot):
        answer(session, "Done.")
        await sees(pilot, "Done.")
        assert "resumed" not in shown(app)


async def test_a_theme_that_there_is_not_is_told():
    async with screen(welcome=Welcome(theme="drak")) as (_, pilot):
        await sees(pilot, "There is no theme 'drak'. Did you mean 'dark'?")


async def test_a_new_session_was_not_resumed():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        await sees(pilot, "go on")
        assert "resumed" not in shown(app)


async def test_the_palette_lists_commands_and_keys():
    async with screen(size=(80, 24)) as (app, pilot):
        listed = {command.title for command in app.get_system_commands(app.screen)}
        assert {
            "/todo",
            "/help",
            "/quit",
            "Ctrl+T  todo",
            "Shift+Tab  next-mode",
            "Ctrl+Z  suspend",
        } <= listed
        await pilot.press("ctrl+p")
        strike(app, "ctrl+t")
        await sees(pilot, "open or close the list")
        await pilot.press("enter")
        await sees(pilot, "To do: nothing is listed")
