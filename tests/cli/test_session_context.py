"""`agent-cli sessions context` says of a recorded session what /context says of one that runs."""

from __future__ import annotations

import json
import os

import msgspec
import pytest

from agent_cli.config import places
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.store.sqlite import open_store
from tests.store.made import entry, started

BRANCH = "s-1:sub:read-1"
CALL = ToolCall("c1", "read_file", {"path": "a"}, '{"path": "a"}')
SPENT = Usage(input=90_000, cache_read=9_000, output=1_000)
EVENTS: list[tuple[ev.Recorded, str]] = [
    (ev.TurnStarted("claude-sonnet-4-5"), ""),
    (ev.OperatorMessage((Text("mend it"),)), ""),
    (ev.AssistantMessage((CALL,), "anthropic", "claude-sonnet-4-5"), ""),
    (ev.UsageReported("claude-sonnet-4-5", SPENT, 0.5, saved=0.25), ""),
    (ev.ToolReturned("c1", "read_file", ev.Output((Text("x" * 30_000),))), ""),
    (ev.SubtaskStarted("read", "claude-haiku-4-5", "what is in it?", BRANCH), ""),
    (ev.UsageReported("claude-haiku-4-5", Usage(input=2_000, output=50), 0.75), BRANCH),
    (ev.SubtaskCompleted("read", "completed", "words", Usage(), 0.75, "claude-haiku-4-5", BRANCH), ""),
    (ev.CompactionPerformed("prune", 110_000, 100_000, ("c1",), focus=""), ""),
    (ev.CompactionPerformed("summary", 100_000, 40_000, summary="s" * 400, keeps_from=3, focus="the lexer"), ""),
    (ev.CheckpointPerformed("r" * 100, 4, "the parser", tokens_before=40_000, tokens_after=9_000), ""),
]  # fmt: skip


@pytest.fixture
def recorded(ask):
    """A session with reductions and a subtask."""
    store = open_store(places.database(os.environ))
    log = store.create("s-1", "/home/me")
    first = msgspec.structs.replace(started(), provider="anthropic", model="claude-sonnet-4-5")
    for seq, (event, branch) in enumerate([(first, ""), *EVENTS], 1):
        log.append(msgspec.structs.replace(entry(seq, event, turn=1), branch=branch))
    store.close()
    return ask


def test_it_shows_the_window_the_threshold_each_boundary_and_who_was_paid(recorded):
    code, out, err = recorded("sessions", "context", "s-1")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == (
        "s-1: ~9,000 tokens in the next prompt, ~4.5% of the 200,000 of claude-sonnet-4-5; reduced at 130,000"
    )
    rows = {line.split("  ")[0]: line for line in lines[1:]}
    assert "65.0%" in rows["threshold"]
    assert rows["threshold"].endswith("^")
    assert len(rows["threshold"]) < len(rows["free"])
    assert "~191,000  95.5%" in rows["free"]
    boundaries = [line for line in lines if line.startswith(("compaction ", "checkpoint "))]
    assert [line.split("  ")[-1] for line in boundaries][1:] == ["the lexer", "the parser"]
    assert [line.split()[1] for line in boundaries] == ["prune", "summary", "operator"]
    assert "summarized: 500 characters across all boundaries" in lines
    assert "subtasks: 1 (2,000 in, 50 out, $0.7500)" in lines
    paid = [line.split() for line in lines if line.startswith("claude-")]
    assert paid == [
        ["claude-haiku-4-5", "1", "2,000", "50", "0", "0", "$0.7500", "$0.0000"],
        ["claude-sonnet-4-5", "1", "90,000", "1,000", "9,000", "0", "$0.5000", "$0.2500"],
    ], "the dearest first"


def test_as_json_it_is_the_same(recorded):
    found = json.loads(recorded("sessions", "context", "s-1", "--json")[1])
    assert (found["tokens"], found["window"], found["threshold"]) == (9_000, 200_000, 130_000)
    assert found["characters"] == 500
    assert found["subtasks"] == {"count": 1, "tokens": 2_050, "cost": 0.75}
    assert [(row["model"], row["cache_read"], row["saved"]) for row in found["models"]] == [
        ("claude-haiku-4-5", 0, 0.0),
        ("claude-sonnet-4-5", 9_000, 0.25),
    ]
    assert [boundary["note"] for boundary in found["boundaries"]] == ["", "the lexer", "the parser"]
    assert sum(share["tokens"] for share in found["shares"]) == 9_000


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("[compaction]\nenabled = false", "~4.5% of the 200,000 of claude-sonnet-4-5"),
        ("[compaction]\nlimit = 50000", "reduced at 50,000"),
        ("[model]\ncontext_window = 90000", "~10.0% of the 90,000 of claude-sonnet-4-5; reduced at 58,500"),
    ],
)
def test_window_and_threshold_are_those_of_the_config(recorded, tmp_path, config, told):
    (tmp_path / "c.toml").write_text(config)
    out = recorded("--config", str(tmp_path / "c.toml"), "sessions", "context", "s-1")[1]
    assert out.splitlines()[0].endswith(told)


def test_a_window_that_nobody_knows_is_said_to_be_unknown(ask):
    assert ask("-p", "hello", "--provider", "echo")[0] == 0
    (session,) = json.loads(ask("sessions", "list", "--json")[1])
    out = ask("sessions", "context", session["id"])[1]
    assert "the window of echo is unknown" in out
    assert "threshold" not in out
    assert "free" not in out
