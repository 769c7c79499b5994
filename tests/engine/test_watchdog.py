"""What the watchdog tells whom, and when: the operator, the model inside its turn, the model at its next one."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.guardrails.book import signals
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Reset
from agent_cli.kernel.messages import Prompt, Text
from agent_cli.kernel.watching import WatchdogMode
from agent_cli.ports import Alert, Came
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import ask_writes, open_session, run, say
from tests.fakes.tools import FakeTool

OBSERVED = "[watchdog]\nAutomated observation about your own previous turn. It is not from the user, and the user does not see it."
INSIDE = "[watchdog]\nAutomated observation about what you are doing in this turn."


def texts(prompt: Prompt) -> list[str]:
    return [part.text for message in prompt.messages for part in message.parts if isinstance(part, Text)]


def notes(prompt: Prompt) -> list[str]:
    return [text for text in texts(prompt) if text.startswith("[watchdog]")]


def findings(log: ListLog) -> list[tuple[str, str]]:
    return [(event.check, event.severity) for event in log.events if isinstance(event, ev.GuardrailFinding)]


def trips(log: ListLog) -> list[ev.GuardrailTrip]:
    return [event for event in log.events if isinstance(event, ev.GuardrailTrip)]


class Loud:
    """A program's own signal: every result is something to tell, in words that name the call."""

    def __init__(self, name: str = "loud", guidance: str = "") -> None:
        self.name = name
        self._guidance = guidance

    def returned(self, result: Came, /) -> Alert | None:
        path = result.call.paths[0]
        guidance = f"{self._guidance} {path}" if self._guidance else ""
        return Alert(f"{self.name}-{path}", "warn", "turn", f"the operator reads of {path}", guidance)

    def forget(self) -> None:
        """There is nothing."""


def watched(provider: Playing, mode: WatchdogMode, *tools: FakeTool, **changes: Any):
    return open_session(
        provider, *(tools or (FakeTool("read"),)), watchdog=mode, **{"signals": signals(), **changes}
    )


# ── inside the turn ──


def stuck(times: int) -> list[ev.Finished]:
    """The same call in every step, beside two that are new: no run, no cycle, and a third of all calls."""
    return [
        wants(("read", {"path": "a"}), ("read", {"path": f"o{n}"}), ("read", {"path": f"p{n}"}))
        for n in range(times)
    ]


@pytest.mark.parametrize(("mode", "told"), [("warn", 0), ("feedback", 1), ("enforce", 1)])
async def test_stuck_is_told_at_once_behind_the_results_of_the_sixth_step(mode: WatchdogMode, told: int):
    log, provider = ListLog(), Playing(*stuck(6), says("I see"))
    session = watched(provider, mode, log=log)
    await run(session, say("go"))
    assert findings(log) == [("stuck-interaction", "warn")]
    assert [len(notes(prompt)) for prompt in provider.asked] == [0] * 6 + [told]
    if told:
        (note,) = notes(provider.asked[-1])
        assert note.startswith(INSIDE)
        assert "- stuck-interaction: You called read 6 times" in note
    assert trips(log) == []
    await session.close()


async def test_the_second_strike_of_stuck_stops_the_turn_at_the_ninth_copy():
    log, tool = ListLog(), FakeTool("read")
    session = watched(Playing(*stuck(12)), "enforce", tool, log=log)
    await run(session, say("go"))
    (trip,) = trips(log)
    assert (trip.signal, trip.scope, trip.halted_turn) == ("stuck-interaction", "turn", True)
    assert tool.ran.count("a") == 9
    assert findings(log) == [("stuck-interaction", "warn"), ("stuck-interaction", "critical")]
    assert session.halted == ""
    await session.close()


async def test_what_was_told_inside_the_turn_is_not_told_again_at_the_next():
    provider = Playing(*stuck(6), says("I see"), says("next"))
    session = watched(provider, "feedback")
    await run(session, say("go"))
    await run(session, say("and?"))
    assert len(notes(provider.asked[-1])) == 1
    await session.close()


# ── at the next turn ──


async def test_the_block_has_one_bullet_an_alert_with_the_guidance_or_else_the_reason():
    provider = Playing(wants(("read", {"path": "a"})), says("ok"), says("next"), says("third"))
    own = (Loud("plain"), Loud("guided", "look away from"))
    session = watched(provider, "feedback", signals=own)
    await run(session, say("go"))
    assert notes(provider.asked[1]) == [], "not inside the turn"
    await run(session, say("and?"))
    (note,) = notes(provider.asked[-1])
    opening, *bullets, closing, end = note.removeprefix(OBSERVED + "\n").split("\n")
    assert note.startswith(OBSERVED)
    assert [opening, *bullets] == ["- plain-a: the operator reads of a", "- guided-a: look away from a"]
    assert closing.startswith("Adjust what you do in this turn")
    assert end == "[/watchdog]"
    said = texts(provider.asked[-1])
    assert said.index("and?") < said.index(note), "it comes with the operator's message"
    await run(session, say("and then?"))
    assert len(notes(provider.asked[-1])) == 1, "once"
    await session.close()


async def test_four_wait_at_most_and_the_oldest_are_dropped():
    reads = wants(*[("read", {"path": name}) for name in "abcdef"])
    provider = Playing(reads, says("ok"), says("next"))
    session = watched(provider, "feedback", signals=(Loud(),))
    await run(session, say("go"))
    await run(session, say("and?"))
    (note,) = notes(provider.asked[-1])
    assert [line[2:8] for line in note.split("\n") if line.startswith("- ")] == ["loud-c", "loud-d", "loud-e", "loud-f"]  # fmt: skip
    await session.close()


