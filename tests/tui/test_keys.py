"""Keys can be given to other actions; a wish that cannot be met is told and changes nothing."""

from __future__ import annotations

import pytest

from agent_cli.kernel.commands import Answer, SetMode
from agent_cli.talk.door import Welcome
from agent_cli.tui.composer import EDITS, Composer
from agent_cli.tui.grace import QUIET, Grace
from agent_cli.tui.guide import HELP
from agent_cli.tui.keys import ACTIONS, BY_NAME, Keys, canonical, label
from tests.fakes.screen import screen, sees, shown, still, strike, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import asks, whole_turn


def test_the_usual_keys_do_not_get_in_each_others_way():
    keys = Keys()
    assert keys.take({action.name: ",".join(action.keys) for action in ACTIONS}) == []
    assert len(BY_NAME) == len(ACTIONS)
    assert all(canonical(key) == key for action in ACTIONS for key in action.keys)
    assert all(action.does for action in ACTIONS)


def test_the_help_names_every_place_and_only_known_actions():
    named = {name for names, _ in HELP for name in names}
    assert named <= BY_NAME.keys()
    assert {BY_NAME[name].where for name in named} == {action.where for action in ACTIONS}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("?", "question_mark"),
        ("/", "slash"),
        ("+", "plus"),
        ("G", "G"),
        (" ", "space"),
        ("ctrl+/", "ctrl+slash"),
        ("shift+ctrl+x", "ctrl+shift+x"),
        ("f5", "f5"),
        ("pageup", "pageup"),
        ("question_mark", "question_mark"),
        ("crtl+x", ""),
        ("ctrl+ctrl+x", ""),
        ("ctrl+", ""),
        ("", ""),
        ("nothing", ""),
    ],
)
def test_names_of_keys(key: str, name: str):
    assert canonical(key) == name


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("ctrl+c", "Ctrl+C"),
        ("question_mark", "?"),
        ("pageup", "PageUp"),
        ("j", "j"),
        ("ctrl+slash", "Ctrl+/"),
    ],
)
def test_keys_as_people_write_them(key: str, text: str):
    assert label(key) == text


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"hepl": "f2"}, "there is no action 'hepl'. /keys lists them."),
        ({"help": "crtl+h"}, "'crtl+h' for help is not a key."),
        ({"help": "h"}, "h for help would no longer be typed."),
        ({"help": "ctrl+c"}, "Ctrl+C for help is the key of interrupt too; help keeps F1."),
        ({"find": "y"}, "y for find is the key of copy too; find keeps /."),
    ],
)
def test_what_cannot_be_is_told_and_not_taken(wish: dict[str, str], told: str):
    keys = Keys()
    (trouble,) = keys.take(wish)
    assert trouble.startswith("ui.keys: ")
    assert told in trouble
    assert keys.keymap == {}


def test_two_actions_may_change_places():
    keys = Keys()
    assert keys.take({"find-up": "N", "find-down": "n"}) == []
    assert keys.action("transcript", "N") == "find-up"


def test_an_action_of_another_place_may_have_the_same_key():
    keys = Keys()
    assert keys.take({"approve": "c"}) == []
    assert keys.action("approval", "c") == "approve"
    assert keys.action("transcript", "c") == "copy-code"


async def test_keys_of_the_screen_and_of_the_composer_are_changed():
    session = FakeSession()
    welcome = Welcome(
        keys={
            "next-mode": "f3",
            "send": "ctrl+s",
            "newline": "enter",
            "quit": "ctrl+q",
            "help": "f2",
            "back": "f4",
        }
    )
    async with screen(session, (100, 50), welcome) as (app, pilot):
        await sees(pilot, "Ctrl+S sends · / commands · F2 keys")
        await pilot.press("shift+tab")
        await pilot.press("f3")
        await until(pilot, lambda: session.commands == [SetMode("acceptEdits")])
        strike(app, "a")
        await pilot.press("enter", "b")
        assert app.conversation.composer.text == "a\nb"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.conversation.composer.text == "")
        assert len(session.commands) == 2
        turn(session)
        await sees(pilot, "F4 interrupts")
        await pilot.press("f2")
        await sees(pilot, "F2")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: session.closed)


