"""A subtask shows in the card of its call."""

from __future__ import annotations

from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.commands import StopAgent
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.tui.column import Column
from agent_cli.tui.story import Story
from tests.fakes.screen import INK, rendered, screen, sees
from tests.fakes.session import FakeSession
from tests.tui.test_commands import Board

BRANCH = "S:sub:agentic_grep-1"
CALL = ToolCall("c1", "agentic_grep", {"question": "where is it?"})
INNER = ToolCall("c2", "grep", {"pattern": "it"})


class Told:
    def __init__(self) -> None:
        self.column = Column()
        self.column.shape(100, INK)
        self.story = Story(self.column)
        self._seq = 0

    def tell(self, *events: ev.Recorded, branch: str = "", width: int = 100) -> str:
        for event in events:
            self._seq += 1
            self.story.apply(ev.Entry("S", self._seq, 1000.0 + self._seq, 1, 1, event, branch))
        self.story.flush()
        return "\n".join(text for item in self.column.items if (text := rendered(item, width)))


def begun(told: Told, call_id: str = "c1") -> str:
    told.tell(
        ev.TurnStarted("large"),
        ev.ToolCallProposed(CALL),
        ev.ToolCallStarted("c1", "agentic_grep", ".: where is it?", "mode"),
    )
    return told.tell(ev.SubtaskStarted("agentic_grep", "small-1", "where is it?", BRANCH, call_id))


def test_its_progress_stands_in_the_card_of_its_call_and_nothing_else_of_it_in_the_transcript():
    told = Told()
    begun(told)
    text = told.tell(
        ev.TurnStarted("small-1"),
        ev.OperatorMessage((Text("the task of the subtask"),), by="product"),
        ev.StepStarted("small-1"),
        ev.AssistantMessage((Text("I look."), INNER), "p", "small-1"),
        ev.UsageReported("small-1", Usage(input=10), 0.0123),
        ev.ToolCallProposed(INNER),
        ev.ToolCallStarted("c2", "grep", "it in .", "mode"),
        branch=BRANCH,
    )
    assert "running · small-1 · 1 step · $0.01" in text
    assert "grep it in ." in text
    assert "the task of the subtask" not in text
    assert "I look." not in text
    assert len(told.column.items) == 1


def test_when_it_ended_the_card_holds_the_digest_and_what_it_took():
    told = Told()
    begun(told)
    told.tell(ev.StepStarted("small-1"), ev.UsageReported("small-1", Usage(), 0.5), branch=BRANCH)
    told.tell(ev.TurnCompleted("completed", "stop"), branch=BRANCH)
    text = told.tell(
        ev.SubtaskCompleted("agentic_grep", "completed", "in a.py", Usage(), 0.5, "small-1", BRANCH),
        ev.ToolReturned("c1", "agentic_grep", ev.Output((Text("in a.py"),)), duration_s=2.0),
        ev.TurnCompleted("completed", "stop"),
    )
    assert text.count("in a.py") == 1
    assert "small-1 · 1 step · $0.500 · 2.0s" in text
    assert "done" in text
    assert "$0.500" in text.splitlines()[-1], "the turn cost what its subtask cost"


def test_one_that_no_call_started_is_told_in_a_line():
    told = Told()
    assert "subtask agentic_grep with small-1" in begun(told, call_id="")


async def test_an_approval_names_the_subtask_that_asks():
    session = FakeSession()
    session.play(
        ev.TurnStarted("large"),
        ev.ApprovalRequested("c2", "grep", "it in /etc", "outside", "path-scope", agent="agentic_grep-1"),
    )
    async with screen(session, size=(100, 30)) as (_app, pilot):
        await sees(pilot, "agentic_grep-1 asks for permission to use grep")
        await sees(pilot, "it in /etc")


# ── agents in the background ──

WRITER = "S:sub:writer-2"


def sent(told: Told) -> str:
    call = ToolCall("c9", "spawn_agent", {"agent": "writer", "task": "write it"})
    return told.tell(
        ev.TurnStarted("large"),
        ev.ToolCallProposed(call),
        ev.ToolCallStarted("c9", "spawn_agent", "writer: write it", "mode"),
        ev.SubtaskStarted("writer", "large-1", "write it", WRITER, "c9", "writer", background=True),
        ev.ToolReturned("c9", "spawn_agent", ev.Output((Text("writer-2 works in the background."),))),
        ev.TurnCompleted("completed", "stop"),
    )


