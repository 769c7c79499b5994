"""The conversation line by line: what is typed, what is asked, what is read."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from agent_cli.context.breakdown import Share
from agent_cli.kernel import events as ev
from agent_cli.kernel.approvals import ApprovalRequested
from agent_cli.kernel.commands import Answer, Command, Interrupt, Rewind, Say, SetMode
from agent_cli.kernel.errors import ModelGone, SessionLocked, StoreUnwritable
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.repl.asker import whole
from agent_cli.repl.conversation import Conversation
from agent_cli.repl.lines import lines_of
from agent_cli.repl.teller import MOST, Teller
from agent_cli.talk.answers import Alarm, Filling, Note, Table, Todos
from agent_cli.talk.commands import book
from agent_cli.talk.door import Sources, Welcome
from agent_cli.talk.stage import Wish
from tests.fakes.screen import answer, turn
from tests.fakes.session import FakeSession
from tests.tui.samples import HOSTILE, edited, output, whole_turn
from tests.tui.test_sessions import Shelf

ASKED = ApprovalRequested(
    "c1", "bash", "rm -rf build", "it runs a command", "mode", ev.Shown("rm -rf build"), "bash:rm*"
)


class Typed:
    """A person who types these lines, then leaves. An exception is a key; what is called happens before its line.

    `meanwhile` is typed while nothing is asked; `screen` is one that can be emptied.
    """

    def __init__(
        self,
        *lines: str | BaseException | Callable[[], str],
        meanwhile: tuple[str, ...] = (),
        screen: bool = True,
    ) -> None:
        self.lines = list(lines)
        self.prompts: list[tuple[str, str]] = []
        self.meanwhile = list(meanwhile)
        self.clears = screen
        self.cleared = 0

    async def ask(self, prompt: str, default: str = "", /, *, keep: bool = False) -> str:
        self.prompts.append((prompt, default))
        await asyncio.sleep(0)
        line = self.lines.pop(0) if self.lines else EOFError()
        if isinstance(line, BaseException):
            raise line
        return line if isinstance(line, str) else line()

    async def heard(self) -> str:
        if self.meanwhile:
            await asyncio.sleep(0)
            return self.meanwhile.pop(0)
        return await asyncio.get_running_loop().create_future()

    def interrupt(self) -> bool:
        return False

    def clear(self) -> None:
        self.cleared += 1


class Answering(FakeSession):
    """Plays one list of events for each message or answer, and ends a turn that is interrupted."""

    def __init__(self, *turns: tuple[ev.Recorded | ev.Live, ...]) -> None:
        super().__init__()
        self.turns = list(turns)

    def send(self, command: Command, /) -> None:
        super().send(command)
        match command:
            case Say(content):
                self.play(
                    ev.TurnStarted("m"), ev.OperatorMessage(content), ev.StepStarted("m"), *self.turns.pop(0)
                )
            case Answer(call_id, allowed):
                self.play(ev.ApprovalDecided(call_id, "bash", allowed, "operator"), *self.turns.pop(0))
            case Interrupt():
                self.play(ev.TurnError("canceled", "interrupted", 130, "interrupted by the operator"))
            case Rewind(to, what):
                asyncio.get_running_loop().call_soon(self.play, ev.Rewound(to, what != "files"))
            case _:
                pass


def said(text: str) -> tuple[ev.Recorded | ev.Live, ...]:
    return (ev.AssistantMessage((Text(text),), "scripted", "m"), ev.TurnCompleted("completed", "stop"))


async def talk(session, typed, first="", sources=None):
    """What was read, and the exit code."""
    read: list[str] = []
    made = Conversation(Welcome(version="1", cwd="/"), sources or Sources(), typed, read.append)
    async with asyncio.timeout(20):
        code = await made.run(session, first)
    return "".join(read), code


async def test_a_message_is_sent_and_the_answer_is_read_before_the_next_line():
    session = Answering((ev.TextDelta("It is "), ev.TextDelta("42."), *said("It is 42.")))
    text, code = await talk(session, Typed("what is it?"))
    assert session.commands == [Say((Text("what is it?"),))]
    assert "\nIt is 42.\n(done" in text
    assert (code, session.closed) == (0, "the operator left")


async def test_a_message_to_a_halted_session_is_told_to_wait():
    class Halted(FakeSession):
        def send(self, command: Command, /) -> None:
            super().send(command)
            if isinstance(command, Say):
                self.play(ev.MessageQueued(command.content, "steer"))

    session = Halted()
    session.halted = "watchdog: it went round"
    text, _ = await talk(session, Typed("one", "/guardrail reset cost_ceiling", "two"))
    assert "The session is halted: 1 message waits for a reset. /guardrail says more" in text
    assert "The session is halted: 2 messages wait for a reset." in text
    assert "The session is still halted: watchdog: it went round" in text


async def test_previews_that_were_lost_are_made_up_for():
    session = Answering((ev.TextDelta("It "), *said("It is 42.")), (ev.TextDelta("wrong"), *said("right")))
    text, _ = await talk(session, Typed("one", "two"))
    assert "It is 42.\n" in text
    assert "wrong\n(what was said in full)\nright\n" in text


async def test_a_line_goes_on_behind_a_backslash_and_an_empty_one_is_nothing():
    session = Answering(said("ok"))
    await talk(session, Typed("", "  ", "first\\", "second"))
    assert session.commands == [Say((Text("first\nsecond"),))]


async def test_slash_commands_are_those_of_the_screen_without_those_about_one():
    session = Answering()
    text, _ = await talk(session, Typed("/mode plan", "/help", "/theme", "/hlep", "/context"))
    assert session.commands == [SetMode("plan")]
    for command in book.COMMANDS:
        assert (f"/{command.name}" in text.partition("Commands")[2].partition("/theme is")[0]) == (
            command.name != "theme"
        )
    assert "/theme is about a screen" in text
    assert "Did you mean /help?" in text


@pytest.mark.parametrize("screen", [True, False])
async def test_clear_empties_a_terminal_and_says_where_it_cannot(screen):
    typed = Typed("/clear", screen=screen)
    text, _ = await talk(Answering(), typed)
    assert typed.cleared == screen
    assert ("The screen is empty" in text) == screen
    assert ("/clear is about a screen, and there is none here" in text) != screen


async def test_a_line_that_is_typed_while_a_turn_runs_reaches_the_model_before_its_next_step():
    session = Answering((ev.TextDelta("half"),), said("done"))
    text, _ = await talk(session, Typed("format it", meanwhile=("with tabs\\", "please", "")))
    assert session.commands == [Say((Text("format it"),)), Say((Text("with tabs\nplease"),), "steer")]
    assert "(the model gets it before its next step)" in text


async def test_a_command_that_is_typed_while_a_turn_runs_works_at_once():
    session = Answering((ev.TextDelta("half"),))
    text, _ = await talk(session, Typed("format it", meanwhile=("/mode plan", "/interrupt")))
    assert session.commands[1:] == [SetMode("plan"), Interrupt()]
    assert "interrupted" in text
    assert "before its next step" not in text


async def test_what_asks_the_person_waits_for_the_end_of_the_turn():
    session = Answering((ev.TextDelta("half"),))
    typed = Typed("format it", "what is that?", meanwhile=("!echo from-the-shell", "/interrupt"))
    session.turns.append(said("ok"))
    text, _ = await talk(session, typed, sources=Sources())
    assert text.index("(when the turn is over)") < text.index("interrupted") < text.index("from-the-shell\n")
    assert [type(command) for command in session.commands] == [Say, Interrupt, Say]


async def test_a_command_leaves_a_list_and_is_done():
    session = Answering()
    text, _ = await talk(session, Typed("/resume", "/mode plan"), sources=Sources(sessions=Shelf()))
    assert session.commands == [SetMode("plan")]
    assert "Nothing there has" not in text


@pytest.mark.parametrize(
    ("line", "allowed", "scope", "message"),
    [
        ("y", True, "once", ""),
        ("s", True, "call", ""),
        ("t", True, "tool", ""),
        ("a", True, "always", ""),
        ("n", False, "once", ""),
        ("no use make clean", False, "once", "use make clean"),
    ],
)
async def test_an_approval_is_asked_in_a_line(line, allowed, scope, message):
    session = Answering((ASKED,), said("ok"))
    text, _ = await talk(session, Typed("clean up", line))
    assert session.commands[1] == Answer("c1", allowed, scope, message)
    assert "permission: bash rm -rf build\n  because: it runs a command\n    rm -rf build\n" in text


async def test_what_is_no_answer_is_asked_again_and_the_end_of_the_lines_denies():
    session = Answering((ASKED,), said("ok"))
    typed = Typed("clean up", "", "perhaps", "yes please", EOFError())
    text, _ = await talk(session, typed)
    assert session.commands[1] == Answer("c1", allowed=False, message="nobody is there any more")
    assert text.count("one of these letters") == 3


async def test_once_means_once_and_what_is_editable_can_be_changed():
    asked = ApprovalRequested("c1", "bash", "make", "", "r", ev.Shown("make"), once_only=True, editable=True)
    session = Answering((asked,), said("ok"))
    typed = Typed("go", "a", "e", "make -n")
    await talk(session, typed)
    assert session.commands[1] == Answer("c1", allowed=True, edit="make -n")
    assert ("run instead: ", "make") in typed.prompts
    assert all("always" not in prompt for prompt, _ in typed.prompts)


@pytest.mark.parametrize(
    ("line", "answered"),
    [("2", Answer("q1", allowed=True, edit="tabs")), ("neither", Answer("q1", allowed=True, edit="neither")),
     ("n", Answer("q1", allowed=False))],
)  # fmt: skip
async def test_a_question_of_the_model_is_answered_by_number_or_words(line, answered):
    asked = ApprovalRequested(
        "q1",
        "ask_user",
        "Which?",
        "",
        "r",
        ev.Shown("Which?\n1  spaces\n2  tabs"),
        options=("spaces", "tabs"),
    )
    session = Answering((asked,), said("ok"))
    text, _ = await talk(session, Typed("format it", line))
    assert session.commands[1] == answered
    assert "asks: Which?\n  1: spaces\n  2: tabs\n" in text


async def test_ctrl_c_at_an_approval_stops_the_turn():
    session = Answering((ASKED,))
    text, code = await talk(session, Typed("clean up", KeyboardInterrupt()))
    assert session.commands[1] == Interrupt()
    assert "interrupted\n" in text
    assert code == 0


async def test_ctrl_c_while_a_turn_runs_stops_it_and_the_conversation_goes_on():
    session = Answering((ev.TextDelta("half"),), said("whole"))

    async def press():
        async with asyncio.timeout(20):
            while not session.state.running:  # noqa: ASYNC110  the session tells nobody else
                await asyncio.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    pressing = asyncio.create_task(press())
    text, code = await talk(session, Typed("one", "two"))
    await pressing
    assert [type(command) for command in session.commands] == [Say, Interrupt, Say]
    assert "half\ninterrupted\n" in text
    assert "whole" in text
    assert code == 0


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_ends_it_cleanly(number, expected):
    session = Answering((ev.TextDelta("half"),))

    async def stop():
        async with asyncio.timeout(20):
            while not session.state.running:  # noqa: ASYNC110  the session tells nobody else
                await asyncio.sleep(0.005)
        os.kill(os.getpid(), number)

    stopping = asyncio.create_task(stop())
    _, code = await talk(session, Typed("one"))
    await stopping
    assert (code, session.closed) == (expected, "the operator left")


async def test_twice_ctrl_c_at_an_empty_line_leaves():
    typed = Typed(KeyboardInterrupt(), KeyboardInterrupt(), "never read")
    text, _ = await talk(Answering(), typed)
    assert "Ctrl+D or /quit leaves" in text
    assert typed.lines == ["never read"]


async def test_a_list_is_chosen_from_by_number_or_narrowed_by_a_part_of_a_name():
    shelf = Shelf()
    text, _ = await talk(
        Answering(), Typed("/resume", "nothing like it", "manual", "1"), sources=Sources(sessions=shelf)
    )
    assert "  1: Repair the parser" in text
    assert "  2: manual" in text
    assert "Nothing there has 'nothing like it'." in text
    assert shelf.wishes == [Wish(resume="01OTHER")]
    assert "resumed at turn 1" in text
    assert "the last answer was:\nan old answer" in text


async def test_a_session_that_cannot_be_opened_changes_nothing():
    shelf, session = Shelf(), Answering(said("still here"))
    shelf.refuses = SessionLocked("Process 12 writes it.")
    text, _ = await talk(session, Typed("/resume 01OLD", "go on"), sources=Sources(sessions=shelf))
    assert "error: The session could not be opened.\n  Process 12 writes it." in text
    assert "still here" in text


async def test_a_message_that_was_gone_back_to_is_the_beginning_of_the_next_line():
    session = Answering()
    turn(session, "the first message")
    answer(session, "the answer")
    typed = Typed("/rewind", "1", "2")
    await talk(session, typed)
    assert typed.prompts[-1] == ("> ", "the first message")


async def test_a_line_behind_a_rewind_waits_until_it_is_done():
    session = Answering(said("again"))
    turn(session, "the first message")
    answer(session, "the answer")
    text, _ = await talk(session, Typed("/rewind 1", "otherwise"))
    assert [type(command) for command in session.commands] == [Rewind, Say]
    assert text.index("rewound: ") < text.index("again")


async def test_a_call_that_was_running_when_the_process_stopped_is_told_when_one_goes_on():
    session = FakeSession()
    turn(session)
    for call_id, command in (("c1", "ls"), ("c2", "make")):
        session.play(ev.ToolCallStarted(call_id, "bash", command, "operator"))
    session.play(
        ev.ToolReturned("c1", "bash", output("a")),
        ev.TurnError("error", "error", 1, "the process stopped while this turn ran"),
    )
    text, _ = await talk(session, Typed())
    assert "\nbash make: outcome unknown: the process stopped while this ran\n" in text
    assert "bash ls: outcome unknown" not in text


async def test_a_session_that_was_begun_elsewhere_goes_on_here_and_says_so():
    session = FakeSession()
    session.state.cwd = "/b"
    session.play(ev.SessionStarted("/a", "0", "linux", "2026-01-01", "p", "m", "ask"))
    text, _ = await talk(session, Typed())
    assert text.splitlines()[0].endswith(", /b")
    assert "\nthis session was begun in /a; it goes on in /b\n" in text


async def test_a_directory_whose_name_steers_a_terminal_is_told_without_it():
    session = FakeSession()
    session.state.cwd = f"/{HOSTILE}"
    session.play(ev.SessionStarted(f"/a{HOSTILE}", "0", "linux", "2026-01-01", "p", "m", "ask"))
    text, _ = await talk(session, Typed())
    assert "this session was begun in /ared text" in text
    assert not set("\x1b\x07\x9b\x00\u202e") & set(text)


async def test_the_output_of_a_shell_command_goes_with_a_message():
    session = Answering(said("ok"))
    text, _ = await talk(session, Typed("!echo from-the-shell", "what is that?"), sources=Sources())
    (say,) = session.commands
    assert isinstance(say, Say)
    (block,) = say.content
    assert isinstance(block, Text)
    assert block.text.startswith("what is that?\n\n$ echo from-the-shell\nfrom-the-shell")
    assert "from-the-shell" in text


async def test_a_log_that_breaks_ends_the_conversation():
    session = Answering((ev.TextDelta("half"),))

    def break_it():
        session.breaks(StoreUnwritable("The disk is full."))
        return "on"

    text, code = await talk(session, Typed(break_it, "never read"))
    assert "The session cannot go on.\n  The disk is full." in text
    assert code == 1


def read_of(*events) -> str:
    session, read = FakeSession(), []
    teller = Teller(read.append)
    session.play(*events)
    for entry in session.past(0, len(events)):
        teller.event(entry)
    return "".join(read)


def test_everything_of_a_turn_is_told_in_words():
    session, read = FakeSession(), []
    teller = Teller(read.append)
    whole_turn(session)
    for entry in session.past(0, session.state.seq):
        teller.event(entry)
    text = "".join(read)
    assert "read_file src/parser.py: ok" in text
    assert "bash pytest -q tests/test_parser.py: failed" in text
    assert '+        raise ParseError("empty")' in text


def test_a_call_that_never_ran_is_told_with_what_it_would_have_done():
    refused = ev.ToolReturned("c1", "bash", output("denied by the operator", ok=False), executed=False)
    read = read_of(ev.ToolCallProposed(ToolCall("c1", "bash", {"command": "rm -rf build"})), refused)
    assert "bash rm -rf build: failed, not run" in read


def test_a_call_that_no_longer_fits_a_ceiling_is_told_with_what_it_would_have_done():
    asked = ev.AssistantMessage((ToolCall("c1", "read_file", {"path": "a.py"}),), "p", "m")
    missed = ev.ToolReturned("c1", "read_file", output("token ceiling reached", ok=False), executed=False)
    assert "read_file a.py: failed, not run" in read_of(asked, missed)


def test_long_results_are_cut_and_nothing_steers_the_terminal():
    long = output("\n".join(map(str, range(100))))
    text = read_of(
        ev.ToolCallStarted("c1", "bash", HOSTILE, "r"),
        ev.ToolReturned("c1", "bash", long),
        ev.ToolCallStarted("c2", "bash", "x", "r"),
        ev.ToolReturned("c2", "bash", output(HOSTILE), executed=False),
        ev.ToolReturned("c3", "edit_file", edited()),
        ev.OperatorNote(HOSTILE, "warning"),
        ev.AssistantMessage((Text(HOSTILE), ToolCall("c4", HOSTILE, {})), "p", "m"),
    )
    assert f"({100 - MOST} more lines)" in text
    assert "not run" in text
    assert not [char for char in text if not char.isprintable() and char != "\n"]


def test_answers_are_words():
    assert lines_of(Note("two\nlines", "warning")) == ["warning: two", "lines"]
    assert lines_of(Alarm("bad", "because")) == ["error: bad", "  because"]
    assert lines_of(Table("T", [("a", "1\n2"), ("", ""), ("head", "")])) == [
        "T",
        "  a: 1",
        "    2",
        "",
        "head",
    ]
    assert lines_of(Table("", [("filled", "━━┿╌╌ 40%")])) == ["  filled: 40%"]
    assert lines_of(Filling("C", [], [], 0, None, None)) == ["C", "", "What fills it"]
    assert lines_of(Filling("C", [], [Share("messages", 2_000)], 2_000, 8_000, 6_800))[3:] == [
        "  messages: 2.0k tokens, 25.0%",
        "  free: 6.0k tokens, 75.0%",
        "  threshold: 6.8k tokens, 85.0%",
    ]
    assert lines_of(Filling("C", [], [Share("messages", 2_000)], 2_000, None, 6_800))[3:] == [
        "  messages: 2.0k tokens, 100.0%"
    ]
    assert lines_of(Todos(())) == ["To do: 0 of 0 done"]


async def test_a_session_whose_model_is_gone_goes_on_with_another_one():
    class Gone(Shelf):
        async def open(self, wish: Wish, /):
            if not wish.model:
                raise ModelGone("It was held with a/b-2, which cannot be used now.")
            return await super().open(wish)

    shelf = Gone()
    sources = Sources(models=lambda: ("c-3", "d-4"), sessions=shelf)
    text, _ = await talk(Answering(), Typed("/resume manual", "2"), sources=sources)
    assert "The model of that session is gone.\n  It was held with a/b-2" in text
    assert shelf.wishes == [Wish(resume="manual", model="d-4")]
    text, _ = await talk(Answering(said("still here")), Typed("/resume manual", "", "go on"), sources=sources)
    assert "error: The session could not be opened." in text
    assert "still here" in text


def test_bytes_that_are_no_text_are_mended():
    whole("\udcff\udcfe x\udce9 \ud83d").encode("utf-8")
    assert whole("plain é 🙂") == "plain é 🙂"
