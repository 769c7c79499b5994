"""`agent-cli sessions …`, `--fork`, `--name`, and what a run leaves behind."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agent_cli.config import places
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall


@pytest.fixture
def first(ask):
    """A session of one turn; its id."""
    assert ask("-p", "mend the <parser>", "--provider", "echo", "--name", "first")[0] == 0
    return listed(ask)[0]["id"]


def listed(ask):
    return json.loads(ask("sessions", "list", "--json")[1])


def entries(ask, session):
    """The entries of its kinds of facts: where they stand depends on what a start has to tell."""
    facts = [json.loads(line) for line in ask("sessions", "export", session)[1].splitlines()]
    return {fact["type"]: fact["seq"] for fact in facts}


def test_a_named_session_is_resumed_by_its_name(ask, first):
    assert ask("-p", "go on", "--provider", "echo", "-r", "first")[0] == 0
    assert [(row["name"], row["turns"]) for row in listed(ask)] == [("first", 2)]


def test_a_name_is_given_once(ask, first):
    code, _, err = ask("-p", "other", "--provider", "echo", "--name", "first")
    assert code != 0
    assert "called 'first' already" in err


def test_a_fork_goes_its_own_way_and_says_where_it_comes_from(ask, first):
    at = entries(ask, first)["operator-message"]
    code, out, err = ask("-p", "another way", "--provider", "echo", "--fork", f"first@{at}")
    assert (code, out) == (0, "mend the <parser>\nanother way\n"), "the answer is not part of it"
    assert f"forked from {first} at entry {at}" in err
    fork, source = listed(ask)
    assert (source["id"], source["turns"], fork["turns"]) == (first, 1, 2)
    assert fork["title"] == source["title"] == "mend the <parser>"


def test_a_name_with_an_at_sign_can_be_forked_too(ask):
    assert ask("-p", "hello", "--provider", "echo", "--name", "mail@3")[0] == 0
    assert ask("-p", "all of it", "--provider", "echo", "--fork", "mail@3")[0] == 0
    assert "at entry 5" in ask("-p", "a part", "--provider", "echo", "--fork", "mail@3@5")[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fork", "first@99"], "There is no entry 99 to fork at"),
        (["--fork", "nobody"], "There is no session 'nobody'"),
        (["--fork", "first", "-c"], "--fork and --continue do not go together"),
        (["--name", "first"], "Another session is called 'first' already"),
    ],
)
def test_what_cannot_be_forked(ask, first, words, told):
    code, _, err = ask("-p", "hello", "--provider", "echo", *words)
    assert code == 2, "the command line is wrong, and nothing was asked"
    assert told in err
    assert len(listed(ask)) == 1


def test_what_was_exported_is_imported_as_it_was(ask, first, tmp_path):
    assert ask("sessions", "export", "first", "-o", "kept.jsonl")[0] == 0
    exported = (tmp_path / "kept.jsonl").read_text()
    assert (tmp_path / "kept.jsonl").stat().st_mode & 0o777 == 0o600
    assert ask("sessions", "export", "first")[1] == exported
    assert ask("sessions", "rm", "first", "--yes")[0] == 0
    assert listed(ask) == []
    assert ask("sessions", "import", "kept.jsonl")[1].strip() == first
    assert ask("sessions", "export", first)[1] == exported
    other = ask("sessions", "import", "kept.jsonl")[1].strip()
    assert other != first, "the id is taken: it gets a new one"
    assert ask("-p", "go on", "--provider", "echo", "-r", other)[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no fact"),
        ("{", "Line 1 is not a fact"),
        ("[]", "Line 1 is not a fact"),
        ('{"v": 99, "seq": 1, "type": "turn-started"}', "version 99 of the format"),
        ('{"v": 1, "seq": 1, "type": "nothing-known", "session": "s", "time": 1, "turn": 0, "step": 0}', "Line 1"),
        ('{"v": 1, "seq": "x", "type": "turn-started", "model": "m"}', "Line 1"),
        ("[" * 100_000, "Line 1 is not a fact"),
    ],
)  # fmt: skip
def test_what_is_no_session_is_not_imported(ask, tmp_path, text, told):
    (tmp_path / "broken.jsonl").write_text(text)
    code, _, err = ask("sessions", "import", "broken.jsonl")
    assert code == 1
    assert told in err
    assert listed(ask) == []


def test_pages_show_what_was_recorded_as_text(ask, first):
    page = ask("sessions", "export", first, "--format", "html")[1]
    assert "mend the &lt;parser&gt;" in page
    assert "<parser>" not in page
    assert (
        "## You\n\nmend the <parser>\n\n## Agent\n"
        in ask("sessions", "export", first, "--format", "markdown")[1]
    )


def test_what_was_said_is_found(ask, first):
    found = json.loads(ask("sessions", "search", "pars", "mend", "--json")[1])
    said = entries(ask, first)
    wanted = [(first, said["operator-message"]), (first, said["assistant-message"])]
    assert [(row["session"]["id"], row["seq"]) for row in found] == wanted
    assert ask("sessions", "search", "nothing-of-it")[1] == "Nothing was found.\n"


def test_nothing_is_removed_without_a_yes(ask, first):
    for words in (["rm", "first"], ["prune", "--older-than", "0", "--keep", "0"]):
        if words[0] == "prune":
            assert ask("sessions", "rename", "first", "")[0] == 0
        code, _, err = ask("sessions", *words)
        assert code == 1
        assert "Say --yes" in err
    assert len(listed(ask)) == 1


def test_pruning_spares_the_latest_and_those_with_a_name(ask, first):
    for words in ("second", "third"):
        ask("-p", words, "--provider", "echo")
    old = ask("sessions", "prune", "--older-than", "0", "--keep", "1", "--dry-run")[1]
    assert [line.split()[-1] for line in old.splitlines()] == ["second"]
    assert ask("sessions", "prune", "--older-than", "0", "--keep", "1", "-y")[1] == "1 removed.\n"
    assert [row["title"] for row in listed(ask)] == ["third", "mend the <parser>"]
    assert ask("sessions", "prune", "--older-than", "30", "-y")[1] == "Nothing is that old.\n"


def test_a_run_leaves_a_summary_and_a_transcript(ask, first):
    directory = places.runs_dir(first, os.environ)
    summary = json.loads((directory / "1.json").read_text())
    assert summary["response"] == "mend the <parser>"
    assert summary["turns"] == [{"outcome": "completed", "exit_code": 0, "exhausted": None}]
    assert "mend the <parser>" in (directory / "1.md").read_text()
    assert (directory / "1.md").stat().st_mode & 0o777 == 0o600
    ask("-p", "go on", "--provider", "echo", "-r", "first")
    assert len(list(directory.glob("*.json"))) == 2
    ask("sessions", "rm", "first", "-y")
    assert not directory.exists()


def test_no_transcript_where_none_is_wanted_or_none_can_be(ask, tmp_path):
    assert ask("-p", "hello", "--provider", "echo", "--ephemeral")[0] == 0
    runs = places.state_dir(os.environ) / "runs"
    assert not runs.exists()
    runs.parent.mkdir(parents=True, exist_ok=True)
    runs.write_text("in the way")
    code, out, _ = ask("-p", "hello", "--provider", "echo")
    assert (code, out) == (0, "hello\n"), "saving is best effort"
    runs.unlink()
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text('{"session": {"transcripts": false}}')
    assert ask("-p", "hello", "--provider", "echo")[0] == 0
    assert not runs.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_disk_that_cannot_be_written_can_be_listed(ask, first):
    home = places.database(os.environ).parent
    for path in home.rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    home.chmod(0o500)
    try:
        assert [row["id"] for row in listed(ask)] == [first]
        assert ask("sessions", "show", first)[0] == 0
    finally:
        home.chmod(0o700)
        for path in home.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_session_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    from agent_cli.store.opening import _to_read
    from agent_cli.store.sqlite import SqliteStore, open_store
    from tests.store.made import entry

    path = tmp_path / "sessions.db"
    store = open_store(path)
    store.create("s-1", "/").append(entry(1))
    store.close()
    for how in ("mode=ro", "mode=ro&immutable=1"):
        store = SqliteStore(path, _to_read(path, how))
        assert [info.id for info in store.sessions()] == ["s-1"]
        assert list(store.entries("s-1")) == [entry(1)]
        store.close()
    missing = open_store(Path("/proc/no/such/sessions.db"), read_only=True)
    assert missing.sessions() == []
    missing.close()


def test_the_context_of_a_recorded_session(ask, first):
    code, out, _ = ask("sessions", "context", "first")
    assert code == 0
    assert "tokens in the next prompt" in out
    found = json.loads(ask("sessions", "context", "first", "--json")[1])
    assert sum(share["tokens"] for share in found["shares"]) == found["tokens"] > 0
    assert found["boundaries"] == []
    assert [row["requests"] for row in found["models"]] == [1]


def test_a_damaged_index_is_made_anew(ask, first):
    database = places.database(os.environ)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("DROP TABLE said_data")
        other.execute("UPDATE session SET title = x'ff'")
    assert ask("-p", "go on", "--provider", "echo", "-c")[0] == 0
    code, _, err = ask("sessions", "search", "parser")
    assert code == 1
    assert "agent-cli sessions rebuild" in err
    assert ask("sessions", "rebuild")[:2] == (0, "1 sessions are listed anew.\n")
    assert first in ask("sessions", "search", "parser")[1]
    assert listed(ask)[0]["title"] == "mend the <parser>"


def test_a_run_that_failed_leaves_its_summary_and_transcript_too(ask, tmp_path):
    script = tmp_path / "script.jsonl"
    long = "y" * 5_000
    call = {"name": "read_file", "arguments": {"path": long}}
    script.write_text(json.dumps({"text": "I look.", "calls": [call]}) + "\n")
    assert ask("-p", "look", "--script", str(script))[0] == 1
    directory = places.runs_dir(listed(ask)[0]["id"], os.environ)
    summary = json.loads((directory / "1.json").read_text("utf-8"))
    assert summary["turns"][0]["outcome"] == "error"
    assert long[:2_000] in json.dumps(summary)
    assert long[:2_049] not in json.dumps(summary)
    assert "I look." in (directory / "1.md").read_text("utf-8")


def stopped(first: str) -> None:
    """The log goes on as that of a process that was killed while a command ran."""
    from agent_cli.store.sqlite import open_store

    store = open_store(places.database(os.environ))
    log = store.open(first)
    last = list(log.read())[-1]
    for at, event in enumerate(
        (
            ev.TurnStarted("echo"),
            ev.OperatorMessage((Text("build it"),)),
            ev.ToolCallProposed(ToolCall("c9", "bash", {"command": "make all"})),
            ev.ToolCallStarted("c9", "bash", "make all", "operator"),
        ),
        1,
    ):
        log.append(ev.Entry(first, last.seq + at, last.time + at, last.turn + 1, 1, event))
    log.close()
    store.close()


def test_a_call_that_ran_when_the_process_stopped_is_not_left_out(ask, first):
    stopped(first)
    unknown = "outcome unknown: the process stopped while this ran"
    for word in (f"{unknown}, or it runs still", unknown):
        assert f"  bash make all: {word}\n" in ask("sessions", "show", first)[1]
        page = ask("sessions", "export", first, "--format", "markdown")[1]
        assert f"**bash make all** (failed)\n\n```\n{word}\n```" in page
        assert (
            f"<summary>bash make all (failed)</summary><pre>{word}</pre>"
            in ask("sessions", "export", first, "--format", "html")[1]
        )
        told = ask("-p", "go on", "--provider", "echo", "-r", "first")[2]
        assert (f"bash make all: {unknown}" in told) == (word != unknown)


def test_a_session_that_is_resumed_elsewhere_says_where_it_was_begun(ask, first, tmp_path, monkeypatch):
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    told = ask("-p", "on", "--provider", "echo", "-r", "first")[2]
    assert f"this session was begun in {tmp_path}; it goes on in {tmp_path / 'b'}" in told


def test_a_resumed_run_says_what_it_brought_along(ask, first):
    assert "resumed" not in ask("-p", "new", "--provider", "echo")[2]
    assert (
        "resumed at turn 1: echo, ask mode, no grants"
        in ask("-p", "on", "--provider", "echo", "-r", "first")[2]
    )
    assert "resumed" not in ask("-p", "on", "--provider", "echo", "-r", "first", "-q")[2]


def test_a_reader_that_goes_away_is_no_failure(ask, first, monkeypatch):
    gone, end = os.pipe()
    os.close(gone)
    with os.fdopen(end, "w", buffering=1) as nobody:
        monkeypatch.setattr("sys.stdout", nobody)
        code, _, err = ask("sessions", "show", first)
        with suppress(BrokenPipeError):
            nobody.close()
    assert (code, err) == (0, "")


def test_a_choice_that_is_none_is_said_in_our_words(ask, first):
    code, _, err = ask("sessions", "export", first, "--format", "xml")
    assert code == 2
    assert "Invalid value for '--format': 'xml' is not one of" in err
