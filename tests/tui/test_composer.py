"""What is typed is sent, kept, or completed, and never lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say, SetModel
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Text, text_of
from agent_cli.talk.door import Sources, Welcome
from agent_cli.tui.menu import MOST, of_models
from tests.fakes.screen import screen, sees, shown, strike, turn, until
from tests.fakes.session import FakeSession


def sent(session: FakeSession) -> list[str]:
    return [text_of(command.content) for command in session.commands if isinstance(command, Say)]


async def test_enter_sends_and_empties():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        strike(app, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text("hello"),), "steer")]
        assert app.conversation.composer.text == ""


async def test_nothing_is_sent_from_an_empty_composer():
    session = FakeSession()
    async with screen(session) as (_, pilot):
        await pilot.press("enter", "space", "enter")
        await pilot.pause()
        assert session.commands == []


async def test_three_ways_to_break_a_line():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        composer.insert("one")
        await pilot.press("shift+enter")
        composer.insert("two")
        await pilot.press("ctrl+j")
        composer.insert("three\\")
        await pilot.press("enter")
        composer.insert("four")
        assert composer.text == "one\ntwo\nthree\nfour"
        await pilot.press("enter")
        await until(pilot, lambda: sent(session) == ["one\ntwo\nthree\nfour"])


async def test_it_grows_with_the_text_up_to_a_limit_and_shrinks_again():
    async with screen(size=(80, 40)) as (app, pilot):
        composer = app.conversation.composer
        composer.insert("a\nb\nc")
        await until(pilot, lambda: composer.size.height == 3)
        composer.insert("\n" * 20)
        await until(pilot, lambda: composer.size.height == 8)
        composer.load_text("")
        await until(pilot, lambda: composer.size.height == 1)


async def test_a_long_line_wraps_and_grows():
    async with screen(size=(40, 24)) as (app, pilot):
        app.conversation.composer.insert("word " * 20)
        await until(pilot, lambda: app.conversation.composer.size.height >= 3)


async def test_a_big_paste_is_a_chip_and_sent_whole():
    session = FakeSession()
    text = "".join(f"line {number}\n" for number in range(1_234))
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        composer.insert("look: ")
        composer.post_message(events.Paste(text))
        await sees(pilot, "look: [pasted 1,234 lines]")
        await pilot.press("enter")
        await until(pilot, lambda: sent(session))
        assert sent(session) == ["look: " + text]


async def test_keys_that_follow_enter_at_once_begin_the_next_message():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("first")
        app.post_message(events.Key("enter", "\r"))
        strike(app, "second")
        await until(pilot, lambda: app.conversation.composer.text == "second")
        await until(pilot, lambda: sent(session))
        assert sent(session) == ["first"]


async def test_what_is_not_taken_stands_there_again_before_what_was_typed_since():
    async with screen() as (app, pilot):
        app.conversation.composer.insert("/nosuch")
        app.post_message(events.Key("enter", "\r"))
        app.post_message(events.Key("x", "x"))
        await sees(pilot, "There is no command /nosuch")
        await until(pilot, lambda: app.conversation.composer.text == "/nosuchx")


async def test_a_chip_goes_at_one_stroke():
    async with screen() as (app, pilot):
        composer = app.conversation.composer
        composer.insert("x ")
        composer.post_message(events.Paste("a\n" * 30))
        await until(pilot, lambda: composer.text == "x [pasted 30 lines]")
        await pilot.press("backspace")
        assert composer.text == "x "
        await pilot.press("backspace")
        assert composer.text == "x"


async def test_a_paste_brings_no_control_codes_to_the_screen():
    async with screen() as (app, pilot):
        app.conversation.composer.post_message(events.Paste("a\x1b[31mb\x07\tc"))
        await until(pilot, lambda: app.conversation.composer.text == "ab\\x07\tc")


async def test_a_burst_of_keys_with_line_breaks_is_a_paste_and_sends_nothing():
    """Terminals without bracketed paste send the lines as keys."""
    session = FakeSession()
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        for character in "first line\rsecond line":
            key = "enter" if character == "\r" else "space" if character == " " else character
            composer.post_message(events.Key(key, character))
        await until(pilot, lambda: "second line" in composer.text)
        assert composer.text == "first line\nsecond line"
        assert session.commands == []


async def test_a_burst_that_ends_with_enter_sends():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        for character in "hello\r":
            key = "enter" if character == "\r" else character
            app.conversation.composer.post_message(events.Key(key, character))
        await until(pilot, lambda: sent(session) == ["hello"])


async def test_earlier_messages_come_back(tmp_path: Path):
    session = FakeSession()
    welcome = Welcome(history=str(tmp_path / "history.jsonl"))
    async with screen(session, welcome=welcome) as (app, pilot):
        composer = app.conversation.composer
        for text in ("one", "two\nlines"):
            composer.insert(text)
            await pilot.press("enter")
            await until(pilot, lambda: composer.text == "")
        composer.insert("draft")
        await pilot.press("up")
        assert composer.text == "two\nlines"
        await pilot.press("up", "up")
        assert composer.text == "one"
        await pilot.press("down", "down", "down")
        assert composer.text == "draft"
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: session.closed)
    async with screen(welcome=welcome) as (app, pilot):
        await pilot.press("up")
        assert app.conversation.composer.text == "draft", "what was typed when one left is kept"


async def test_a_history_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("", "utf-8")
    session = FakeSession()
    async with screen(session, size=(120, 30), welcome=Welcome(history=str(tmp_path / "file" / "h"))) as (
        _,
        pilot,
    ):
        await pilot.press("x", "enter")
        await sees(pilot, "messages are not remembered")
        assert sent(session) == ["x"]


async def test_while_a_turn_runs_messages_steer_or_queue():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        app.conversation.composer.insert("to the left")
        await pilot.press("enter")
        await until(pilot, lambda: len(session.commands) == 1)
        app.conversation.composer.insert("afterwards")
        await pilot.press("alt+enter")
        await until(pilot, lambda: len(session.commands) == 2)
        steer, after = session.commands
        assert isinstance(steer, Say)
        assert isinstance(after, Say)
        assert (steer.when, after.when) == ("steer", "after")
        session.state.waiting = dict(enumerate((steer, after, after, after, after)))
        session.play(ev.OperatorNote("a note"))
        await sees(pilot, "↳ to the left  next step")
        await sees(pilot, "↳ afterwards  after this turn")
        await sees(pilot, "… 2 more")
        session.state.waiting = {}
        session.play(ev.OperatorNote("another"))
        await until(pilot, lambda: "↳" not in shown(app))


async def test_the_menu_completes_commands():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        await pilot.press("slash")
        await sees(pilot, "/permissions")
        strike(app, "st")
        await until(pilot, lambda: "/permissions" not in shown(app))
        await sees(pilot, "tokens and cost of each model")
        await pilot.press("tab")
        await until(pilot, lambda: composer.text == "/stats ")
        await pilot.press("backspace", "backspace", "escape")
        await until(pilot, lambda: "tokens and cost of each model" not in shown(app))
        assert composer.text == "/stat"
        await pilot.press("s", "enter")
        await sees(pilot, "Tokens and cost")
        assert composer.text == ""
        assert session.commands == []


async def test_arrows_choose_in_the_menu():
    async with screen() as (app, pilot):
        await pilot.press("slash", "m", "down", "tab")
        await until(pilot, lambda: app.conversation.composer.text == "/mode ")
        await pilot.press(*["backspace"] * 5)
        await until(pilot, lambda: app.conversation.composer.text == "/")
        await pilot.press("up")
        await pilot.press("enter")
        await until(pilot, lambda: app._exit)


MODELS = ("claude-sonnet-5", "claude-haiku-5", "gpt-6-mini", "local:tiny", "scripted-1")


async def test_a_model_is_chosen_and_the_draft_comes_back():
    session = FakeSession()
    async with screen(session, sources=Sources(lambda: MODELS)) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "a draft")
        await pilot.press("ctrl+l")
        await sees(pilot, "scripted-1       in use")
        assert composer.text == "/model "
        strike(app, "ch5")
        await until(pilot, lambda: "gpt-6-mini" not in shown(app))
        assert "claude-sonnet-5" not in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [SetModel("claude-haiku-5")])
        await until(pilot, lambda: composer.text == "a draft")


async def test_escape_leaves_the_models_and_arrows_choose_one():
    session = FakeSession()
    async with screen(session, sources=Sources(lambda: MODELS)) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "a draft")
        await pilot.press("ctrl+l")
        await sees(pilot, "gpt-6-mini")
        await pilot.press("ctrl+l", "escape")
        await until(pilot, lambda: composer.text == "a draft")
        await until(pilot, lambda: "gpt-6-mini" not in shown(app))
        await pilot.press("ctrl+l")
        await sees(pilot, "gpt-6-mini")
        await pilot.press("down", "down", "tab")
        await until(pilot, lambda: composer.text == "/model claude-haiku-5 ")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [SetModel("claude-haiku-5")])


async def test_a_name_that_is_in_no_list_can_be_given():
    session = FakeSession()
    async with screen(session, sources=Sources(lambda: MODELS)) as (app, pilot):
        app.conversation.composer.insert("/model zzz:9")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [SetModel("zzz:9")])


async def test_models_that_cannot_be_listed_are_told():
    def models() -> tuple[str, ...]:
        raise ConfigError("The catalog is broken.")

    async with screen(sources=Sources(models)) as (_, pilot):
        await pilot.press("ctrl+l")
        await sees(pilot, "The catalog is broken.")


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["b-2", "a-1", "ab-1"]),
        ("b", ["b-2", "ab-1"]),
        ("a1", ["a-1", "ab-1"]),
        ("AB-1 ", ["ab-1"]),
        ("x", []),
    ],
)
def test_the_closest_model_comes_first(typed: str, names: list[str]):
    assert [choice.label for choice in of_models(("a-1", "ab-1", "b-2"), "b-2", typed)] == names


def test_the_model_in_use_is_marked_also_where_no_list_has_it():
    assert [(choice.label, choice.note) for choice in of_models(("a-1",), "own", "")] == [
        ("own", "in use"),
        ("a-1", ""),
    ]


def test_of_many_models_some_are_offered():
    assert len(of_models([f"m-{number}" for number in range(1_000)], "m-7", "m")) == MOST


async def test_an_unknown_command_stays_in_the_composer():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("/stast")
        await pilot.press("enter")
        await sees(pilot, "There is no command /stast. Did you mean /stats?")
        assert app.conversation.composer.text == "/stast"
        assert session.commands == []


async def test_a_path_is_no_command():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("/etc/hosts is wrong")
        await pilot.press("enter")
        await until(pilot, lambda: sent(session) == ["/etc/hosts is wrong"])


async def test_ctrl_d_deletes_and_leaves_only_when_nothing_is_typed():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        composer.insert("ab")
        await pilot.press("home", "ctrl+d")
        assert composer.text == "b"
        await pilot.press("ctrl+d", "ctrl+d")
        await until(pilot, lambda: session.closed)


@pytest.mark.parametrize("width", [40, 80, 120])
async def test_the_menu_loses_no_letter_and_keeps_what_a_command_does_in_its_column(width: int):
    async with screen(size=(width, 24)) as (app, pilot):
        strike(app, "/mc")
        await sees(pilot, "/mcp [NAME | reconnect NAME]")
        rows = [line.rstrip() for line in shown(app).splitlines()]
        first = next(at for at, row in enumerate(rows) if "/mcp" in row)
        told = " ".join(" ".join(rows[first : first + 5]).split())
        assert "servers of tools: how they are, one of them, start one anew" in told
        if width == 80:
            assert rows[first + 1].index("start one anew") == rows[first].index("servers")


async def test_undo_takes_a_completion_back_and_nothing_else():
    async with screen(FakeSession(), sources=Sources(files=lambda: ("calc.py",))) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "see @ca")
        await sees(pilot, "calc.py")
        await pilot.press("tab")
        await until(pilot, lambda: composer.text == "see @calc.py ")
        await pilot.press("ctrl+underscore")
        await until(pilot, lambda: composer.text == "see @ca")
        await pilot.press("ctrl+y")
        await until(pilot, lambda: composer.text == "see @calc.py ")
