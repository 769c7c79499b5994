"""Events become items, in the order in which they happened."""

from __future__ import annotations

import itertools

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Reasoning, Said, Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.talk.remarks import OUTCOMES
from agent_cli.tui.column import Column
from agent_cli.tui.story import Story
from tests.fakes.screen import INK, rendered
from tests.tui.samples import HOSTILE, output


class Told:
    """A story whose text can be read."""

    def __init__(self) -> None:
        self.column = Column()
        self.column.shape(80, INK)
        self.story = Story(self.column)
        self._seq = itertools.count(1)

    def tell(self, *events: ev.Recorded | ev.Live) -> str:
        for event in events:
            if not isinstance(event, ev.Live):
                seq = next(self._seq)
                self.story.apply(ev.Entry("S", seq, 1000.0 + seq, 1, 1, event))
            else:
                self.story.apply(event)
        return self.text

    @property
    def text(self) -> str:
        self.story.flush()
        return "\n".join(text for item in self.column.items if (text := rendered(item, 80)))


def said(*parts: Said) -> ev.AssistantMessage:
    return ev.AssistantMessage(parts, "p", "m")


def test_the_complete_message_replaces_what_streamed():
    told = Told()
    assert "Hello wor" in told.tell(ev.TextDelta("Hello "), ev.TextDelta("wor"))
    text = told.tell(said(Text("Hello world.")))
    assert text.count("Hello") == 1
    assert "Hello world." in text


def test_what_streamed_whole_is_not_made_again():
    told = Told()
    told.tell(ev.TextDelta("One.\n\nTwo."))
    told.story.flush()
    first = told.column.items[0]
    told.tell(said(Text("One.\n\nTwo.")))
    assert told.column.items[0] is first


def test_what_the_product_tells_the_model_is_not_shown_as_a_message_of_the_operator():
    told = Told()
    note = "[watchdog]\nAutomated observation about your own previous turn. The user does not see it."
    text = told.tell(
        ev.OperatorMessage((Text("go on"),)),
        ev.OperatorMessage((Text(note),), by="product"),
        said(Text("Yes.")),
    )
    assert "go on" in text
    assert "watchdog" not in text


def test_a_retry_withdraws_what_the_failed_attempt_streamed():
    told = Told()
    told.tell(ev.ReasoningDelta("hm"), ev.TextDelta("Lost text."), ev.ArgumentsDelta("c1", "bash", '{"comm'))
    text = told.tell(ev.Retry(2, 5, 3.0, "overloaded", "The service is overloaded."))
    assert "Lost text." not in text
    assert "bash" not in text
    assert "overloaded" in text
    assert "attempt 3 of 5" in text


def test_a_model_that_takes_over_withdraws_what_the_other_streamed():
    told = Told()
    told.tell(ev.TextDelta("FIRST half of"))
    text = told.tell(ev.ModelSwitched("p", "second", "the first is overloaded"), ev.TextDelta("SECOND"))
    assert "FIRST" not in text
    assert "SECOND" in text
    assert "model: p/second (the first is overloaded)" in text  # of two services one may offer the same model
    assert told.tell(ev.TextDelta("Again."), said(Text("Again."))).endswith("Again.")


def test_thoughts_and_texts_keep_their_order():
    told = Told()
    told.tell(ev.ReasoningDelta("first thought"), ev.TextDelta("first text"))
    told.tell(ev.ReasoningDelta("second thought"), ev.TextDelta("second text"))
    wanted = ["first thought", "first text", "second thought", "second text"]
    places = [told.text.index(part) for part in wanted]
    assert places == sorted(places)
    parts = (
        Reasoning("first thought", "p", "m"),
        Text("first text"),
        Reasoning("other", "p", "m"),
        Text("second"),
    )
    text = told.tell(said(*parts))
    places = [text.index(part) for part in ("first thought", "first text", "other", "second")]
    assert places == sorted(places)


def test_text_that_was_replaced_stays_before_its_calls():
    told = Told()
    told.tell(ev.TextDelta("I look at sk-secret"), ev.ArgumentsDelta("c1", "bash", "{}"))
    text = told.tell(said(Text("I look at [redacted]"), ToolCall("c1", "bash", {"command": "ls"})))
    assert "sk-secret" not in text
    assert text.index("[redacted]") < text.index("bash")


def test_a_note_in_the_middle_of_a_stream_stands_before_it():
    told = Told()
    told.tell(ev.TextDelta("It begins\n\nand "), ev.OperatorNote("a note"), ev.TextDelta("goes on."))
    assert told.text.index("a note") < told.text.index("It begins")
    assert "and goes on." in told.text


def test_text_stands_before_a_call_that_was_typed_after_it():
    told = Told()
    text = told.tell(ev.TextDelta("First this."), ev.ArgumentsDelta("c1", "bash", "{"))
    assert text.index("First this.") < text.index("bash")


def test_the_life_of_a_call():
    told = Told()
    call = ToolCall("c1", "bash", {"command": "make test"})
    assert "· bash" in told.tell(ev.ArgumentsDelta("c1", "bash", '{"command"'))
    assert "○ bash  make test" in told.tell(said(call), ev.ToolCallProposed(call))
    asked = ev.ApprovalRequested("c1", "bash", "make test", "no rule", "mode-ask")
    assert "? bash  make test  waits for you" in told.tell(asked)
    assert "○ bash" in told.tell(ev.ApprovalDecided("c1", "bash", True, "operator"))
    assert "● bash  make test  running" in told.tell(
        ev.ToolCallStarted("c1", "bash", "make test", "operator")
    )
    assert "half a line" in told.tell(ev.ToolProgress("c1", "half a "), ev.ToolProgress("c1", "line"))
    text = told.tell(ev.ToolReturned("c1", "bash", output("all passed"), duration_s=1.2))
    assert "✓ bash  make test  1.2s" in text
    assert "all passed" in text
    assert "half a" not in text
    assert text.count("bash") == 1


