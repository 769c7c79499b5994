"""`agent-cli pool` and `--pool`."""

from __future__ import annotations

import json

import pytest

from agent_cli.cli.entry import run


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capfd, *argv: str) -> tuple[int, str, str]:
    code = run(list(argv))
    return (code, *capfd.readouterr())


def test_a_pool_is_made_changed_and_shown(home, capfd):
    assert asked(capfd, "pool", "show")[1] == "There is no pool.\n"
    assert asked(capfd, "pool", "set", "team", "--runs", "24", "--usd", "18")[0] == 0
    out = asked(capfd, "pool", "set", "team", "--calls-per-minute", "600", "--runs", "0")[1]
    assert out == "team: $18.00 reserved, 600 tool calls a minute\n"
    (shown,) = json.loads(asked(capfd, "pool", "show", "team", "--json")[1])
    assert shown["limits"] == {"runs": None, "usd": 18.0, "calls_per_minute": 600.0}
    assert asked(capfd, "pool", "show", "nobody")[0] == 2


def test_a_run_in_a_pool_leaves_its_postings(home, capfd):
    asked(capfd, "pool", "set", "team", "--runs", "1")
    code, _, _ = asked(capfd, "-p", "hi", "--provider", "echo", "--pool", "team")
    assert code == 0
    postings = json.loads(asked(capfd, "pool", "show", "team", "--ledger", "--json")[1])
    assert [posting["kind"] for posting in postings] == ["reserved", "released"]
    assert "reserved" in asked(capfd, "pool", "show", "team", "--ledger")[1]
    assert "1 runs ended" in asked(capfd, "pool", "show")[1]


def test_a_pool_that_nobody_made_is_a_mistake_of_the_operator(home, capfd):
    code, _, err = asked(capfd, "-p", "hi", "--provider", "echo", "--pool", "team")
    assert code == 2
    assert "agent-cli pool set team" in err


def test_what_does_not_fit_ends_with_75_and_no_model_was_asked(home, capfd):
    asked(capfd, "pool", "set", "team", "--usd", "0.5")
    words = [
        "-p",
        "hi",
        "--provider",
        "echo",
        "--pool",
        "team",
        "--max-turn-cost-usd",
        "2",
        "--output-format",
        "json",
    ]
    (home / "c.json").write_text(json.dumps({"admission": {"when_full": "reject"}}), "utf-8")
    code, out, err = asked(capfd, *words, "--config", str(home / "c.json"))
    result = json.loads(out)
    (line,) = [line for line in err.splitlines() if "admission guardrail" in line]
    assert "refused the turn — pool team has no room" in line
    assert line.endswith("A one-shot (-p) run ends here with exit 75.")
    assert "cut the turn in flight" not in err
    assert (code, result["exit_code"], result["steps"], result["outcome"]) == (75, 75, 0, "guardrail-stop")
    assert "this run needs $2.00, $1.50 too much" in result["error"]["message"]
    assert result["trips"][0]["guardrail"] == "admission"