def test_what_an_agent_does_leaves_the_name_of_its_call_to_be_read():
    told = Told()
    sent(told)
    text = told.tell(
        ev.StepStarted("large-1"),
        ev.ToolCallStarted("c2", "write_file", "src/a/path/that/is/long.py", "mode"),
        branch=WRITER,
        width=60,
    )
    assert "✓ spawn_agent  in the background · large-1" in text


def test_the_card_of_its_call_goes_on_telling_how_far_it_is_when_the_turn_is_over():
    told = Told()
    assert "in the background · large-1 · 0 steps" in sent(told)
    text = told.tell(
        ev.StepStarted("large-1"),
        ev.UsageReported("large-1", Usage(input=10), 0.02),
        ev.ToolCallStarted("c2", "write_file", "b.py", "mode"),
        branch=WRITER,
    )
    assert "in the background · large-1 · 1 step · $0.020 · write_file b.py" in text
    digest = "[writer-2 finished.]\nwrote b.py"
    text = told.tell(
        ev.SubtaskCompleted(
            "writer", "completed", digest, Usage(), 0.02, "large-1", WRITER, report=True, agent="writer"
        )
    )
    assert "completed · large-1 · 1 step · $0.020" in text
    assert "agent writer-2: done" in text
    assert "wrote b.py" in text
    assert "goes to the model with its next request" in text


def agents_of(session: FakeSession) -> None:
    session.subtasks.agents = (
        AgentDefinition("reader", "reads", "…", tools=("read_file",), mode="plan", source="/p/reader.md"),
    )


def test_agents_lists_who_there_is_and_who_works_and_stops_one():
    session = FakeSession()
    board = Board(session)
    assert "No agents are known here" in board.run("/agents")
    agents_of(session)
    session.play(
        ev.TurnStarted("large"),
        ev.SubtaskStarted("writer", "large-1", "write it", WRITER, "c9", "writer", background=True),
    )
    text = board.run("/agents", 120)
    assert "reader    reads" in text
    assert "the session's model · read_file · at most plan · /p/reader.md" in text
    assert "writer-2  in the background · large-1" in text
    board.run("/agents stop writer-2")
    assert session.commands == [StopAgent("writer-2")]
    assert "There is no agent 'writer-3' here: writer-2." in board.run("/agents stop writer-3")
    session.play(
        ev.SubtaskCompleted("writer", "completed", "x", Usage(), 0.0, "large-1", WRITER, report=True)
    )
    assert "writer-2 is not stopped: it has ended." in board.run("/agents stop writer-2")


def test_agents_with_the_name_of_a_definition_shows_it_and_what_was_started_by_it():
    session = FakeSession()
    agents_of(session)
    board = Board(session)
    text = board.run("/agents reader", 120)
    assert "the session's model · read_file · at most plan · /p/reader.md" in text
    assert "none was started yet" in text
    session.play(
        ev.TurnStarted("large"),
        ev.SubtaskStarted("reader", "large-1", "read it", "S:sub:reader-2", "c9", "reader", background=True),
    )
    text = board.run("/agents reader", 120)
    assert "reader-2" in text
    assert "in the background · large-1" in text
    assert "none was started yet" not in text
    assert "There is no agent 'reade' here: reader, reader-2." in board.run("/agents reade")
    assert "There is no agent 'reader' here: reader-2." in board.run("/agents stop reader")


def test_agents_with_a_name_shows_what_that_one_did():
    session = FakeSession()
    agents_of(session)
    session.play(
        ev.TurnStarted("large"),
        ev.SubtaskStarted("writer", "large-1", "write it", WRITER, "c9", "writer", background=True),
    )
    session.play_below(
        WRITER,
        ev.AssistantMessage((Text("I look."), INNER), "p", "large-1"),
        ev.ToolCallStarted("c2", "grep", "it in .", "mode"),
        ev.ToolReturned("c2", "grep", ev.Output((Text("a.py:1: it"),))),
    )
    text = Board(session).run("/agents writer-2", 120)
    for line in ("task: write it", "I look.", "→ grep it in .", "✓ grep: a.py:1: it"):
        assert line in text