async def test_keys_of_the_transcript_are_changed():
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=(80, 40), welcome=Welcome(keys={"previous": "w", "copy": "e"})) as (
        app,
        pilot,
    ):
        await sees(pilot, "── done")
        await pilot.press("tab", "w", "w", "w")
        await sees(pilot, "▎ ✓ edit_file")
        await pilot.press("e")
        assert app.clipboard.startswith("edit_file src/parser.py")
        await pilot.press("y")
        await until(pilot, lambda: app.conversation.composer.text == "y")


async def test_keys_of_an_approval_are_changed(monkeypatch: pytest.MonkeyPatch):
    now: list[float] = [100.0]
    monkeypatch.setattr(Grace, "now", lambda self: now[0])
    session = FakeSession()
    asks(session)
    async with screen(session, welcome=Welcome(keys={"approve": "ctrl+y", "deny": "x"})) as (app, pilot):
        await sees(pilot, "Ctrl+Y once")
        await pilot.press("ctrl+y")
        assert session.commands == [], "it came too soon"
        now[0] += QUIET * 1.1
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.commands == [Answer("c5", True, "once")])
        now[0] += QUIET * 1.1
        await pilot.press("x")
        await until(pilot, lambda: session.commands[1:] == [Answer("c6", False)])
        assert app.conversation.composer.text == ""


async def test_a_wish_that_cannot_be_met_is_a_notice_and_later_wishes_replace_it():
    async with screen(size=(100, 120), welcome=Welcome(keys={"hepl": "f2"})) as (app, pilot):
        await sees(pilot, "ui.keys: there is no action 'hepl'. /keys lists them.")
        app.adopt(Welcome(keys={"hepl": "f2"}, theme="foo"))  # config, as it was read a second time
        app.adopt(Welcome(keys={"hepl": "f2"}, theme="foo"))
        await sees(pilot, "There is no theme 'foo'.")
        await still(pilot)
        assert shown(app).count("there is no action") == shown(app).count("There is no theme") == 1
        app.adopt(Welcome(keys={"help": "f2"}))
        await pilot.press("f2")
        await sees(pilot, "F2, ?")
        app.conversation.composer.insert("/keys")
        await pilot.press("enter")
        await sees(pilot, "approve-always")
        await sees(pilot, "a: approve always, by a rule in config")


async def test_a_question_mark_is_help_on_an_empty_composer_only():
    async with screen(size=(90, 60)) as (app, pilot):
        await pilot.press("a", "question_mark")
        assert app.conversation.composer.text == "a?"
        await pilot.press("backspace", "backspace", "question_mark")
        await sees(pilot, "command palette")
        assert app.conversation.composer.text == ""


async def test_keys_of_editing_and_of_the_history_are_changed():
    keys = {"up": "alt+k", "left": "alt+h", "delete-word-left": "alt+w", "undo": "f9"}
    async with screen(FakeSession(), welcome=Welcome(keys=keys)) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "first")
        await pilot.press("enter")
        await until(pilot, lambda: composer.text == "")
        await pilot.press("up")
        assert composer.text == "", "the old key does nothing"
        await pilot.press("alt+k")
        assert composer.text == "first"
        await pilot.press("alt+h", "X")
        assert composer.text == "firsXt"
        await pilot.press("end", "alt+w")
        assert composer.text == ""
        await pilot.press("f9")
        assert composer.text == "firsXt"


async def test_every_editing_key_is_an_action_of_the_table():
    assert "BINDINGS" not in vars(Composer)
    assert {action.name for action in ACTIONS if action.where == "composer"} >= EDITS.keys()


async def test_the_keys_of_an_approval_are_all_seen_on_a_small_screen():
    session = FakeSession()
    asks(session)
    async with screen(session, size=(40, 16)) as (_app, pilot):
        await sees(pilot, "1 of 2")
        text = await still(pilot)
        for key in ("y once", "s exact call", "t every call", "a always", "n deny", "N say why", "j/k next"):
            assert key in text, text
