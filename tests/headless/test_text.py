"""stdout is the answer and nothing else; stderr is everything else."""

from __future__ import annotations

import asyncio
import contextlib
import os

from agent_cli.headless.narration import Level
from agent_cli.headless.printer import Voice
from agent_cli.headless.run import run_once
from agent_cli.headless.streams import Stream
from agent_cli.headless.structured import Shape
from agent_cli.headless.text import TextPrinter
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from tests.fakes.feed import DONE, Feed, ran, step
from tests.fakes.paper import Paper

SAY = (Text("hello"),)
READ = ToolCall("c1", "read_file", {"path": "notes.txt"})
BASH = ToolCall("c2", "bash", {"command": "make\n  test"})
USED_UP = ev.TurnCompleted("budget-exhausted", "budget-exhausted", exhausted="steps")


async def play(*script, level=Level.NORMAL, strict=False):
    with Paper("text", level) as paper:
        code = await run_once(Feed(*script), SAY, paper.printer, strict=strict)
        return code, paper.out, paper.err


async def test_the_answer_is_stdout_and_nothing_else():
    assert await play(*step("The answer| is 42"), DONE) == (0, "The answer is 42\n", "")


async def test_a_budget_that_is_nearly_used_up_is_told_in_its_unit():
    used = (
        ev.BudgetWarning("cost", 0.0448605, 0.05), ev.BudgetWarning("tokens", 12_545, 15_000), ev.BudgetWarning("duration", 13.5, 15)
    )  # fmt: skip
    _, _, err = await play(*used, *step("ok"), DONE)
    assert "cost: $0.0449 of $0.0500 used" in err
    assert "tokens: 12,545 of 15,000 used" in err
    assert "duration: 13.5 of 15 seconds used" in err


async def test_an_answer_that_ends_a_line_gets_no_second_newline():
    assert (await play(*step("one\n|two\n"), DONE))[1] == "one\ntwo\n"


async def test_what_the_model_says_before_it_calls_a_tool_goes_to_stderr():
    code, out, err = await play(*step("Let me| look.", READ), *ran(READ, "42"), *step("It is 42."), DONE)
    assert (code, out) == (0, "It is 42.\n")
    assert err == "Let me look.\n  read_file notes.txt: ok (0.50 s)\n"


async def test_a_failed_call_says_why_on_one_line():
    script = (*step("", BASH), *ran(BASH, "exit 2:\n\x1b[31mno rule\x1b[0m", ok=False), *step("No."), DONE)
    assert (await play(*script))[2] == "  bash make test: failed (0.50 s): exit 2: no rule\n"


async def test_a_call_that_never_ran_says_so():
    refused = ev.ToolReturned(
        "c2", "bash", ev.Output((Text("Refused (mode): ask"),), ok=False), executed=False
    )
    _, _, err = await play(*step("", BASH), ev.ToolCallProposed(BASH), refused, *step("No."), DONE)
    assert err == "  bash make test: failed (not run): Refused (mode): ask\n"


async def test_a_call_that_no_longer_fits_a_ceiling_says_what_it_was():
    missed = ev.ToolReturned("c2", "bash", ev.Output((Text("no room"),), ok=False), executed=False)
    _, _, err = await play(*step("", BASH), missed, *step("No."), DONE)
    assert err == "  bash make test: failed (not run): no room\n"


async def test_a_failed_turn_has_no_answer_and_one_line_of_reason():
    code, out, err = await play(
        *step("half"), ev.TurnError("provider", "error", 75, "overloaded,\ntry later")
    )
    assert (code, out, err) == (75, "", "agent: [session S1] overloaded, try later (exit 75)\n")


async def test_text_of_a_failed_attempt_never_reaches_stdout():
    retry = ev.Retry(1, 3, 0.5, "stream-cut", "the answer broke off")
    code, out, err = await play(ev.StepStarted("m"), ev.TextDelta("wrong"), retry, *step("right"), DONE)
    assert (code, out) == (0, "right\n")
    assert "(stream-cut: the answer broke off); attempt 2 of 3 in 0.5 s" in err