def test_a_denied_call():
    told = Told()
    told.tell(ev.ApprovalRequested("c1", "bash", "rm -rf /", "no", "r"))
    told.tell(ev.ApprovalDecided("c1", "bash", False, "operator"))
    told.tell(ev.ToolReturned("c1", "bash", output("denied", ok=False), executed=False))
    assert "✗ bash  rm -rf /  denied" in told.text


def test_a_call_without_a_result_at_the_end_did_not_run():
    told = Told()
    told.tell(ev.ToolCallProposed(ToolCall("c1", "bash", None)))
    assert "- bash  not run" in told.tell(ev.TurnError("canceled", "interrupted", 130, "interrupted"))


def test_a_call_whose_turn_was_stopped_while_it_waited_was_denied_by_nobody():
    told = Told()
    asked = ev.ApprovalRequested("c1", "bash", "make", "it runs a command", "mode")
    told.tell(ev.ToolCallProposed(ToolCall("c1", "bash", {"command": "make"})), asked)
    stopped = ev.Output((Text("not run: the turn was stopped before this call"),), ok=False)
    text = told.tell(
        ev.ApprovalDecided("c1", "bash", allowed=False, by="interrupt"),
        ev.ToolReturned("c1", "bash", stopped, executed=False),
    )
    assert "- bash  make  not run" in text
    assert "denied" not in text


def test_a_call_that_had_started_and_has_no_result_at_the_end_has_an_unknown_outcome():
    told = Told()
    told.tell(
        ev.ToolCallProposed(ToolCall("c1", "bash", {"command": "make"})),
        ev.ToolCallProposed(ToolCall("c2", "bash", {"command": "make test"})),
        ev.ToolCallStarted("c1", "bash", "make", "operator"),
    )
    text = told.tell(ev.TurnError("error", "error", 1, "the process stopped while this turn ran"))
    assert "! bash  make  outcome unknown" in text
    assert "outcome unknown: the process stopped while this ran" in text
    assert "- bash  make test  not run" in text


def test_the_end_says_how_and_what_it_took():
    told = Told()
    told.tell(ev.TurnStarted("m"), ev.ToolCallProposed(ToolCall("c1", "bash", {})))
    told.tell(ev.ToolReturned("c1", "bash", output("x")))
    told.tell(ev.UsageReported("m", Usage(10), 0.02), ev.UsageReported("m", Usage(10), 0.03))
    assert "── done · 5.0s · 1 call · $0.050" in told.tell(ev.TurnCompleted("completed", "stop"))


def test_an_error_is_shown_whole():
    told = Told()
    long = "The key was refused. " * 20
    text = told.tell(ev.TextDelta("half an ans"), ev.TurnError("provider", "error", 1, long))
    assert "half an ans" not in text
    assert text.count("refused") == 20


def test_every_way_to_end_has_words():
    for outcome in OUTCOMES:
        assert OUTCOMES[outcome] in Told().tell(ev.TurnStarted("m"), ev.TurnCompleted(outcome, "stop"))


def test_subtasks_tell_only_that_they_ran():
    told = Told()
    told.story.apply(ev.Entry("S", 1, 0.0, 1, 1, ev.OperatorMessage((Text("inner"),)), branch="scout"))
    assert told.text == ""
    assert "scout" in told.tell(ev.SubtaskStarted("scout", "m", "look around"))


def test_every_fact_that_is_told_is_cleaned():
    told = Told()
    text = told.tell(
        ev.OperatorNote(HOSTILE, "error"),
        ev.GuardrailTrip("watchdog", HOSTILE, "halt", "session", HOSTILE, True),
        ev.GuardrailFinding("secrets", "output", "block", HOSTILE),
        ev.BudgetWarning("cost", 0.8, 1.0),
        ev.CompactionPerformed("summary", 150_000, 20_000),
        ev.ContextReductionFailed("compaction", HOSTILE),
        ev.ContextReductionDegraded("assumed-window", HOSTILE, 10, 20),
        ev.CheckpointPerformed("r", 3, HOSTILE),
        ev.PlanRecorded(HOSTILE, "plan"),
        ev.PlanRevoked(HOSTILE, HOSTILE),
        ev.ModelSwitched("p", HOSTILE),
        ev.ModeSwitched("plan"),
        ev.SubtaskCompleted(HOSTILE, "completed", HOSTILE, Usage(5), None),
        ev.GuardrailReset("all", 5.0),
        ev.TurnError("provider", "error", 1, HOSTILE),
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "150k → 20k" in text


def test_what_a_tool_asks_while_it_runs_is_no_call_of_its_own():
    told = Told()
    call = ToolCall("c1", "mcp__git__log", {})
    asked = ev.ApprovalRequested(
        "c1-asks-1", call.name, "Which one?", "it wants to know", "question", options=()
    )
    told.tell(ev.ToolCallProposed(call), ev.ToolCallStarted("c1", call.name, "{}", "rule"), asked)
    text = told.tell(
        ev.ApprovalDecided("c1-asks-1", call.name, True, "operator"),
        ev.ToolReturned("c1", call.name, output("ok")),
    )
    assert text.count("mcp__git__log") == 1
    assert "Which one?: answered" in text
