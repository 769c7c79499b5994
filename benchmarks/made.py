"""A session as work makes it: turns of many calls, each call with the facts that a real one leaves."""

from __future__ import annotations

from collections.abc import Iterator

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import Usage

RESULT = "".join(
    f"{number:6d}\ta line of a file that was read, as long as lines are\n" for number in range(1, 21)
)
"""What a call returns, about 1.2 kB."""

MODEL = "gpt-4.1"
CALLS_A_TURN = 20
TURNS_A_SUMMARY = 50


def session(calls: int) -> Iterator[ev.Recorded]:
    """Six facts a call, and those of turns and summaries."""
    facts: list[ev.Recorded] = []
    facts.append(ev.SessionStarted("/project", "0", "linux", "2026-01-01", "openai", MODEL, "ask"))
    for number in range(calls):
        if number % CALLS_A_TURN == 0:
            facts.append(ev.TurnStarted(MODEL))
            facts.append(ev.OperatorMessage((Text("Go on with the next part, and look before you write."),)))
        facts += call(number)
        if number % CALLS_A_TURN == CALLS_A_TURN - 1:
            said = "That part is done: " + "it reads well now. " * 20
            facts.append(ev.AssistantMessage((Text(said),), "openai", MODEL))
            facts.append(ev.TurnCompleted("completed", "stop"))
        if number % (CALLS_A_TURN * TURNS_A_SUMMARY) == CALLS_A_TURN * TURNS_A_SUMMARY - 1:
            summary = "What was done so far. " * 50
            facts.append(
                ev.CompactionPerformed("summary", 120_000, 2_000, summary=summary, keeps_from=len(facts))
            )
    return iter(facts)


def call(number: int) -> Iterator[ev.Recorded]:
    ident = f"call_{number}"
    asked = ToolCall(ident, "read_file", {"path": f"src/part_{number}.py"})
    yield ev.StepStarted(MODEL)
    yield ev.AssistantMessage((Text("Next, the file itself."), asked), "openai", MODEL, "tool-calls")
    yield ev.UsageReported(MODEL, Usage(input=1000, output=30), 0.002)
    yield ev.ToolCallProposed(asked)
    yield ev.ToolCallStarted(ident, "read_file", f"src/part_{number}.py", "read-only")
    yield ev.ToolReturned(ident, "read_file", ev.Output((Text(RESULT),)), duration_s=0.002)
