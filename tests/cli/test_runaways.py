"""Runaway models under the bare defaults of an unattended run: each is stopped, says why, and stays stopped."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent_cli.cli.entry import run
from tests.fakes.http_server import FakeService, Say


def read(path: str, **more: object) -> dict[str, object]:
    return {"name": "read_file", "arguments": {"path": path, **more}}


def grep(words: str) -> dict[str, object]:
    return {"name": "grep", "arguments": {"pattern": words}}


def done(words: str) -> dict[str, object]:
    return {"name": "mark_task_done", "arguments": {"detail": words}}


def steps(*batches: object) -> list[dict[str, object]]:
    """One reply for each: a call, or a list of calls."""
    return [{"calls": batch if isinstance(batch, list) else [batch]} for batch in batches]


DOMINANT = [read("a"), read("a"), read("a"), read("b"), read("a"), read("a"), read("c"), read("a"), read("a"), read("a")]  # fmt: skip
SESSION, TURN = "session", "turn"
RUNAWAYS = {
    # replies, signal, scope, outcome, calls that were proposed, calls that ran
    "reads one file": (steps(*[read("a")] * 9), "repeated-tool-call", SESSION, "loop-detected", 5, 4),
    "goes to and fro": (steps(*[read("a"), read("b")] * 9), "alternating-tool-cycle", SESSION, "loop-detected", 6, 5),
    "hides it between others": (steps(*DOMINANT * 2), "dominant-tool-call", SESSION, "loop-detected", 10, 9),
    "words it anew": (steps(*[grep(f"none of {n}") for n in range(20)]), "null-result-streak", TURN, "no-progress", 12, 12),
    "asks forty at once": (steps(*[[grep(f"{n} and {m}") for m in range(40)] for n in range(9)]), "null-result-streak", TURN, "no-progress", 80, 44),
    "is done again and again": (steps(*[done(f"in words {n}") for n in range(9)]), "no-op-streak", TURN, "loop-detected", 4, 4),
    "drifts over what it knows": (steps(*[read("abcdefg"[n % 7]) for n in range(30)]), "no-news", TURN, "no-progress", 17, 17),
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "abcdefg":
        (tmp_path / name).write_text(f"this is {name}\n")
    return tmp_path


@pytest.fixture
def play(project, capfd):
    """Runs a script; returns exit code, the result and stderr."""

    def played(replies, *argv):
        script = project.parent / f"{project.name}.jsonl"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return told(capfd, "go", "--script", str(script), *argv)

    return played


def told(capfd, *argv):
    code = run(["-p", *argv, "--output-format", "json"])
    said = capfd.readouterr()
    result = json.loads(said.out)
    assert result["exit_code"] == code
    assert (result["error"] is None) == (code == 0)
    return code, result, said.err


def reset(capfd, session: str, *words: str) -> tuple[int, str]:
    code = run(["guardrails", "reset", session, *words])
    return code, capfd.readouterr().err


@pytest.mark.parametrize("kind", RUNAWAYS)
def test_it_is_stopped_says_why_and_goes_on_only_as_far_as_it_may(kind, play, capfd):
    replies, signal_, scope, outcome, calls, ran = RUNAWAYS[kind]
    code, result, err = play(replies)
    (trip,) = result["trips"]
    assert (code, result["outcome"], result["tool_calls"]) == (1, outcome, calls)
    assert (trip["guardrail"], trip["signal"], trip["scope"]) == ("watchdog", signal_, scope)
    assert result["error"] == {"kind": "canceled", "message": trip["reason"]}
    (line,) = [line for line in err.splitlines() if "guardrail cut the turn in flight" in line]
    assert line.startswith(
        f"agent: [session {result['session']}] watchdog guardrail cut the turn in flight — "
    )
    for told_too in (trip["reason"], "not a provider failure", "ends here with exit 1"):
        assert told_too in line
    assert sum(": ok (" in line or ": failed (0" in line for line in err.splitlines()) == ran
    code, result, err = play(
        [{"text": "Fine."}] * 2, "-r", result["session"]
    )  # one may be asked for a record
    if scope == TURN:
        assert (code, result["answer"]) == (0, "Fine.")
        return
    assert (code, result["outcome"], result["steps"], result["error"]["kind"]) == (3, "halted", 0, "refused")
    assert trip["reason"] in result["error"]["message"]
    assert reset(capfd, result["session"])[0] == 0
    code, result, _ = play([{"text": "Fine."}], "-r", result["session"])
    assert (code, result["answer"]) == (0, "Fine.")


def test_what_always_brings_something_new_ends_at_two_hundred_steps(play, project):
    (project / "long").write_text("".join(f"line {n}\n" for n in range(300)))
    looks = steps(*[read("long", offset=n + 1, limit=1) for n in range(200)])
    code, result, err = play([*looks, {"text": "This is all."}])
    assert (code, result["answer"], result["outcome"], result["exhausted"]) == (
        0, "This is all.", "budget-exhausted", "steps",
    )  # fmt: skip
    assert (result["steps"], result["tool_calls"]) == (201, 200)
    assert [trip["reason"] for trip in result["trips"]] == ["step ceiling reached (200/200)"]
    assert "step_ceiling guardrail tripped — step ceiling reached (200/200)." in err


def test_a_process_that_is_killed_at_its_trip_stays_stopped(project, play):
    script = project / "loop.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in steps(*[read("a")] * 9)))
    argv = ["-p", "go", "--script", str(script), "--output-format", "stream-json"]
    running = subprocess.Popen(
        [sys.executable, "-m", "agent_cli", *argv],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdout is not None
    trip = next(line for line in running.stdout if b'"guardrail-trip"' in line)
    running.kill()
    running.communicate(timeout=30)
    assert running.returncode == -signal.SIGKILL
    code, result, _ = play([{"text": "Fine."}], "-r", json.loads(trip)["session"])
    assert (code, result["outcome"]) == (3, "halted")


# ── money ──

MODEL = "claude-opus-5"
DEAR = {"input_tokens": 3_000, "output_tokens": 30_000}
"""$0.77 at the price of this model; fewer input tokens than the prompt can have would count as not told in full."""


def looks() -> list[Say]:
    """Each time at something else."""
    return [
        Say(calls=(("read_file", json.dumps({"path": "a", "offset": n + 1})),), usage=DEAR) for n in range(60)
    ]


@contextmanager
def served(monkeypatch, *replies: Say) -> Iterator[FakeService]:
    """A strict service beside this thread; it must have refused nothing."""
    service = FakeService(list(replies))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(10)

    wait(service.__aenter__())
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-a")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
    try:
        yield service
    finally:
        wait(service.__aexit__())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
    assert service.violations == []


def test_ten_dollars_are_the_end_of_a_session_until_more_is_granted(project, monkeypatch, capfd):
    with served(monkeypatch, *looks()) as service:
        code, result, err = told(capfd, "go", "--model", MODEL, "--watchdog", "off")
        (trip,) = result["trips"]
        each = result["cost_usd"] / result["steps"]
        assert (code, result["outcome"], result["exhausted"]) == (1, "guardrail-stop", "cost")
        assert (trip["guardrail"], trip["signal"], trip["scope"]) == ("cost_ceiling", "cost", "session")
        assert 10 <= result["cost_usd"] < 10 + each + 0.01, "no call is sent and no tool runs past it"
        assert len(service.requests) == result["steps"] == result["tool_calls"] + 1
        assert result["error"]["message"] == trip["reason"]
        assert "cost_ceiling guardrail cut the turn in flight" in err
        session, spent = result["session"], result["cost_usd"]
        asked = len(service.requests)
        code, result, _ = told(capfd, "go", "--model", MODEL, "-r", session)
        assert (code, result["outcome"], len(service.requests)) == (3, "halted", asked)
        least = math.floor((spent - 10) * 100 + 1) / 100
        code, err = reset(capfd, session)
        assert code == 1
        assert f"Add at least ${least:.2f}" in err
        assert reset(capfd, session, f"+{least - 0.01:.2f}")[0] == 1
        assert reset(capfd, session, f"+{least:.2f}")[0] == 0
        code, result, _ = told(capfd, "go", "--model", MODEL, "-r", session)
        assert (code, result["steps"]) == (1, 1), "the granted cents are spent with one more step"


def test_an_answer_that_meets_the_ceiling_is_delivered_and_the_session_halts(project, monkeypatch, capfd):
    whole = Say("This is the whole answer.", usage=DEAR)
    with served(monkeypatch, whole) as service:
        ceiling = ("--model", MODEL, "--max-session-cost-usd", "0.5")
        code, result, err = told(capfd, "go", *ceiling)
        assert (code, result["answer"], result["outcome"]) == (0, "This is the whole answer.", "completed")
        assert [(trip["signal"], trip["scope"]) for trip in result["trips"]] == [("cost", "session")]
        assert "cost_ceiling guardrail tripped — session cost ceiling exceeded" in err
        assert "cut the turn" not in err
        session = result["session"]
        code, result, _ = told(capfd, "is this queued?", *ceiling, "-r", session)
        assert (code, result["outcome"], len(service.requests)) == (3, "halted", 1)
        assert reset(capfd, session, "+5")[0] == 0
        assert told(capfd, "and now?", *ceiling, "-r", session)[0] == 0
        (asked,) = service.requests[1:]
        assert "and now?" in asked.raw.decode()
        assert "is this queued?" not in asked.raw.decode(), "a prompt of a one-shot run is refused, not kept"


def test_three_dear_turns_in_a_row_halt_the_session_and_a_bare_reset_is_enough(project, monkeypatch, capfd):
    ceiling = ("--model", MODEL, "--max-turn-cost-usd", "0.5")
    with served(monkeypatch, *looks()):
        session: tuple[str, ...] = ()
        scopes: list[str] = []
        for _ in range(3):
            code, result, err = told(capfd, "go", *ceiling, *session)
            session = ("-r", result["session"])
            scopes += [trip["scope"] for trip in result["trips"]]
            assert (code, result["tool_calls"]) == (1, 0)
        assert scopes == ["turn", "turn", "session"]
        assert result["error"]["message"].startswith(
            "3 turns in a row were stopped by the per-turn cost ceiling"
        )
        assert result["error"]["message"] in err
        assert told(capfd, "go", *ceiling, *session)[0] == 3
        assert reset(capfd, session[1])[0] == 0
        code, result, _ = told(capfd, "go", *ceiling, *session)
        assert (code, result["trips"][0]["scope"]) == (1, "turn"), "the count began again"


@pytest.mark.parametrize("ceiling", [0.5, 2.0, 4.0])
def test_hard_budgets_pass_no_ceiling(ceiling, project, monkeypatch, capfd):
    """Answers that take all that they may: what is reserved for one call is what it costs at most."""
    (project / "hard.toml").write_text("[budgets]\nreserve = true\n")
    argv = ("--config", "hard.toml", "--model", MODEL, "--max-output-tokens", "30000")
    with served(monkeypatch, *looks()) as service:
        code, result, _ = told(capfd, "go", *argv, "--max-session-cost-usd", str(ceiling))
        assert (code, result["outcome"], result["exhausted"]) == (1, "guardrail-stop", "cost")
        assert [trip["signal"] for trip in result["trips"]] == ["session-reserve"]
        assert 0 <= ceiling - result["cost_usd"] < 1.5, "no cent too many, and not much less"
        assert len(service.requests) == int(result["cost_usd"] / 0.7)


def test_a_model_without_a_price_is_announced_and_refused_where_budgets_are_hard(project, monkeypatch, capfd):
    (project / "hard.toml").write_text("[budgets]\nreserve = true\n")
    argv = ("--model", "claude-nobody-9", "--provider", "anthropic")
    with served(monkeypatch, Say("Hello.")) as service:
        code, result, err = told(capfd, "go", *argv)
        assert (code, result["cost_usd"]) == (0, None)
        assert "claude-nobody-9 has no price, so the cost ceiling cannot stop it" in err
        assert "has no price" not in told(capfd, "go", *argv, "--max-session-cost-usd", "0")[2]
        code, result, _ = told(capfd, "go", *argv, "--config", "hard.toml")
        assert (code, result["error"]["kind"]) == (2, "config")
        assert "hard budgets refuse it" in result["error"]["message"]
        assert len(service.requests) == 2
