"""`agent-cli guardrails`: what stopped a recorded session, and how it goes on."""

from __future__ import annotations

import json
import time

import pytest

from agent_cli.cli.entry import run
from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import Usage
from agent_cli.store.sqlite import open_store

STARTED = ev.SessionStarted("/p", "0.1.0", "linux", "2026-11-30", "fake", "fake-1", "ask")
FACTS: tuple[ev.Recorded, ...] = (
    STARTED,
    ev.TurnStarted("fake-1"),
    ev.UsageReported("fake-1", Usage(input=10), 0.0512),
    ev.GuardrailTrip(
        "cost_ceiling", "cost", "halt", "session", "too dear", halted_turn=True, used=0.0512, limit=0.05
    ),
    ev.TurnError("canceled", "guardrail-stop", 1, "too dear", "cost"),
)


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A session that its ceiling of $0.05 halted, which stood on its command line only."""
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    store = open_store(tmp_path / "home" / "sessions.db")
    log = store.create("s-halted", "/p")
    for seq, fact in enumerate(FACTS, 1):
        log.append(ev.Entry("s-halted", seq, time.time(), 1, 0, fact))
    store.close()
    return "s-halted"


def asked(capfd, *argv: str) -> tuple[int, str, str]:
    code = run(list(argv))
    return (code, *capfd.readouterr())


def test_show_says_what_is_armed_what_tripped_and_how_much_to_add(session, capfd):
    code, out, _ = asked(capfd, "guardrails", "show", session)
    assert code == 0
    assert "cost_ceiling: $0.0512 of $0.0500 a session" in out
    assert "agent-cli guardrails reset s-halted cost_ceiling +0.01" in out


def test_a_bare_reset_that_would_trip_again_is_refused(session, capfd):
    code, out, err = asked(capfd, "guardrails", "reset", session)
    assert (code, out) == (1, "")
    assert "at least $0.01" in err


def test_a_reset_with_enough_is_recorded(session, capfd):
    code, out, _ = asked(capfd, "guardrail", "reset", session, "cost_ceiling", "+0.5", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["halts"], told["added_usd"]) == ([], 0.5)
    again = json.loads(asked(capfd, "guardrails", "show", session, "--json")[1])
    assert again["added_usd"] == 0.5


def test_live_config_wins(session, capfd):
    _, out, _ = asked(capfd, "--max-session-cost-usd", "0", "guardrails", "show", session)
    assert "halted        no" in out


@pytest.mark.parametrize("words", [["five"], ["+1", "+2"], ["all", "watchdog"], ["-5"]])
def test_what_is_no_reset_is_a_usage_error(session, capfd, words):
    assert asked(capfd, "guardrails", "reset", session, *words)[0] == 2


def test_worst_case_prints_the_ceilings_of_children_beside_the_parents(session, capfd):
    code, out, _ = asked(capfd, "guardrails", "worst-case")
    assert code == 0
    assert "200" in out
    assert json.loads(asked(capfd, "guardrails", "worst-case", "--json")[1])["rows"]