async def test_a_cut_in_flight_is_told_in_full_even_when_quiet():
    trip = ev.GuardrailTrip(
        "cost_ceiling", "cost", "halt", "turn", "this turn cost $0.0512", halted_turn=True
    )
    end = ev.TurnError("canceled", "guardrail-stop", 1, "this turn cost $0.0512", "cost")
    _, _, err = await play(*step("x"), trip, end, level=Level.QUIET)
    first, last = err.splitlines()
    assert first.startswith(
        "agent: [session S1] cost_ceiling guardrail cut the turn in flight — the cancellation that follows is this cut, "
        "not a provider failure: this turn cost $0.0512. "
    )
    assert "exit 1" in first
    assert last == "agent: [session S1] this turn cost $0.0512 (exit 1)"


async def test_a_turn_that_a_pool_cut_says_that_it_can_be_tried_later():
    trip = ev.GuardrailTrip("admission", "pool-calls", "halt", "turn", "pool p is full", halted_turn=True)
    end = ev.TurnError("canceled", "guardrail-stop", 75, "pool p is full")
    code, _, err = await play(*step("x"), trip, end, level=Level.QUIET)
    assert code == 75
    assert err.splitlines()[0].endswith("a one-shot (-p) run ends here with exit 75.")


async def test_a_trip_that_cuts_nothing_is_told_as_tripped():
    trip = ev.GuardrailTrip("step_ceiling", "steps", "halt", "turn", "3/3", halted_turn=False)
    _, _, err = await play(trip, *step("x"), USED_UP)
    assert err == "agent: [session S1] step_ceiling guardrail tripped — 3/3.\n"


async def test_a_soft_landing_is_a_success_unless_strict():
    assert (await play(*step("as far as I got"), USED_UP))[0] == 0
    code, out, err = await play(*step("as far as I got"), USED_UP, strict=True)
    assert (code, out) == (1, "as far as I got\n")
    assert "--strict" in err


async def test_quiet_says_nothing_of_what_goes_well():
    note = ev.OperatorNote("watchdog: enforce")
    script = (note, *step("Look.", READ), *ran(READ, "42"), *step("42"), DONE)
    assert await play(*script, level=Level.QUIET) == (0, "42\n", "")


async def test_verbose_adds_what_each_step_used():
    _, _, err = await play(*step("42"), DONE, level=Level.VERBOSE)
    assert err == ("agent: [session S1] step 1: 123 tokens in, 20 cached, 40 out, $0.2500 (scripted-1)\n")


async def test_details_are_for_who_asks_for_them():
    note = ev.OperatorNote("context: scripted-1, window 200,000 tokens", "detail")
    assert "context:" not in (await play(note, *step("42"), DONE))[2]
    assert "] context: scripted-1, window" in (await play(note, *step("42"), DONE, level=Level.VERBOSE))[2]


async def test_notes_carry_the_session():
    _, _, err = await play(ev.OperatorNote("watchdog: enforce"), *step("x"), DONE)
    assert err == "agent: [session S1] watchdog: enforce\n"


# ── a terminal ──


class Terminal:
    """A pseudo-terminal on stdout; stderr is the same one."""

    def __init__(self, level=Level.NORMAL):
        self.reader, self.writer = os.openpty()
        self.printer = TextPrinter(Stream(self.writer), Voice(Stream(self.writer), level))

    def read(self, count: int) -> str:
        """The next characters; a terminal may hand them over in pieces."""
        shown = ""
        while len(shown) < count:
            shown += os.read(self.reader, count - len(shown)).decode()
        return shown

    def rest(self) -> str:
        """Everything that is left; the last question."""
        os.close(self.writer)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while piece := os.read(self.reader, 100_000):
                shown += piece
        os.close(self.reader)
        return shown.decode().replace("\r\n", "\n")


async def on_terminal(*script, level=Level.NORMAL):
    terminal = Terminal(level)
    await run_once(Feed(*script), SAY, terminal.printer)
    return terminal.rest()


async def test_on_a_terminal_text_appears_while_it_comes():
    held = asyncio.Event()
    terminal = Terminal()
    feed = Feed(
        ev.StepStarted("m"), ev.TextDelta("first words"), held, *step("first words and last")[2:], DONE
    )
    run = asyncio.create_task(run_once(feed, SAY, terminal.printer))
    assert await asyncio.to_thread(terminal.read, len("first words")) == "first words"
    held.set()
    await run
    assert terminal.rest() == " and last\n"


