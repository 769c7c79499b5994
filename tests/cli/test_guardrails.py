"""`agent-cli guardrails`: what stopped a recorded session, and how it goes on."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from agent_cli.guardrails.book import NAMES
from agent_cli.guardrails.checks.known import NAMES as CHECKS
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
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


def test_a_trip_that_cannot_be_read_locks_no_session(session, capfd, tmp_path):
    with closing(sqlite3.connect(tmp_path / "home" / "sessions.db")) as db:
        for trigger in [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        ]:
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute("UPDATE entry SET body = '{' WHERE kind = 'guardrail-trip'")
        db.execute("UPDATE entry SET body = replace(body, '0.0512', '0.01') WHERE kind = 'usage-reported'")
        db.commit()
    code, out, _ = asked(capfd, "guardrails", "show", session)
    assert code == 0
    assert "halted   no" in out
    (tmp_path / "script.jsonl").write_text('{"text": "On we go."}\n')
    code, out, err = asked(capfd, "-p", "go on", "-r", session, "--script", "script.jsonl")
    assert (code, out) == (0, "On we go.\n")
    assert "cannot be read, so a halt may be missing here: the session runs" in err
    code, out, _ = asked(capfd, "sessions", "show", session)
    assert "Entry 4 (guardrail-trip) cannot be read by this version" in out


def test_show_knows_from_its_trips_that_a_session_was_watched_strictly(session, capfd, tmp_path):
    assert "watchdog warn" in asked(capfd, "guardrails", "show", session)[1]
    store = open_store(tmp_path / "home" / "sessions.db")
    log = store.open(session)
    stopped = ev.GuardrailTrip("watchdog", "no-news", "critical", "session", "in circles", halted_turn=True)
    for seq, fact in enumerate((stopped, ev.GuardrailReset("watchdog")), len(FACTS) + 1):
        log.append(ev.Entry(session, seq, time.time(), 1, 0, fact))
    store.close()
    assert "watchdog enforce" in asked(capfd, "guardrails", "show", session)[1]
    assert "watchdog off" in asked(capfd, "--watchdog", "off", "guardrails", "show", session)[1]


def test_show_knows_what_the_last_turn_of_the_session_was_armed_with(session, capfd, tmp_path):
    """Also where that was said on its command line, or was the default of a run that nobody watches."""
    (tmp_path / "script.jsonl").write_text('{"text": "Hello."}\n')
    code, out, _ = asked(
        capfd, "-p", "hi", "--script", "script.jsonl", "--max-tool-calls", "7", "--output-format", "json"
    )
    assert code == 0
    armed = asked(capfd, "guardrails", "show", json.loads(out)["session"])[1]
    for bound in (
        "watchdog enforce",
        "1 of 200 a turn",
        "0 of 7 a turn",
        "14,400 s a turn",
        "of $10.0000 a session",
    ):
        assert bound in armed
    free = asked(capfd, "--max-session-cost-usd", "0", "guardrails", "show", json.loads(out)["session"])[1]
    assert "a session" not in free, "what is said now counts"


def test_a_session_database_in_the_project_hides_no_loop(session, capfd, tmp_path):
    """What the program writes for itself while a command runs is nothing that the command did."""
    (tmp_path / "a.txt").write_text("the same\n")
    looks = [
        {"calls": [{"name": "bash", "arguments": {"command": f"cat a.txt # look {number}"}}]}
        for number in range(20)
    ]
    (tmp_path / "script.jsonl").write_text("".join(f"{json.dumps(look)}\n" for look in looks))
    code, out, _ = asked(
        capfd, "-p", "hi", "--script", "script.jsonl", "--permission-mode", "yolo", "--output-format", "json"
    )
    assert (code, json.loads(out)["outcome"]) == (1, "no-progress")
    assert json.loads(out)["trips"][0]["signal"] == "no-news"


def test_one_guardrail_is_as_good_a_name(session, capfd):
    told = asked(capfd, "guardrails", "show", session)
    assert asked(capfd, "guardrail", "show", session) == told
    assert told[0] == 0


def test_worst_case_flags_children_that_may_spend_as_much_as_their_parent(session, capfd):
    code, out, err = asked(capfd, "--max-steps", "30", "guardrails", "worst-case")
    assert code == 0
    (steps,) = [line for line in out.splitlines() if line.startswith("steps")]
    assert steps.split() == ["steps", "30", "30", "equal", "requests"]
    assert "a child may use as many requests as its parent (30): give children smaller budgets" in err
    _, out, err = asked(capfd, "--max-steps", "31", "guardrails", "worst-case")
    assert "equal" not in out + err


def test_worst_case_prints_the_ceilings_of_children_beside_the_parents(session, capfd):
    code, out, _ = asked(capfd, "guardrails", "worst-case")
    assert code == 0
    assert "200" in out
    assert json.loads(asked(capfd, "guardrails", "worst-case", "--json")[1])["rows"]


def test_worst_case_prints_what_one_run_of_each_agent_can_take(session, capfd, tmp_path):
    (tmp_path / "agents.toml").write_text("[agents]\nenabled = true\n")
    with_agents = ("--config", str(tmp_path / "agents.toml"), "guardrails", "worst-case")
    assert "general" not in asked(capfd, "guardrails", "worst-case")[1]
    _, out, _ = asked(capfd, *with_agents)
    (row,) = [line.split() for line in out.splitlines() if line.startswith("general")]
    assert row == ["general", "30", "1,800", "unbounded", "unbounded", "1"]
    assert "Agents at once: 4." in out
    found = json.loads(asked(capfd, *with_agents, "--json")[1])
    assert {each["name"] for each in found["agents"]} >= {"general", "explore"}
    assert found["agents_at_once"] == 4


def test_worst_case_adds_budgets_of_children_that_come_on_top(session, capfd, tmp_path):
    (tmp_path / "four.toml").write_text(
        '[budgets]\nchildren = "additive"\nmax_tool_calls = 4\n[budgets.child]\nmax_cost_usd = 0.35\n'
        "[agent]\nmax_turn_cost_usd = 2\n"
    )
    config = str(tmp_path / "four.toml")
    _, out, _ = asked(capfd, "--config", config, "guardrails", "worst-case")
    assert (
        "At most in one turn: 320 requests, unbounded tokens, $3.40; in the session unbounded dollars." in out
    )


# ── eval ──

CORPUS = str(Path(__file__).parents[1] / "corpus")


def test_eval_prints_false_alarms_and_misses_of_each_signal_over_labelled_cases(session, capfd):
    code, out, err = asked(capfd, "guardrails", "eval", CORPUS, "--profile", "default")
    assert (code, err) == (0, "")
    assert out.startswith("51 honest sessions, 5 wasteful ones, 8 runaways.\n")
    rows = {
        tuple(line.split()[1:3]): line.split()[3:] for line in out.splitlines() if line.startswith("default ")
    }
    assert rows["no-news", "critical"] == ["0", "0", "8", "0"], (
        "false positives, wasteful, found, false negatives"
    )
    assert rows["repeated-tool-call", "critical"] == ["0", "0", "4", "4"]
    assert "Profile default stops 8 of 8 runaways." in out
    assert "Critical false positives" not in out


def test_eval_prints_both_what_the_default_and_what_the_first_seed_would_do(session, capfd):
    report = json.loads(asked(capfd, "guardrails", "eval", CORPUS, "--json")[1])
    assert (report["honest"], report["runaways"]) == (51, 8)
    assert [missed["profile"] for missed in report["missed"]] == ["default", "seed", "strict"]
    assert [len(missed["sessions"]) for missed in report["missed"]] == [0, 2, 0]
    assert {alarm["profile"] for alarm in report["alarms"] if alarm["severity"] == "critical"} == {"strict"}
    polls = json.loads(
        asked(capfd, "guardrails", "eval", CORPUS, "--polls", "--profile", "default", "--json")[1]
    )
    assert sum(row["false_positives"] for row in polls["rows"]) > sum(
        row["false_positives"] for row in report["rows"] if row["profile"] == "default"
    )


LOOP = tuple(
    fact
    for number in range(5)
    for fact in (
        ev.StepStarted("fake-1"),
        ev.ToolCallProposed(ToolCall(f"c{number}", "read_file", {"path": "a"})),
        ev.ToolReturned(f"c{number}", "read_file", ev.Output((Text("same"),)), executed=True),
    )
)


def test_eval_replays_recorded_sessions_and_names_the_call(session, capfd, tmp_path):
    store = open_store(tmp_path / "home" / "sessions.db")
    log = store.create("s-loop", "/p")
    for seq, fact in enumerate((*FACTS[:2], *LOOP), 1):
        log.append(ev.Entry("s-loop", seq, time.time(), 1, 0, fact))
    store.close()
    for corpus in ([], [str(tmp_path / "home" / "sessions.db")]):
        code, out, _ = asked(capfd, "guardrails", "eval", *corpus, "--profile", "default")
        assert code == 0
        assert out.startswith("2 honest sessions, 0 wasteful ones, 0 runaways.\n")
        assert "  s-loop  default  repeated-tool-call  call 5: read_file was called 5 times in a row" in out


def test_eval_of_nothing_says_so(session, capfd, tmp_path):
    code, out, _ = asked(capfd, "--session-db", str(tmp_path / "none.db"), "guardrails", "eval")
    assert (code, out.splitlines()[0]) == (0, "0 honest sessions, 0 wasteful ones, 0 runaways.")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("none",), "There is nothing at none: name a file or a directory of cases, or a session database."),
        ((".",), "holds no cases: files that end with .jsonl or .jsonl.gz."),
        (
            (CORPUS, "--profile", "sead"),
            "There is no profile 'sead'; the profiles are default, seed, strict.",
        ),
        (("bad.jsonl",), "bad.jsonl, line 2: this is no case: "),
        (("labelled",), "labels.json: these are no labels: "),
    ],
)
def test_eval_says_what_is_wrong_with_a_corpus(session, capfd, tmp_path, argv, told):
    if argv[0] == "bad.jsonl":
        (tmp_path / "bad.jsonl").write_text('{"id": "x"}\n{"steps": 1}\n')
    (tmp_path / "labelled").mkdir()
    (tmp_path / "labelled" / "cases.jsonl").write_text('{"id": "x"}\n')
    (tmp_path / "labelled" / "labels.json").write_text('{"x": {"label": "hm"}}')
    code, out, err = asked(capfd, "guardrails", "eval", *argv)
    assert (code, out) == (2, "")
    assert told in err


def test_eval_feeds_each_signal_what_it_must_catch_as_it_is_tuned_here(session, capfd, tmp_path):
    code, out, err = asked(capfd, "guardrails", "eval", "--known-positive")
    assert (code, err) == (0, "")
    verdicts = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:]}
    assert verdicts == dict.fromkeys((*NAMES, "secrets", *CHECKS), "caught") | {
        "rate": "off",
        "volume": "off",
    }
    assert (
        "no-news                 off"
        in asked(capfd, "guardrails", "eval", "--known-positive", "--profile", "seed")[1]
    )
    (tmp_path / "c.toml").write_text(
        "[watchdog.signals.stuck-interaction]\nthreshold = 30\n[watchdog.signals.no-news]\nenabled = false\n"
        "[watchdog.signals.repeated-tool-call]\nseverity = 'warn'\n"
    )
    code, out, _ = asked(capfd, "--config", "c.toml", "guardrails", "eval", "--known-positive", "--json")
    found = {one.get("signal") or one["check"]: one for one in json.loads(out)}
    assert code == 1
    assert found["stuck-interaction"]["verdict"] == "missed", "thirty copies do not fit into ten steps"
    assert (found["no-news"]["verdict"], found["repeated-tool-call"]["severity"]) == ("off", "warn")
    assert asked(capfd, "guardrails", "eval", CORPUS, "--known-positive")[0] == 2


def test_eval_counts_what_checks_miss_and_find_in_labelled_texts(session, capfd, tmp_path):
    (tmp_path / ".agents").mkdir(exist_ok=True)
    rule = "[[rule]]\nname = 'mine'\nsurface = 'action'\nmatch = 'prod'\nseverity = 'halt'\n"
    (tmp_path / ".agents" / "guardrails.toml").write_text(rule)
    (tmp_path / "set.tsv").write_text(
        "secrets\tinput:bash\tGITHUB_TOKEN=«ghp_:36»\nsecrets\tinput\tthe password is sunshine\n"
        "honest\tinput:bash\tdeadbeef\nrule:mine\taction:bash\techo prod\nhonest\taction:bash\tls product\n"
    )
    code, out, err = asked(capfd, "guardrails", "eval", "set.tsv")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:3]}
    assert rows == {"secrets": ["2", "1", "1", "0"], "rule:mine": ["1", "0", "1", "1"]}
    assert "secrets missed: the password is sunshine" in out
    assert "rule:mine found all the same: ls product" in out
    (tmp_path / "bad.tsv").write_text("honest\tnowhere\tx\n")
    assert "bad.tsv, line 1: it takes a label" in asked(capfd, "guardrails", "eval", "bad.tsv")[2]


def test_eval_feeds_each_check_what_it_must_catch_as_it_is_set_here(session, capfd, tmp_path):
    (tmp_path / "c.toml").write_text(
        "[guardrails]\nuntrusted_text = 'off'\n[guardrails.actions]\nmax_per_turn = {bash = 2}\n"
        "max_deleted_bytes = 100\nunread = 'block'\n"
    )
    (tmp_path / ".agents").mkdir(exist_ok=True)
    rule = "[[rule]]\nname = 'mine'\nsurface = 'action'\nmatch = 'x'\nseverity = 'halt'\n"
    (tmp_path / ".agents" / "guardrails.toml").write_text(rule)
    code, out, _ = asked(capfd, "--config", "c.toml", "guardrails", "eval", "--known-positive", "--json")
    found = {one["check"]: one for one in json.loads(out) if "check" in one}
    assert code == 0
    assert found["untrusted-text"]["verdict"] == "off"
    assert found["rule:mine"]["verdict"] == "untried"
    assert found["unread"]["severity"] == "block"
    assert found["rate"]["reason"] == "bash may be called 2 times in a turn, and this is call 3"
    assert found["volume"]["reason"] == "101 bytes would be deleted in this turn, and at most 100 may be"


def test_report_says_what_stopped_how_fast_and_what_became_of_it(session, capfd):
    code, out, _ = asked(capfd, "guardrails", "report")
    assert code == 0
    assert "1 turns in 1 sessions, 1 of them stopped." in out
    assert "What became of them: 1 abandoned." in out
    told = json.loads(asked(capfd, "guardrails", "report", "--since", "1h", "--json")[1])
    assert told["overshoots"][0]["excess"] == pytest.approx(0.0012)
    assert asked(capfd, "guardrails", "report", "--since", "soon")[0] == 2
