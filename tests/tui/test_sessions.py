"""Going from one session to another in the same screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Rewind, Say, SetMode
from agent_cli.kernel.errors import AgentError, ModelGone, SessionLocked
from agent_cli.kernel.messages import Text
from agent_cli.talk.commands.sessions import age
from agent_cli.talk.door import Door, Form, Known, Sources, Welcome
from agent_cli.talk.stage import Wish
from agent_cli.tui.app import AgentApp
from tests.fakes.screen import answer, screen, sees, shown, strike, turn, until
from tests.fakes.session import FakeSession
from tests.tui.test_commands import Board

KNOWN = (
    Known("01SESSION", "this one", turns=1),
    Known("01OLD", "Repair the parser", "", "/src/parser", "scripted/scripted-1", 1_700_000_000.0, 12),
    Known("01OTHER", "Write the manual", "manual", "/src/manual", "a/b-2", 1_700_000_000.0, 1),
)


class Shelf:
    """Sessions that are kept. `refuses` is raised by what opens."""

    def __init__(self) -> None:
        self.refuses: AgentError | None = None
        self.wishes: list[Wish] = []
        self.renamed: list[tuple[str, str]] = []
        self.exported: list[tuple[str, Form, Path]] = []
        self.opened: list[FakeSession] = []

    def listed(self) -> Sequence[Known]:
        return KNOWN

    def preview(self, session: str, /) -> str:
        return f"you: the last of {session}"

    def rename(self, session: str, name: str, /) -> None:
        self.renamed.append((session, name))

    def export(self, session: Door, form: Form, file: Path, /) -> None:
        self.exported.append((session.id, form, file))

    async def check(self) -> None:
        if self.refuses is not None:
            raise self.refuses

    async def open(self, wish: Wish, /) -> Door:
        self.wishes.append(wish)
        if self.refuses is not None:
            raise self.refuses
        session = FakeSession()
        turn(session, f"said in {wish.resume or 'a new one'}")
        answer(session, "an old answer")
        self.opened.append(session)
        return session


async def test_the_list_filters_shows_the_last_exchange_and_switches():
    first, shelf = FakeSession(), Shelf()
    turn(first, "said before")
    answer(first, "the answer here")
    async with screen(first, sources=Sources(sessions=shelf)) as (app, pilot):
        strike(app, "/resume")
        await pilot.press("enter")
        await sees(pilot, "Repair the parser")
        text = shown(app)
        assert "this one" not in text
        assert "12 turns" in text
        await sees(pilot, "the last of 01OLD")
        strike(app, "manual")
        await sees(pilot, "the last of 01OTHER")
        assert "Repair the parser" not in shown(app)
        await pilot.press("enter")
        await sees(pilot, "said in 01OTHER")
        assert first.closed
        assert shelf.wishes == [Wish(resume="01OTHER")]
        assert "the answer here" not in shown(app)
        assert app.focused is app.conversation.composer
        strike(app, "on it goes")
        await pilot.press("enter")
        await until(pilot, lambda: shelf.opened[0].commands)


def test_the_list_says_which_directory_where_it_is_another_one():
    made, _ = board(FakeSession())
    made.desk.welcome = Welcome(cwd="/src/parser")
    made.run("/resume")
    parser, manual = made.stage.lists[-1].rows()
    assert "/src/parser" not in parser.note
    assert manual.note.endswith(" · in /src/manual")


async def test_a_session_that_was_begun_elsewhere_says_so_once():
    session = FakeSession()
    session.state.cwd = "/b"
    session.play(ev.SessionStarted("/a", "0", "linux", "2026-01-01", "p", "m", "ask"))
    async with screen(session) as (app, pilot):
        await sees(pilot, "resumed before its first turn")
        assert shown(app).count("this session was begun in /a; it goes on in /b") == 1


async def test_escape_leaves_the_list_and_everything_as_it_was():
    first, shelf = FakeSession(), Shelf()
    async with screen(first, sources=Sources(sessions=shelf)) as (app, pilot):
        strike(app, "/resume")
        await pilot.press("enter")
        await sees(pilot, "Repair the parser")
        await pilot.press("escape")
        await until(pilot, lambda: "Repair the parser" not in shown(app))
        assert app.focused is app.conversation.composer
        assert not shelf.wishes
        assert not first.closed


async def test_keys_of_your_own_hold_in_the_other_session_too():
    shelf = Shelf()
    welcome = Welcome(keys={"send": "ctrl+s", "newline": "enter"})
    async with screen(FakeSession(), sources=Sources(sessions=shelf), welcome=welcome) as (app, pilot):
        strike(app, "/resume 01OLD")
        await pilot.press("ctrl+s")
        await sees(pilot, "said in 01OLD")
        strike(app, "go on")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(shelf.opened[0].commands))
    assert shelf.opened[0].commands == [Say((Text("go on"),))]


async def test_a_big_paste_of_the_draft_comes_along_whole_into_the_other_session():
    shelf = Shelf()
    pasted = "line\n" * 50
    async with screen(FakeSession(), sources=Sources(sessions=shelf)) as (app, pilot):
        app.conversation.composer.write(pasted)
        app.conversation.composer.begin("/resume 01OLD")
        await pilot.press("enter")
        await sees(pilot, "said in 01OLD")
        await sees(pilot, "[pasted 50 lines]")
        await pilot.press("enter")
        await until(pilot, lambda: bool(shelf.opened[0].commands))
    assert shelf.opened[0].commands == [Say((Text(pasted),))]


async def test_a_session_that_cannot_be_opened_leaves_this_one_open():
    first, shelf = FakeSession(), Shelf()
    shelf.refuses = SessionLocked("It is open elsewhere.")
    async with screen(first, sources=Sources(sessions=shelf)) as (app, pilot):
        strike(app, "/resume 01OLD")
        await pilot.press("enter")
        await sees(pilot, "It is open elsewhere.")
        assert not first.closed
        assert app.session is first


async def test_what_was_sent_while_no_session_could_be_opened_goes_to_the_one_that_is_opened_then():
    shelf = Shelf()

    async def locked() -> Door:
        raise SessionLocked("It is open elsewhere.")

    app = AgentApp(locked, welcome=Welcome(model="scripted-1"), sources=Sources(sessions=shelf))
    async with app.run_test() as pilot:
        await sees(pilot, "It is open elsewhere.")
        strike(app, "an early message")
        await pilot.press("enter")
        await sees(pilot, "when the session is open")
        await pilot.press("shift+tab")
        strike(app, "/resume 01OLD")
        await pilot.press("enter")
        await sees(pilot, "said in 01OLD")
        await until(pilot, lambda: len(shelf.opened[0].commands) == 2)
    assert shelf.opened[0].commands == [SetMode("acceptEdits"), Say((Text("an early message"),))]


async def test_where_its_model_is_gone_another_one_is_asked_for():
    first, shelf = FakeSession(), Shelf()
    shelf.refuses = ModelGone("Session '01OLD' was held with mine/gpt-5, which cannot be used now.")
    sources = Sources(sessions=shelf, models=lambda: ("model-a", "model-b"))
    async with screen(first, sources=sources) as (app, pilot):
        strike(app, "/resume 01OLD")
        await pilot.press("enter")
        await sees(pilot, "Go on with which model?")
        await sees(pilot, "was held with mine/gpt-5")
        shelf.refuses = None
        await sees(pilot, "model-b")
        await pilot.press("down", "enter")
        await sees(pilot, "said in 01OLD")
    assert shelf.wishes == [Wish(resume="01OLD"), Wish(resume="01OLD", model="model-b")]


async def test_without_another_model_everything_stays_as_it_was():
    first, shelf = FakeSession(), Shelf()
    shelf.refuses = ModelGone("Session '01OLD' was held with mine/gpt-5, which cannot be used now.")
    async with screen(first, sources=Sources(sessions=shelf, models=lambda: ("model-a",))) as (app, pilot):
        strike(app, "/resume 01OLD")
        await pilot.press("enter")
        await sees(pilot, "model-a")
        await pilot.press("escape")
        await sees(pilot, "Nothing else has changed.")
        assert app.session is first


def board(session: FakeSession) -> tuple[Board, Shelf]:
    shelf = Shelf()
    made = Board(session)
    made.desk.sources = made.desk.sources._replace(sessions=shelf)
    return made, shelf


@pytest.mark.parametrize(
    ("line", "wish"),
    [
        ("/new", Wish()),
        ("/reload", Wish(resume="01SESSION", anew=True)),
        ("/continue manual", Wish(resume="manual")),
        ("/fork", Wish(fork="01SESSION@5")),
        ("/fork @3", Wish(fork="01SESSION@3")),
    ],
)
def test_wishes(line: str, wish: Wish):
    session = FakeSession()
    turn(session)
    answer(session, "so")
    made, _ = board(session)
    assert made.run(line) == ""
    assert made.stage.wishes == [wish]


async def test_on_the_screen_a_fork_gives_the_message_back_to_be_changed():
    first, shelf = FakeSession(), Shelf()
    turn(first, "the first word")
    answer(first, "so")
    async with screen(first, sources=Sources(sessions=shelf)) as (app, pilot):
        strike(app, "/fork 1")
        await pilot.press("enter")
        await sees(pilot, "said in a new one")
        assert app.conversation.composer.text == "the first word"


def test_a_fork_before_a_message_counts_as_rewind_does_and_gives_the_message_back():
    session = FakeSession()
    for word in ("the first word", "the second word"):
        turn(session, word)
        answer(session, "so")
    made, _ = board(session)
    second = session.state.spoken[1].seq
    assert made.run("/fork 2") == ""
    (wish,) = made.stage.wishes
    kept = int(wish.fork.rpartition("@")[2])
    assert [entry.event.__class__.__name__ for entry in session.past(kept, second)] == [
        "TurnStarted",
        "OperatorMessage",
    ]
    assert made.stage.written == ["the second word"]
    for wrong in ("/fork x", "/fork @"):
        assert "/fork [N|@ENTRY]" in made.run(wrong)
    for number in ("3", "0"):
        for command in ("/fork", "/rewind"):
            told = made.run(f"{command} {number}")
            assert f"There is no message {number}: they go from 1 to 2; /rewind lists them." in told


def test_going_back_to_a_message_by_its_number_gives_it_back_too():
    session = FakeSession()
    for word in ("the first word", "the second word"):
        turn(session, word)
        answer(session, "so")
    made, _ = board(session)
    second = session.state.spoken[1].seq
    assert made.run("/rewind 2 files") == ""
    assert made.stage.written == []
    assert made.run("/rewind 2") == ""
    assert session.commands == [Rewind(second, "files"), Rewind(second, "both")]
    assert made.stage.written == ["the second word"]
    turn(session, "and on")
    assert made.run("/rewind 1") == ""
    assert made.stage.written == ["the second word"], "a turn runs: the session refuses it"


def test_before_anything_was_said_there_is_no_message_to_go_back_to():
    made, _ = board(FakeSession())
    assert "There is no message 1: nothing was said yet." in made.run("/rewind 1")


def test_a_running_turn_is_not_stopped_by_leaving_for_another_session():
    session = FakeSession()
    session.play(ev.TurnStarted("m"))
    made, _ = board(session)
    for line in ("/reload", "/new", "/resume", "/resume x", "/fork"):
        assert "A turn is running" in made.run(line)
    assert not made.stage.wishes
    assert not made.stage.lists


def test_a_session_is_named_and_written_out(tmp_path: Path):
    session = FakeSession()
    session.state.cwd = str(tmp_path)
    made, shelf = board(session)
    assert "called the parser" in made.run("/rename the parser")
    assert shelf.renamed == [("01SESSION", "the parser")]
    assert "/rename NAME" in made.run("/rename")
    for line in ("/export", "/export html", "/export a.jsonl", "/export md /x/y.txt"):
        assert "The session is in" in made.run(line)
    assert shelf.exported == [
        ("01SESSION", "markdown", tmp_path / "session-01SESSION.md"),
        ("01SESSION", "html", tmp_path / "session-01SESSION.html"),
        ("01SESSION", "jsonl", tmp_path / "a.jsonl"),
        ("01SESSION", "markdown", Path("/x/y.txt")),
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "now"), (59, "now"), (60, "1 min"), (7_200, "2 h"), (259_300, "3 d")]
)
def test_ages(seconds: float, text: str):
    assert age(seconds) == text