async def test_on_a_terminal_speech_and_calls_have_lines_of_their_own():
    shown = await on_terminal(*step("Let me look.", READ), *ran(READ, "42"), *step("It is| 42."), DONE)
    assert shown == "Let me look.\n  read_file notes.txt: ok (0.50 s)\nIt is 42.\n"


async def test_on_a_terminal_withdrawn_text_is_marked():
    retry = ev.Retry(1, 3, 0.5, "stream-cut", "broke off")
    shown = await on_terminal(ev.StepStarted("m"), ev.TextDelta("wrong"), retry, *step("right"), DONE)
    assert shown.startswith("wrong\nagent: the text above is withdrawn")
    assert shown.endswith("in 0.5 s\nright\n")


async def test_on_a_terminal_text_is_withdrawn_when_another_model_takes_over():
    switched = ev.ModelSwitched("p", "second", "the first is overloaded")
    shown = await on_terminal(
        ev.StepStarted("m"), ev.TextDelta("FIRST half of"), switched, *step("SECOND"), DONE
    )
    assert shown.startswith("FIRST half of\nagent: the text above is withdrawn")
    assert shown.endswith("\nSECOND\n")
    assert shown.count("SECOND") == 1


async def test_a_wait_is_counted_down():
    waits = [ev.Waiting(left, "overloaded") for left in (21.0, 20.0, 19.8, 19.5, 19.0, 10.0, 9.9, 9.2, 1.0)]
    _, out, err = await play(ev.StepStarted("m"), *waits, *step("right"), DONE)
    assert out == "right\n"
    assert err == "agent: asks again in 20 s\nagent: asks again in 10 s\n"


async def test_a_wait_for_a_pool_is_no_question_to_a_service():
    wait = ev.Waiting(30.0, "pool p: 2 of 2 tool calls of this minute were made")
    _, _, err = await play(ev.StepStarted("m"), wait, wait, *step("right"), DONE)
    assert err == "agent: waits for room, 30 s\n"


async def test_on_a_terminal_a_wait_is_counted_down_in_one_line_which_goes_away():
    waits = [ev.Waiting(left, "overloaded") for left in (2.0, 1.0)]
    shown = await on_terminal(ev.StepStarted("m"), *waits, *step("right"), DONE)
    again = "\r\x1b[Kagent: asks again in {} s; Ctrl+C stops"
    assert shown == again.format(2) + again.format(1) + "\r\x1b[Kright\n"


async def test_on_a_terminal_lost_previews_are_made_up_for():
    message = ev.AssistantMessage((Text("all of it"),), "p", "m")
    assert await on_terminal(ev.StepStarted("m"), ev.TextDelta("all "), message, DONE) == "all of it\n"
    assert (
        await on_terminal(ev.StepStarted("m"), ev.TextDelta("of it"), message, DONE) == "of it\nall of it\n"
    )


async def test_on_a_terminal_control_codes_of_the_model_do_nothing():
    shown = await on_terminal(*step("a\x1b]0;owned\x07b\x1b[2Jc\x07"), DONE)
    assert shown == "abc\\x07\n"


async def test_a_pipe_gets_the_answer_byte_for_byte():
    assert (await play(*step("a\x1b[1mb\x00"), DONE))[1] == "a\x1b[1mb\x00\n"


async def test_on_a_terminal_quiet_shows_the_answer_alone():
    shown = await on_terminal(
        *step("Let me look.", READ), *ran(READ, "42"), *step("42"), DONE, level=Level.QUIET
    )
    assert shown == "42\n"


async def held(*script, level=Level.NORMAL):
    """With an answer that has to be a number; what a terminal shows."""
    terminal = Terminal(level)
    code = await run_once(Feed(*script), SAY, terminal.printer, shape=Shape({"type": "integer"}))
    return code, terminal.rest()


async def test_on_a_terminal_an_answer_that_has_to_fit_a_schema_is_shown_when_it_does():
    code, shown = await held(*step("Let me| look.", READ), *ran(READ, "42"), *step("```\n|42|\n```"), DONE)
    assert (code, shown) == (0, "Let me look.\n  read_file notes.txt: ok (0.50 s)\n42\n")
    code, shown = await held(*step("for|ty-two"), DONE)
    assert code == 1
    assert "forty-two" not in shown
    assert shown.count("asked for once more") == 1
    assert shown.endswith("(exit 1)\n")
