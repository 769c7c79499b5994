"""Slash commands about the project: instructions, changes, prompts, a report, the operator's own commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Rewind, Say, SetEffort
from agent_cli.kernel.messages import Text, text_of
from agent_cli.kernel.outputs import FileDiff
from agent_cli.kernel.usage import ModelCard, Price
from agent_cli.talk.changed import Changed
from agent_cli.talk.commands import own, skills
from agent_cli.talk.door import Door, Instructed, Prompt, Skilled, Sources
from agent_cli.talk.health import Condition
from agent_cli.talk.learning import learn_commands
from tests.fakes.screen import answer, screen, sees, shown, strike, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import DIFF
from tests.tui.test_commands import Board


class Desk:
    """What is on disk around a session."""

    def __init__(self) -> None:
        self.remembered: list[str] = []
        self.kept: list[tuple[str, str]] = []
        self.reports: list[str] = []
        self.known: tuple[Skilled, ...] = ()
        self.changed = Changed(
            (FileDiff("src/parser.py", DIFF, 3, 2),), "in this session", ("big.bin: too large",)
        )

    def instructions(self) -> Sequence[Instructed]:
        return (
            Instructed("/p/AGENTS.md", 1_234, cut=False),
            Instructed("/p/AGENTS.d/a.md", 40_000, cut=True),
        )

    def skills(self) -> Sequence[Skilled]:
        return self.known

    def prompts(self) -> Sequence[Prompt]:
        return (Prompt("ship", "Release $1. $ARGUMENTS", "/p/ship.md", "releases it", "VERSION"),)

    def remember(self, line: str, /) -> str:
        self.remembered.append(line)
        return "/p/AGENTS.md"

    def keep(self, key: str, value: str, /) -> str:
        self.kept.append((key, value))
        return "/h/config.json"

    def moments(self, session: str, /) -> Mapping[int, int]:
        return {2: 3}

    def changes(self, session: str, /, since: int = 0) -> Changed:
        return self.changed

    def report(self, session: Door | None, words: str, /) -> str:
        self.reports.append(words)
        return "/r/report.md"


def board() -> tuple[Board, Desk, FakeSession]:
    session, desk = FakeSession(), Desk()
    turn(session, "the first message, with a second line\nwhich is this")
    answer(session, "the last answer")
    made = Board(session)
    made.desk.sources = made.desk.sources._replace(workplace=desk)
    return made, desk, session


def test_memory_lists_the_instructions_and_a_line_is_added_to_them():
    made, desk, session = board()
    text = made.run("/memory", 120)
    assert "/p/AGENTS.md" in text
    assert "1,234 bytes" in text
    assert text.count("cut: only its beginning") == 1
    assert "Added to /p/AGENTS.md" in made.run("# never push to main", 120)
    assert desk.remembered == ["never push to main"]
    made.run("# A heading\nof a message")
    assert session.commands == [Say((Text("# A heading\nof a message"),))]


def test_memory_lists_what_joined_while_the_session_went_on():
    made, _, session = board()
    session.play(
        ev.OperatorMessage((Text("Instructions from /p/src/AGENTS.md:\n\nMind the tabs."),), by="product")
    )
    text = made.run("/memory", 120)
    assert "/p/src/AGENTS.md" in text
    assert "joined when something beside it was touched" in " ".join(text.split())


def test_diff_shows_what_was_changed_and_what_is_not_known():
    made, desk, _ = board()
    text = made.run("/diff", 100)
    assert "1 file changed in this session: +3 -2" in text
    assert 'raise ParseError("empty")' in text
    assert "big.bin: too large" in text
    desk.changed = Changed((), "since the last commit")
    assert "Nothing differs since the last commit." in made.run("/diff")


def test_prompts_that_are_sent_as_messages():
    made, _, session = board()
    assert made.run("/review the locks") == ""
    assert made.run("/init") == ""
    review, init = (command.content[0] for command in session.commands if isinstance(command, Say))
    assert isinstance(review, Text)
    assert "above all the locks" in review.text
    assert isinstance(init, Text)
    assert "AGENTS.md" in init.text


def test_a_report_says_where_it_is():
    made, desk, _ = board()
    assert "/r/report.md" in made.run("/bug it hangs")
    assert desk.reports == ["it hangs"]


def test_the_last_answer_is_copied():
    made, _, _ = board()
    made.run("/copy")
    assert made.stage.copied == [("the last answer", "the last answer")]
    assert "no answer yet" in Board(FakeSession()).run("/copy")


def test_the_price_in_force():
    prices = (
        Price(3, 15, start="2020-01-01"),
        Price(6, 22.5, start="2020-01-01", over=200_000),
        Price(9, 9, start="9999-01-01"),
    )
    session = FakeSession(ModelCard("m", "p", prices=prices))
    text = Board(session).run("/pricing")
    assert "$3" in text
    assert "2020-01-01" in text
    session.state.context_tokens = 300_000
    assert "prompts over 200,000 tokens" in Board(session).run("/pricing", 120)
    assert "no price" in Board(FakeSession(ModelCard("m", "p"))).run("/pricing")
    assert "costs nothing" in Board(FakeSession(ModelCard("m", "p", free=True))).run("/pricing")


async def test_a_side_question_is_asked_beside_the_conversation():
    made, _, session = board()
    assert made.run("/btw why is it slow?") == ""
    (_, work) = made.stage.begun[-1]
    assert await work() is None
    assert session.subtasks.questions == ["why is it slow?"]
    assert session.commands == []
    assert "/btw QUESTION" in made.run("/btw")


def test_efforts():
    made, _, session = board()
    for line, effort in (("/effort high", "high"), ("/effort AUTO", "")):
        assert made.run(line) == ""
        assert session.commands[-1] == SetEffort(effort)
    assert "There is no effort x" in made.run("/effort x")
    assert "as the model does by itself" in made.run("/effort")


def test_arguments_of_own_commands():
    assert own.filled(own.with_place("Release $1 of $2: $ARGUMENTS$3", "a b"), "a b") == "Release a of b: a b"
    assert own.filled(own.with_place("Do it.", "now"), "now") == "Do it.\n\nnow"
    assert own.filled(own.with_place("Do it.", ""), "") == "Do it."


def test_an_own_command_never_takes_the_place_of_ours():
    prompts = [Prompt("quit", "x", "/p/quit.md"), Prompt("ship", "x", "/p/ship.md")]
    assert [command.name for command in own.commands(prompts, frozenset({"quit"}))] == ["ship"]


def test_themes_are_shown_while_one_looks_and_only_the_chosen_one_is_kept():
    made, desk, _ = board()
    made.run("/theme")
    picking = made.stage.lists[-1]
    assert [row.note for row in picking.rows()] == ["now", ""]
    assert picking.moved is not None
    assert picking.left is not None
    picking.moved("loud")
    assert made.stage.theme == "loud"
    picking.left()
    assert made.stage.theme == "dim"
    assert desk.kept == []
    picking.chosen("loud")
    assert desk.kept == [("ui.theme", "loud")]
    assert "There is no theme x" in made.run("/theme x")


def test_rewinding_by_the_list():
    made, _, session = board()
    assert made.run("/rewind") == ""
    messages = made.stage.lists[-1]
    (row,) = messages.rows()
    assert "3 files changed" in row.note
    assert messages.preview is not None
    seen = messages.preview(row.key)
    assert seen.startswith(
        "the first message, with a second line\nwhich is this\n! big.bin: too large\nsrc/parser.py +3 -2\n"
    )
    assert "  +    log.debug" in seen
    assert "@@" not in seen
    assert "tree = build" not in seen, "what did not change has no room"
    messages.chosen(row.key)
    what = made.stage.lists[-1]
    assert [row.key for row in what.rows()] == ["both", "conversation", "files"]
    what.chosen("files")
    assert made.stage.written == []
    what.chosen("both")
    assert session.commands == [Rewind(2, "files"), Rewind(2, "both")]
    assert made.stage.written == ["the first message, with a second line\nwhich is this"]


async def test_on_the_screen_own_commands_are_offered_and_rewinding_gives_the_message_back():
    session, desk = FakeSession(), Desk()
    turn(session, "build the parser")
    answer(session, "built")
    async with screen(session, sources=Sources(workplace=desk)) as (app, pilot):
        await until(pilot, lambda: app.conversation.desk.own)
        strike(app, "/shi")
        await sees(pilot, "releases it")
        strike(app, "p 1.2")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text("Release 1.2. 1.2"),))]
        strike(app, "/rewind")
        await pilot.press("enter")
        await sees(pilot, "3 files changed")
        await pilot.press("enter")
        await sees(pilot, "the files alone")
        await pilot.press("down", "enter")
        await until(pilot, lambda: len(session.commands) == 2)
        assert session.commands[1] == Rewind(2, "conversation")
        await until(pilot, lambda: app.conversation.composer.text == "build the parser")


async def test_a_theme_is_put_on_while_it_is_highlighted():
    async with screen(sources=Sources(workplace=Desk())) as (app, pilot):
        before = app.theme
        strike(app, "/theme")
        await pilot.press("enter")
        await sees(pilot, "Which colours?")
        await until(pilot, lambda: "now" in shown(app))
        await pilot.press("down")
        await until(pilot, lambda: app.theme != before)
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == before)


def test_the_doctor_says_what_is_missing_and_what_to_do():
    made, _, _ = board()
    assert "Nothing can be examined here." in made.run("/doctor")
    found = (Condition("git", "note", "not found", "Install git."),)
    made.desk.sources = made.desk.sources._replace(examine=lambda: found)
    text = made.run("/doctor")
    assert "Everything needed is there." in text
    assert "! git  not found\n" in text
    assert "→ Install git." in text


def test_skills_are_listed_and_used_by_their_names():
    made, desk, session = board()
    desk.known = (
        Skilled(
            "ship", "/p/ship/SKILL.md", "how it ships", "project", 120, "", ("/p/ship/SKILL.md:3: odd",), ("browser",),
            ("more.md",), "Ship $1 so.",
        ),
        Skilled("deploy", "/u/deploy/SKILL.md", "how it deploys", "user", 80, body="Deploy so."),
        Skilled("bad", "/p/bad/SKILL.md", problem="/p/bad/SKILL.md:1: it has no front matter"),
    )  # fmt: skip
    made.desk.take("/skills")
    told = str(made.items)
    for words in (
        "2 skills",
        "project, 120 bytes",
        "not here: browser",
        "SKILL.md:3: odd",
        "left out: /p/bad",
    ):
        assert words in told
    made.desk.own = (
        *own.commands(desk.prompts(), frozenset()),
        *skills.commands(desk.known, frozenset({"ship"})),
    )
    assert [command.name for command in made.desk.own] == ["ship", "skill", "deploy"]
    made.desk.take("/deploy it now")
    made.desk.take("/skill ship 1.2")
    texts = [text_of(each.content) for each in session.commands if isinstance(each, Say)]
    assert texts[0].startswith("/deploy it now\n\nThe skill"), "that is what lists of sessions show"
    assert texts[0].endswith("Paths in it begin at /u/deploy.\n\nDeploy so.\n\nit now")
    assert "tools that you do not have: browser." in texts[1]
    assert texts[1].endswith("Ship $1 so.\n\n1.2")
    made.desk.take("/skill none")
    assert "There is no skill 'none'" in str(made.items[-1])
    assert skills.commands((desk.known[2],), frozenset()) == ()


def test_a_command_that_chooses_for_its_turn_waits_for_the_present_one():
    made, _, session = board()
    prompts = (
        Prompt("ship", "Release $1.", "/p/ship.md", model="big", tools=("Bash(git:*)",)),
        Prompt("bad", "", "/p/bad.md", problem="/p/bad.md:1: no end"),
    )
    made.desk.own = own.commands(prompts, frozenset())
    made.run("/ship 1.2")
    assert session.commands == [Say((Text("Release 1.2."),), model="big", allow=("bash:git*",))]
    session.play(ev.TurnStarted("m"))
    assert "a turn is running: wait for its end" in " ".join(made.run("/ship 1.3").split())
    assert len(session.commands) == 1
    assert "/p/bad.md:1: no end" in made.run("/bad", 120)


async def test_a_command_that_was_typed_while_the_session_opens_is_run_when_it_is_known():
    session, desk = FakeSession(), Desk()
    made = Board()
    made.desk.sources = made.desk.sources._replace(workplace=desk)
    assert "/ship waits" in made.run("/ship 1.2", 120)
    assert "/shipp waits" in made.run("/shipp", 120)
    made.desk.attach(session)
    assert await learn_commands(made.desk) == ""
    assert session.commands == [Say((Text("Release 1.2. 1.2"),))]
    assert made.stage.written == ["/shipp"], "what nobody knows is given back"
    assert "There is no command /shipp." in made.run("/shipp", 120)
