"""Slash commands: what they answer and what they send."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from syrupy.assertion import SnapshotAssertion

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import (
    AddRule,
    Checkpoint,
    Command,
    Compact,
    Interrupt,
    Reset,
    SetMode,
    SetModel,
)
from agent_cli.kernel.errors import StoreUnwritable
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.talk.answers import Answer
from agent_cli.talk.commands import book
from agent_cli.talk.desk import Desk
from agent_cli.talk.door import Sources, Welcome
from agent_cli.talk.resumed import restored
from agent_cli.tui.blocks.told import block_of
from agent_cli.tui.guide import KeyGuide
from agent_cli.tui.keys import Keys
from tests.fakes.screen import rendered
from tests.fakes.session import FakeSession
from tests.fakes.stage import Opened
from tests.tui.samples import asks, whole_turn


class Board:
    """The surface of a desk, as text."""

    def __init__(
        self,
        session: FakeSession | None = None,
        *,
        models: Sequence[str] = ("a-1", "b-2"),
        elsewhere: str = "",
    ) -> None:
        self.items: list[Answer] = []
        self.wiped = 0
        self.left = 0
        self.stage = Opened(self.tell)
        sources = Sources(lambda: models, lambda: ("bash:git diff*", "deny bash:rm*"), elsewhere=elsewhere)
        self.desk = Desk(Welcome(), self, sources, self.leave, KeyGuide(Keys()))
        if session is not None:
            self.desk.attach(session)

    def tell(self, item: Answer, /) -> None:
        self.items.append(item)

    def wipe(self) -> None:
        self.wiped += 1

    def refresh_facts(self) -> None:
        """Nothing is drawn here."""

    def leave(self) -> None:
        self.left += 1

    def run(self, line: str, width: int = 80) -> str:
        self.items.clear()
        self.desk.take(line)
        return "\n".join(rendered(block_of(item), width) for item in self.items)


@pytest.fixture
def session() -> FakeSession:
    session = FakeSession(limits=Limits(max_steps=40, max_session_cost=10.0))
    whole_turn(session)
    return session


@pytest.mark.parametrize("name", ["context", "stats", "permissions", "mode", "guardrail"])
def test_report(name: str, session: FakeSession, words: SnapshotAssertion):
    assert Board(session).run(f"/{name}") == words


def test_help_lists_every_command_with_its_words_and_names_the_keys(session: FakeSession):
    text = Board(session).run("/help", 160)
    for command in book.COMMANDS:
        assert f"/{', /'.join((command.name, *command.aliases))} {command.arguments}".rstrip() in text
        assert command.description in text
    assert "shift+tab" in text.casefold()


def test_help_in_a_narrow_place_cuts_nothing_off(session: FakeSession):
    lines = Board(session).run("/help", 40).splitlines()
    assert all(len(line) <= 40 for line in lines)
    shown = "".join(lines).replace(" ", "")
    assert all(command.description.replace(" ", "")[:8] in shown for command in book.COMMANDS)


def test_the_context_of_a_model_nobody_knows():
    session = FakeSession(ModelCard("m", "p"))
    session.play(ev.TurnStarted("m"), ev.UsageReported("m", Usage(input=4_500), None))
    text = Board(session).run("/context")
    assert "unknown for m" in text
    assert "filled" not in text


def test_when_the_context_will_be_reduced_and_how_it_was(session: FakeSession):
    session.state.context_limit = 170_000
    board = Board(session)
    text = board.run("/context", 120)
    assert "at 170,000 tokens (85% of the window), 133,320 tokens from here" in text
    assert "┿" in text
    assert "not compacted yet" in text
    session.state.context_limit = 20_000
    session.play(
        ev.CompactionPerformed("prune", 42_000, 30_000, ("c1", "c2")),
        ev.CompactionPerformed("summary", 41_000, 2_500),
    )
    session.state.context_tokens = 41_000
    text = board.run("/context", 120)
    assert "before the next request" in text
    assert "compacted 2 times, last by summary: 41k → 2.5k tokens; 2 tool results cleared" in text


def test_a_session_that_refuses_to_compact_is_told_and_can_be_asked_again(session: FakeSession):
    session.refuses = StoreUnwritable("The disk is full.")
    board = Board(session)
    assert "The disk is full." in board.run("/compact")
    assert board.run("/compact") == ""
    assert session.commands == [Compact("")]


def test_help_and_tools_say_whether_there_are_checkpoints(session: FakeSession):
    board = Board(session)
    session.state.checkpoint = "model"
    assert "(the model may, too)" in board.run("/help", 160)
    assert "mark_task_done" in board.run("/tools", 120)
    session.state.checkpoint = "off"
    assert "(off: checkpoint.mode)" in board.run("/help", 160)
    assert "off (checkpoint.mode)" in board.run("/tools", 120)
    assert "Checkpoints are switched off" in board.run("/done")
    assert session.commands == []


def test_the_context_tells_of_boundaries_with_their_age_and_note(session: FakeSession):
    session.play(
        ev.CompactionPerformed("summary", 41_000, 2_500, summary="s" * 400, focus="the tests"),
        ev.CheckpointPerformed("r" * 100, 9, "the parser", tokens_before=9_000, tokens_after=900),
        ev.UsageReported("other", Usage(input=10), 0.5),
    )
    text = Board(session).run("/boundaries", 140)
    assert "1 (last " in text
    assert "ago, focus: the tests)" in text
    assert "ago, note: the parser)" in text
    assert "500 characters across all boundaries" in text
    assert text.index("other (1 request, ") > text.index("models")
    assert "What fills it" in text


def test_stats_of_two_models_have_a_sum(session: FakeSession):
    session.play(ev.UsageReported("other", Usage(input=10), None))
    text = Board(session).run("/stats")
    assert "all models" in text
    assert "unpriced" in text


def test_a_request_for_a_summary_is_a_request(session: FakeSession):
    session.play(ev.UsageReported("other", Usage(input=10), 0.5, "summary"))
    assert "$0.500 in 1 request" in Board(session).run("/stats")
    assert "other (1 request, 10 in" in Board(session).run("/context", 140)


def test_permissions_list_what_waits_and_what_was_granted(session: FakeSession):
    asks(session)
    session.play(ev.ApprovalDecided("c6", "write_file", True, "operator", "tool", "write_file:*"))
    text = Board(session).run("/permissions")
    assert "write_file:*" in text
    assert "git commit" in text


def test_a_name_that_is_typed_in_full_comes_before_those_that_only_begin_with_it():
    assert [command.name for command in book.matching("mode")] == ["mode", "model"]
    assert [command.name for command in book.matching("mod")] == ["model", "mode"]


def test_a_name_counts_more_than_another_name_of_a_command():
    assert [command.name for command in book.matching("con")] == ["context", "resume"]


def test_what_does_not_go_over_http_is_not_offered_and_says_why(session: FakeSession):
    board = Board(session, elsewhere="http://127.0.0.1:7777")
    for line in ("/mcp", "/diff", "/doctor", "/continue", "/new", "/skills", "/btw why?"):
        assert "does not go over HTTP: the session runs at http://127.0.0.1:7777." in board.run(line, 200)
    assert "AGENTS.md does not go over HTTP" in board.run("# keep it short", 200)
    assert "Skills and commands of your own" in board.run("/reles", 200)
    assert "/resume" not in board.run("/help")
    assert book.matching("dif", lacks=board.desk.lacks) == []
    assert not board.desk.take("/continue"), "what is refused stays where it was typed"


def test_the_window_of_a_session_elsewhere_says_nothing_of_its_settings(session: FakeSession):
    assert "off; /compact" in Board(session).run("/context", 120)
    text = Board(session, elsewhere="http://127.0.0.1:7777").run("/context", 120)
    assert "as it is set where the session runs" in text


def test_the_model_is_chosen_from_a_list(session: FakeSession):
    board = Board(session, models=("a/scripted-1", "b-2"))
    assert board.run("/model") == ""
    (picking,) = board.stage.lists
    assert "Now: scripted-1" in picking.title
    assert [(row.key, row.note) for row in picking.rows()] == [("a/scripted-1", "now"), ("b-2", "")]
    picking.chosen("b-2")
    assert session.commands == [SetModel("b-2")]
    assert "no session yet" in Board().run("/model")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/model b-2", SetModel("b-2")),
        ("/mode plan", SetMode("plan")),
        ("/mode ACCEPTEDITS", SetMode("acceptEdits")),
        ("/guardrail reset", Reset("all", 0.0)),
        ("/done the parser", Checkpoint("the parser")),
        ("/checkpoint", Checkpoint("")),
        ("/guardrail reset cost_ceiling +5", Reset("cost_ceiling", 5.0)),
    ],
)
def test_orders(line: str, command: Command, session: FakeSession):
    assert Board(session).run(line) == ""
    assert session.commands == [command]


@pytest.mark.parametrize(
    "line",
    [
        "/mode maybe",
        "/guardrail reset nothing",
        "/guardrail reset all +x",
        "/guardrail reset +nan",
        "/guardrail reset +1 +2",
        "/guardrail x",
    ],
)
def test_wrong_arguments_are_answered_and_send_nothing(line: str, session: FakeSession):
    assert "✗" in Board(session).run(line)
    assert session.commands == []


def test_interrupting_needs_a_turn(session: FakeSession):
    assert "No turn is running." in Board(session).run("/interrupt")
    session.play(ev.TurnStarted("m"))
    assert Board(session).run("/interrupt") == ""
    assert session.commands == [Interrupt()]


def test_clear_and_quit(session: FakeSession):
    board = Board(session)
    assert "session" in board.run("/clear")
    assert board.wiped == 1
    board.run("/exit")
    assert board.left == 1


@pytest.mark.parametrize(
    "line", ["/stats", "/context", "/permissions", "/guardrail", "/model x", "/mode plan"]
)
def test_before_there_is_a_session(line: str):
    assert "no session yet" in Board().run(line)


def test_every_command_says_what_it_does_and_has_its_own_names():
    names = [name for command in book.COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))
    assert all(command.description for command in book.COMMANDS)


def test_a_session_that_refuses_is_told(session: FakeSession):
    session.refuses = StoreUnwritable("The disk is full.")
    board = Board(session)
    board.desk.say("hello")
    assert "The disk is full." in rendered(block_of(board.items[0]), 80)


def test_cycling_never_reaches_the_mode_that_asks_nothing(session: FakeSession):
    board = Board(session)
    modes: list[str] = []
    for _ in range(8):
        board.desk.next_mode()
        last = session.commands[-1]
        assert isinstance(last, SetMode)
        session.play(ev.ModeSwitched(last.mode))
        modes.append(last.mode)
    assert modes == ["acceptEdits", "allow", "plan", "ask"] * 2


def test_a_mode_chosen_before_the_session_is_open_is_not_lost():
    board, session = Board(), FakeSession()
    board.desk.next_mode()
    board.desk.say("hello")
    board.desk.attach(session)
    assert session.commands[0] == SetMode("acceptEdits")
    assert len(session.commands) == 2


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("/allow bash:git diff*", AddRule("allow", "bash:git diff*")),
        ("/allow always bash:git diff*", AddRule("allow", "bash:git diff*", keep=True)),
        ("/deny write_file", AddRule("deny", "write_file")),
        ("/deny always  secrets/*", AddRule("deny", "secrets/*", keep=True)),
    ],
)
def test_rules_are_added(session: FakeSession, line: str, sent: AddRule) -> None:
    assert Board(session).run(line) == ""
    assert session.commands == [sent]


@pytest.mark.parametrize("line", ["/allow", "/deny always", "/allow always  "])
def test_without_a_rule_it_is_said_how_to_give_one(session: FakeSession, line: str) -> None:
    assert f"{line.split(maxsplit=1)[0]} RULE" in Board(session).run(line)
    assert session.commands == []


def test_permissions_shows_rules_of_the_session_and_the_other_gates(session: FakeSession) -> None:
    session.play(ev.RuleAdded("deny", "bash:rm*"), ev.RuleAdded("allow", "bash:make*"))
    board = Board(session)
    board.desk.sources = board.desk.sources._replace(gates=lambda: [("sandbox", "read-only, network off")])
    said = board.run("/permissions")
    assert "deny bash:rm*" in said
    assert "allow bash:make*" in said
    assert "read-only, network off" in said


def halted(
    *trips: ev.GuardrailTrip, watchdog: str = "enforce", limits: Limits | None = None
) -> tuple[Board, FakeSession]:
    session = FakeSession(limits=limits or Limits())
    whole_turn(session)
    session.play(*trips)
    board = Board(session)
    board.desk.sources = Sources(watchdog=lambda: watchdog)
    return board, session


STOPPED = ev.GuardrailTrip("watchdog", "repeated-call", "halt", "session", "The same call five times.", True)


def test_the_panel_of_the_guardrails_resets_from_within():
    board, session = halted(STOPPED, limits=Limits(max_session_cost=0.01))
    assert "The same call five times." in board.run("/guardrail")
    (panel,) = board.stage.lists
    rows = panel.rows()
    assert [row.label for row in rows] == [
        "reset cost_ceiling +0.04", "reset cost_ceiling +0.50", "reset cost_ceiling +1.00", "reset watchdog", "reset all +0.04",
    ]  # fmt: skip
    assert panel.preview is not None
    assert panel.preview(rows[3].key) == "watchdog: The same call five times."
    for row in rows[1:]:
        panel.chosen(row.key)
    assert session.commands == [
        Reset("cost_ceiling", 0.5), Reset("cost_ceiling", 1.0), Reset("watchdog", 0.0), Reset("all", 0.04),
    ]  # fmt: skip


def test_where_nothing_halts_there_is_nothing_to_reset():
    board, _ = halted(STOPPED, watchdog="observe")
    assert "armed" in board.run("/guardrail")
    assert board.stage.lists == []


def test_a_session_in_which_nothing_was_said_yet_is_not_resumed_at_a_turn():
    assert restored(FakeSession().state, "").startswith("resumed before its first turn: scripted-1")
    session = FakeSession()
    whole_turn(session)
    assert restored(session.state, "").startswith("resumed at turn 1: ")