@pytest.mark.parametrize("mode", ["off", "warn"])
async def test_nothing_waits_for_the_model_below_feedback(mode: WatchdogMode):
    log, provider = ListLog(), Playing(wants(("read", {"path": "a"})), says("ok"), says("next"))
    session = watched(provider, mode, log=log, signals=(Loud(),))
    await run(session, say("go"))
    await run(session, say("and?"))
    assert [note for prompt in provider.asked for note in notes(prompt)] == []
    assert bool(findings(log)) == (mode == "warn")
    await session.close()


async def test_a_note_of_silence_is_taken_back_if_the_model_speaks_first():
    silent = [wants(("read", {"path": f"{n}"})) for n in range(60)]
    provider = Playing(*silent, says("next"), says("third"))
    session = watched(provider, "feedback")
    await run(session, say("go"))
    await run(session, say("and?"))
    assert [note for prompt in provider.asked for note in notes(prompt)] == []
    await session.close()


LOOP = [wants(("read", {"path": "a"})) for _ in range(5)]


async def test_a_reset_clears_the_halt_and_keeps_what_the_model_has_to_know():
    provider = Playing(*LOOP, says("ok"))
    session = watched(provider, "enforce")
    await run(session, say("go"))
    assert session.halted
    session.send(Reset("watchdog"))
    await run(session, say("on"))
    (note,) = notes(provider.asked[-1])
    assert "- repeated-tool-call: You called read 5 times in a row" in note
    await session.close()


async def test_a_halt_that_the_log_restored_is_told_to_the_model_too():
    log = ListLog()
    session = watched(Playing(*LOOP), "enforce", log=log)
    await run(session, say("go"))
    once_more = Playing(says("ok"))
    reopened = watched(once_more, "enforce", log=ListLog(entries=list(log.read())))
    assert reopened.halted
    reopened.send(Reset("watchdog"))
    await run(reopened, say("on"))
    (note,) = notes(once_more.asked[-1])
    assert "- repeated-tool-call: read was called 5 times in a row" in note
    for one in (session, reopened):
        await one.close()


FAILING = [wants(("no such tool", {"path": f"{number}"})) for number in range(12)]


async def reopened_after(turns: list[ev.Finished], was: WatchdogMode, *after: ev.Recorded) -> Playing:
    """What is asked in a session whose process ended behind these turns, twice; `after` was recorded from outside."""
    log = ListLog()
    session = watched(Playing(*turns), was, log=log, guards=f"1 default {was}")
    await run(session, say("go"))
    await session.close()
    entries = list(log.read())
    for event in after:
        entries.append(ev.Entry("S", entries[-1].seq + 1, 0.0, 1, 0, event))
    provider = Playing(says("ok"), says("ok"))
    reopened = watched(provider, "enforce", log=ListLog(entries=entries), guards="1 default enforce")
    await run(reopened, say("on"))
    await run(reopened, say("and on"))
    await reopened.close()
    return provider


@pytest.mark.parametrize(
    ("turns", "after"),
    [(LOOP, (ev.GuardrailReset("watchdog"),)), (FAILING, ())],
    ids=["halted, and reset by another process", "cut, and not halted"],
)
async def test_what_the_model_was_not_told_in_its_process_it_is_told_in_the_next(
    turns: list[ev.Finished], after: tuple[ev.Recorded, ...]
):
    provider = await reopened_after(turns, "enforce", *after)
    first, second = provider.asked
    (note,) = notes(first)
    assert note.startswith(OBSERVED)
    assert "- repeated-tool-call: You called read 5" in note or "- null-result-streak: Your last 12" in note
    assert notes(second) == [note], "it is told once"


async def test_what_was_seen_where_nothing_is_told_to_the_model_does_not_wait_for_a_process_that_tells():
    provider = await reopened_after([*LOOP, says("done")], "warn")
    assert notes(provider.asked[0]) == []


async def test_a_reset_clears_what_was_counted_and_a_turn_without_a_cut_clears_the_cuts():
    log = ListLog()
    short = [wants(("read", {"path": "a"})) for _ in range(4)]
    provider = Playing(*LOOP, *short, says("ok"))
    session = watched(provider, "enforce", log=log)
    await run(session, say("go"))
    session.send(Reset("watchdog"))
    await run(session, say("on"))
    assert len(trips(log)) == 1, "four more calls are no run of five"
    assert session.state.halts.cuts == 0
    await session.close()


# ── refusals ──


async def test_a_storm_of_refusals_takes_its_calls_off_the_counts_and_halts_nothing():
    """Without that the next equal call of the same turn would be the fourth in a row, and the one after it a halt."""
    log = ListLog()
    calls = [wants(("write", {"path": "a"})) for _ in range(3)]
    session = watched(
        Playing(*calls), "enforce", FakeTool("write", read_only=False), log=log, judge=ask_writes
    )
    session.send(say("go"))
    async for event in session.events():
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
            session.send(Answer(event.event.call_id, allowed=False))
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.TERMINAL):
            break
    await session.idle()
    assert (trips(log), session.halted) == ([], "")
    assert findings(log) == [("refusal_storm", "halt")]
    await session.close()
