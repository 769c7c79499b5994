"""A long session begins with its end; the rest comes when one scrolls to it."""

from __future__ import annotations

import re

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import StoreUnwritable
from agent_cli.kernel.messages import Text
from agent_cli.tui import older
from tests.fakes.screen import answer, screen, sees, shown, still, strike, turn, until
from tests.fakes.session import FakeSession

TURNS = 40


class Counting(FakeSession):
    """Counts the facts that are asked for."""

    asked = 0
    broken = False

    def past(self, since: int, until: int) -> list[ev.Entry]:
        if self.broken:
            raise StoreUnwritable("the disk is gone")
        found = super().past(since, until)
        self.asked += len(found)
        return found


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(older, "AT_ONCE", 50)
    session = Counting()
    for number in range(TURNS):
        turn(session, f"question {number:03}")
        answer(session, f"answer {number:03}")
    return session


async def test_it_begins_with_its_end_and_reads_no_more(session: Counting):
    async with screen(session) as (app, pilot):
        await sees(pilot, "answer 039")
        assert session.asked == 50
        assert "question 020" not in str([item.source() for item in app.conversation.reader.column.items])


async def test_scrolling_up_takes_in_the_rest_and_leaves_what_is_seen_where_it_is(session: Counting):
    async with screen(session, size=(60, 20)) as (app, pilot):
        await sees(pilot, "resumed at turn 40")
        reader = app.conversation.reader
        seen: set[str] = set()
        for _ in range(400):
            before = await still(pilot)
            seen |= set(re.findall(r"answer \d+", before))
            if "Enter sends" in before and not app.conversation.older:
                break
            await pilot.press("pageup")
        assert {f"answer {number:03}" for number in range(TURNS)} <= seen, "nothing was skipped"
        sources = [item.source() for item in reader.column.items]
        questions = [source for source in sources if "question" in source]
        assert questions == sorted(questions)
        assert len(questions) == TURNS
        assert app.conversation.older.mark not in reader.column.items


async def test_searching_goes_on_in_the_rest(session: Counting):
    async with screen(session) as (app, pilot):
        await sees(pilot, "answer 039")
        await pilot.press("tab", "slash")
        strike(app, "question 003")
        await pilot.press("enter")
        await sees(pilot, "question 003")


async def test_a_rest_that_cannot_be_read_is_told(session: Counting):
    async with screen(session) as (app, pilot):
        await sees(pilot, "answer 039")
        session.broken = True
        await pilot.press("tab", "g")
        await sees(pilot, "what was before cannot be read")
        assert app.conversation.older


async def test_a_short_session_has_no_rest():
    short = Counting()
    turn(short, "hello")
    answer(short, "hi")
    async with screen(short) as (app, pilot):
        await sees(pilot, "hi")
        assert not app.conversation.older
        await until(pilot, lambda: "scroll up" not in shown(app))


async def test_a_screen_that_grew_long_lets_its_beginning_go_and_takes_it_in_again(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(older, "MOST", 60)
    session = FakeSession()
    async with screen(session, size=(60, 20)) as (app, pilot):
        reader = app.conversation.reader
        for number in range(TURNS):
            turn(session, f"question {number:03}")
            answer(session, f"answer {number:03}")
            await sees(pilot, f"answer {number:03}")
            assert len(reader.column.items) <= 60
        assert "question 003" not in [item.source() for item in reader.column.items]
        assert app.conversation.older
        seen: set[str] = set()
        for _ in range(400):
            before = await still(pilot)
            seen |= set(re.findall(r"(?:answer|question) \d+", before))
            if "Enter sends" in before and not app.conversation.older:
                break
            await pilot.press("pageup")
        assert {f"{word} {number:03}" for number in range(TURNS) for word in ("answer", "question")} <= seen
        turn(session, "one more")
        await until(pilot, lambda: "one more" in str([item.source() for item in reader.column.items]))
        assert len(reader.column.items) > 60, "nothing goes while it is being read"


async def test_one_turn_of_many_steps_lets_its_beginning_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(older, "MOST", 60)
    session = FakeSession()
    async with screen(session, size=(60, 20)) as (app, pilot):
        turn(session, "go on for long")
        for number in range(100):
            session.play(
                ev.AssistantMessage((Text(f"step {number:03}"),), "scripted", "scripted-1", "tool_use"),
                ev.StepStarted("scripted-1"),
            )
        await sees(pilot, "step 099")
        assert len(app.conversation.reader.column.items) <= 60
        await pilot.press("tab", "slash")
        strike(app, "go on for")
        await pilot.press("enter")
        await sees(pilot, "go on for long")


def marked(screen_text: str, word: str) -> bool:
    """Whether the line with that word has the sign of what was taken back."""
    line = next(line for line in screen_text.split("\n") if word in line)
    return line.lstrip().startswith("┊")


async def test_what_was_taken_back_is_marked_and_what_follows_is_not():
    session = FakeSession()
    turn(session, "question one")
    answer(session, "answer one")
    turn(session, "question two")
    to = session.state.seq - 1
    answer(session, "answer two")
    async with screen(session, size=(80, 50)) as (app, pilot):
        await sees(pilot, "answer two")
        assert not marked(shown(app), "question two")
        app.conversation.desk.take("/permissions")
        await sees(pilot, "this session")
        session.play(ev.Rewound(to, conversation=True))
        turn(session, "question three")
        await sees(pilot, "question three")
        text = await still(pilot)
        told = {
            word: marked(text, word)
            for word in ("question one", "answer one", "answer two", "question three")
        }
        assert told == {
            "question one": False,
            "answer one": False,
            "answer two": True,
            "question three": False,
        }
        assert marked(text, "question two")
        assert not marked(text, "this session"), "what the program answered is none of it"


async def test_what_was_taken_back_above_the_shown_part_is_marked_when_it_is_taken_in(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(older, "AT_ONCE", 20)
    session = FakeSession()
    asked: list[int] = []
    for number in range(20):
        turn(session, f"question {number:03}")
        asked.append(session.state.seq - 1)
        answer(session, f"answer {number:03}")
    session.play(ev.Rewound(asked[5], conversation=True))
    turn(session, "question again")
    async with screen(session) as (app, pilot):
        await sees(pilot, "question again")
        while app.conversation.older:
            app.conversation._take_older()
        gone = {item.source(): item.gone for item in app.conversation.reader.column.items}
        assert not gone["question 004"]
        assert not gone["answer 004"]
        assert gone["question 005"]
        assert gone["answer 019"]
        assert not gone["question again"]
