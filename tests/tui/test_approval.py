"""Approvals stand above the composer; keys answer them, and keys that were being typed do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Say
from agent_cli.kernel.messages import Text
from agent_cli.tui.app import AgentApp
from agent_cli.tui.approval import Approvals
from agent_cli.tui.grace import QUIET, Grace
from tests.fakes.screen import screen, sees, shown, still, strike, until
from tests.fakes.session import FakeSession
from tests.tui.samples import DIFF, HOSTILE, asks


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the time by which keys are judged."""
    now = [100.0]
    monkeypatch.setattr("agent_cli.tui.approval.HOLD", 0.01)
    monkeypatch.setattr(Grace, "now", lambda self: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


def panel(app: AgentApp) -> Approvals:
    return app.query_one(Approvals)


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[FakeSession, AgentApp, Pilot[object]]]:
    """A screen on which two approvals wait, with the keys at their panel."""
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        await until(pilot, lambda: app.focused is panel(app))
        yield session, app, pilot


def decided(session: FakeSession, *call_ids: str) -> None:
    for call_id in call_ids:
        session.play(ev.ApprovalDecided(call_id, "bash", True, "operator"))


async def test_it_shows_what_why_and_how(later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session, size=(100, 30)) as (app, pilot):
        await sees(pilot, "bash asks for permission  1 of 2")
        text = shown(app)
        assert "why: it changes the repository and no rule allows it  (mode-ask)" in text
        assert "git commit -am 'Repair the parser'" in text
        assert "a always (bash:git commit*)" in text
        assert "write_file  CHANGES.md" in text
        later(QUIET * 1.1)
        await pilot.press("j")
        await sees(pilot, "log.debug")
        assert "a always" not in shown(app), "nothing is suggested for this one"


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("y", Answer("c5", True, "once")),
        ("s", Answer("c5", True, "call")),
        ("t", Answer("c5", True, "tool")),
        ("a", Answer("c5", True, "always")),
        ("n", Answer("c5", False)),
    ],
)
async def test_each_key_answers(key: str, answer: Answer, later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        later(QUIET * 1.1)
        await pilot.press(key)
        await until(pilot, lambda: session.commands == [answer])
        await sees(pilot, "write_file asks for permission")
        assert "1 of 2" not in shown(app)


async def test_what_holds_for_one_call_only_offers_no_more(later: Callable[[float], None]):
    session = FakeSession()
    asked = ev.ApprovalRequested(
        "c9", "write_file", ".agents/config.toml", "it changes what is allowed", "control", once_only=True
    )
    session.play(ev.TurnStarted("m"), asked)
    async with screen(session) as (app, pilot):
        await sees(pilot, "write_file asks for permission")
        text = shown(app)
        assert "each such change needs its own approval" in text
        assert "y once · n deny · N deny, and say why" in text
        later(QUIET * 1.1)
        await pilot.press("s", "t", "a")
        await until(pilot, lambda: app.conversation.composer.text == "sta")
        assert session.commands == []
        await pilot.press("tab")
        later(QUIET * 1.1)
        await pilot.press("y")
        await until(pilot, lambda: session.commands == [Answer("c9", True, "once")])


async def test_a_second_stroke_does_not_answer_the_next_one(later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        later(QUIET * 1.1)
        await pilot.press("y")
        await until(pilot, lambda: session.commands == [Answer("c5", True, "once")])
        await pilot.press("y")
        await until(pilot, lambda: app.conversation.composer.text == "y")
        assert len(session.commands) == 1
        await pilot.press("tab")
        later(QUIET * 1.1)
        await pilot.press("y")
        await until(pilot, lambda: session.commands[1:] == [Answer("c6", True, "once")])


async def test_what_was_being_typed_goes_to_the_composer(later: Callable[[float], None]):
    session = FakeSession()
    async with screen(session) as (app, pilot):
        asks(session)
        await sees(pilot, "1 of 2")
        await until(pilot, lambda: app.focused is panel(app))
        for key in "yes, any":
            later(QUIET * 0.9)
            await pilot.press("space" if key == " " else key)
        await until(pilot, lambda: app.conversation.composer.text == "yes, any")
        assert session.commands == []


@pytest.fixture
def patient(later: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """A held key is held until another one comes."""
    monkeypatch.setattr("agent_cli.tui.approval.HOLD", 1_000.0)


@pytest.mark.parametrize(
    "text", ["this is not needed", "yes but only there", "no, never", "so", "a b", "Not"]
)
@pytest.mark.usefixtures("patient")
async def test_a_sentence_that_begins_with_a_deciding_key_decides_nothing(
    text: str, later: Callable[[float], None]
):
    async with asked() as (session, app, pilot):
        later(QUIET * 1.1)
        strike(app, text)
        await until(pilot, lambda: app.conversation.composer.text == text)
        assert app.focused is app.conversation.composer
        await sees(pilot, "Tab comes here, to answer:")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [Say((Text(text),))])
        assert panel(app).pending


@pytest.mark.usefixtures("patient")
async def test_a_deciding_key_is_shown_while_it_is_held_and_enter_takes_it(later: Callable[[float], None]):
    async with asked() as (session, _, pilot):
        later(QUIET * 1.1)
        await pilot.press("t")
        await sees(pilot, "t …")
        assert session.commands == []
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [Answer("c5", True, "tool")])


@pytest.mark.parametrize("key", ["escape", "tab", "down"])
@pytest.mark.usefixtures("patient")
async def test_a_held_key_is_taken_back_by_a_key_that_types_nothing(key: str, later: Callable[[float], None]):
    async with asked() as (session, app, pilot):
        later(QUIET * 1.1)
        await pilot.press("y")
        await sees(pilot, "y …")
        await pilot.press(key)
        await until(pilot, lambda: "y …" not in shown(app))
        await sees(pilot, "y once")
        assert session.commands == []


async def test_the_first_letter_of_a_message_takes_the_focus_along(later: Callable[[float], None]):
    async with asked() as (session, app, pilot):
        later(QUIET * 1.1)
        assert "Tab comes here" not in shown(app)
        await pilot.press("w", "a", "i", "t", "enter")
        await until(pilot, lambda: session.commands == [Say((Text("wait"),))])
        await sees(pilot, "Tab comes here, to answer:")
        await pilot.press("tab")
        later(QUIET * 1.1)
        await pilot.press("n")
        await until(pilot, lambda: session.commands[1:] == [Answer("c5", False)])


async def test_a_draft_keeps_the_focus(later: Callable[[float], None]):
    session = FakeSession()
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("a dr")
        asks(session)
        await sees(pilot, "1 of 2")
        later(10)
        await pilot.press("a", "y")
        assert app.conversation.composer.text == "a dray"
        await pilot.press("tab")
        assert app.focused is panel(app)
        await pilot.press("y")
        await until(pilot, lambda: session.commands == [Answer("c5", True, "once")])


async def test_denying_with_a_message(later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        later(QUIET * 1.1)
        await pilot.press("N")
        await sees(pilot, "why not?")
        await pilot.press("escape")
        await until(pilot, lambda: "why not?" not in shown(app))
        assert app.focused is panel(app)
        await pilot.press("N")
        await sees(pilot, "why not?")
        strike(app, "use rebase")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [Answer("c5", False, message="use rebase")])


async def test_it_goes_when_all_is_decided_and_the_composer_has_the_keys_again(
    later: Callable[[float], None],
):
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        decided(session, "c5", "c6")
        await until(pilot, lambda: "asks for permission" not in shown(app))
        await pilot.press("x")
        await until(pilot, lambda: app.conversation.composer.text == "x")


async def test_an_answer_shows_at_once_also_before_the_session_took_it(later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session) as (_app, pilot):
        await sees(pilot, "1 of 2")
        later(QUIET * 1.1)
        await pilot.press("y")
        await sees(pilot, "write_file asks for permission")
        session.play(ev.OperatorNote("something else"))
        await sees(pilot, "something else")
        await sees(pilot, "write_file asks for permission")


async def test_escape_goes_to_the_composer_first_and_then_interrupts(later: Callable[[float], None]):
    session = FakeSession()
    asks(session)
    async with screen(session) as (app, pilot):
        await sees(pilot, "1 of 2")
        await pilot.press("escape")
        assert app.focused is app.conversation.composer
        assert session.commands == []
        await pilot.press("escape")
        await until(pilot, lambda: len(session.commands) == 1)


async def test_a_long_diff_scrolls_and_the_keys_stay(later: Callable[[float], None]):
    session = FakeSession()
    body = "\n".join(f"+added line {number}." for number in range(100))
    diff = f"@@ -1,1 +1,101 @@\n{body}"
    session.play(ev.TurnStarted("m"))
    session.play(
        ev.ApprovalRequested(
            "c1", "edit_file", "a.py", "it writes", "mode-ask", ev.FileDiff("a.py", diff, 100, 0)
        )
    )
    async with screen(session) as (app, pilot):
        await sees(pilot, "added line 2.")
        await sees(pilot, "more lines · PageDown")
        await sees(pilot, "added line 99.")  # its end is shown, too
        await until(pilot, lambda: "added line 3." not in shown(app))
        await pilot.press("pagedown")
        await sees(pilot, "added line 3.")
        await until(pilot, lambda: "added line 2." not in shown(app))
        await pilot.press("pagedown")
        await until(pilot, lambda: "added line 3." not in shown(app))
        await sees(pilot, "y once")
        await pilot.press("pageup", "pageup")
        await sees(pilot, "added line 0.")


CONTEXT = "\n".join(f" a line that stays {number}" for number in range(8))
CHANGE = f"@@ -1,17 +1,17 @@\n{CONTEXT}\n-the old wording\n+the new wording\n{CONTEXT}\n"


def changes(session: FakeSession) -> None:
    """A change in the midst of lines that stay waits, with a reason that is long on a small screen."""
    session.play(ev.TurnStarted("m"))
    session.play(
        ev.ApprovalRequested(
            "c1", "edit_file", "docs/notes.md", "it changes a file and no rule allows it in this mode", "mode-ask",
            ev.FileDiff("docs/notes.md", CHANGE, 1, 1), "edit_file:docs/notes.md",
        )
    )  # fmt: skip


SMALL = [(80, 24), (40, 20), (60, 15)]


@pytest.mark.parametrize("draft", ["", "a draft\nof three\nlines"])
@pytest.mark.parametrize("size", SMALL)
async def test_on_a_small_screen_the_change_shrinks_and_no_key_is_lost(
    size: tuple[int, int], draft: str, later: Callable[[float], None]
):
    session = FakeSession()
    async with screen(session, size=size) as (app, pilot):
        app.conversation.composer.insert(draft)
        changes(session)
        await sees(pilot, "edit_file asks for permission")
        text = await still(pilot)
        for sign in ("y once", "t every call", "a always", "n deny", "N ", "say why", "+ the new wording"):
            assert sign in text, text
        assert "waits" in text.splitlines()[-1], "the status bar stays"


@pytest.mark.parametrize("size", SMALL)
async def test_on_a_small_screen_the_reason_is_seen_as_it_is_typed(
    size: tuple[int, int], later: Callable[[float], None]
):
    session = FakeSession()
    async with screen(session, size=size) as (app, pilot):
        changes(session)
        await sees(pilot, "y once")
        later(QUIET * 1.1)
        await pilot.press("N")
        await sees(pilot, "why not? Enter denies, Esc: back")
        strike(app, "not now")
        await sees(pilot, "▌ not now")
        assert "+ the new wording" in await still(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: session.commands == [Answer("c1", False, message="not now")])


async def test_the_panel_follows_what_is_left_of_the_screen(later: Callable[[float], None]):
    session = FakeSession()
    async with screen(session, size=(100, 40)) as (app, pilot):
        changes(session)
        await sees(pilot, "N deny, and say why")
        await pilot.resize_terminal(40, 18)
        await until(pilot, lambda: "N say why" in shown(app) and "+ the new wording" in shown(app))
        app.conversation.composer.insert("one\ntwo\nthree\nfour")
        await until(pilot, lambda: "four" in shown(app) and "N say why" in shown(app))


async def test_nothing_of_a_request_is_a_control_code(later: Callable[[float], None]):
    session = FakeSession()
    session.play(ev.TurnStarted("m"))
    session.play(ev.ApprovalRequested("c1", HOSTILE, HOSTILE, HOSTILE, HOSTILE, ev.Shown(HOSTILE), HOSTILE))
    session.play(
        ev.ApprovalRequested("c2", "edit", HOSTILE, "", "", ev.FileDiff(HOSTILE, DIFF + "+" + HOSTILE, 1, 1))
    )
    async with screen(session, size=(120, 40)) as (app, pilot):
        await sees(pilot, "1 of 2")
        later(QUIET * 1.1)
        await pilot.press("j")
        await sees(pilot, "2 of 2")
        assert "\x1b" not in shown(app)
        assert "\u202e" not in shown(app)
        await sees(pilot, "\\u202eevil")


async def test_a_question_is_answered_by_number_or_in_words(later: Callable[[float], None]):
    session = FakeSession()
    for call_id, options in (("q1", ("alpha", "beta")), ("q2", ())):
        session.play(
            ev.ApprovalRequested(
                call_id,
                "ask_user",
                "Which?",
                "a question",
                "question",
                ev.Shown("Which?"),
                "",
                True,
                options=options,
            )
        )
    async with screen(session, size=(100, 30)) as (app, pilot):
        await sees(pilot, "the agent asks you")
        await sees(pilot, "2 beta")
        assert "y once" not in shown(app)
        later(QUIET * 1.1)
        await pilot.press("2")
        await until(pilot, lambda: Answer("q1", True, edit="beta") in session.commands)
        await sees(pilot, "answer in your words")
        later(QUIET * 1.1)
        await pilot.press("N")
        await sees(pilot, "your answer: Enter sends it")
        strike(app, "go")
        await pilot.press("enter")
        await until(pilot, lambda: Answer("q2", True, edit="go") in session.commands)


# ── a plan that the operator changes ──

PLAN = "# Plan\n\n1. Read\n2. Write\n"


@asynccontextmanager
async def planned(
    monkeypatch: pytest.MonkeyPatch, later: Callable[[float], None], left: str | ValueError
) -> AsyncIterator[tuple[FakeSession, AgentApp, Pilot[object], list[str]]]:
    """A screen on which a plan waits, with an editor that leaves that text."""
    opened: list[str] = []

    async def editor(app: AgentApp, text: str) -> str:
        opened.append(text)
        if isinstance(left, ValueError):
            raise left
        return left

    monkeypatch.setattr("agent_cli.tui.app.in_editor", editor)
    session = FakeSession()
    asked = ev.ApprovalRequested(
        "p1", "record_plan", "Plan", "you agree to each plan first", "plan-approval", ev.Shown(PLAN), "", True, editable=True
    )  # fmt: skip
    session.play(ev.TurnStarted("m"), asked)
    async with screen(session, size=(100, 30)) as (app, pilot):
        await sees(pilot, "e change it, then agree")
        await until(pilot, lambda: app.focused is panel(app))
        later(QUIET * 1.1)
        yield session, app, pilot, opened


async def test_a_plan_is_changed_in_the_editor_and_agreed_to(
    later: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
):
    async with planned(monkeypatch, later, PLAN + "3. Test") as (session, app, pilot, opened):
        await pilot.press("e")
        await until(pilot, lambda: session.commands == [Answer("p1", True, edit=PLAN + "3. Test")])
        assert opened == [PLAN]
        await until(pilot, lambda: not panel(app).has_class("-open"))


@pytest.mark.parametrize(
    ("left", "commands"),
    [(PLAN.rstrip(), [Answer("p1", True)]), ("  \n", []), (ValueError("the editor ended with 1"), [])],
)
async def test_what_the_editor_leaves_unchanged_is_agreed_to_and_nothing_is_no_answer(
    left: str | ValueError,
    commands: list[Answer],
    later: Callable[[float], None],
    monkeypatch: pytest.MonkeyPatch,
):
    async with planned(monkeypatch, later, left) as (session, app, pilot, opened):
        await pilot.press("e")
        await until(pilot, lambda: opened)
        await until(
            pilot, lambda: session.commands == commands and (commands or panel(app).has_class("-open"))
        )
        if isinstance(left, ValueError):
            await sees(pilot, "the editor ended with 1")


async def test_what_is_no_text_to_change_offers_no_editor(later: Callable[[float], None]):
    async with asked() as (session, app, pilot):
        later(QUIET * 1.1)
        assert "change it" not in shown(app)
        await pilot.press("e")
        await until(pilot, lambda: app.conversation.composer.text == "e")
        assert session.commands == []
