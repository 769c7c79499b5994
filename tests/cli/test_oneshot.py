"""`agent-cli -p` from end to end: the whole product but for the model, which plays a script."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.cli.entry import run

LOOK = {"text": "Let me look.", "calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}
ANSWER = {"text": "It says hello."}
SLOW = {"text": "one two three four five six seven eight nine ten " * 20, "pace_ms": 20}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working directory; there is a note in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("hello\n")
    return tmp_path


@pytest.fixture
def play(project, capfd):
    """Runs a script in this process; returns exit code, stdout and stderr."""

    def played(replies, *argv):
        code = run(["-p", "what do the notes say?", "--script", write(project, *replies), *argv])
        said = capfd.readouterr()
        return code, said.out, said.err

    return played


def write(project, *replies) -> str:
    script = project / "script.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return str(script)


def process(*argv, **how) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "agent_cli", *argv],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
    )


def ended(running: subprocess.Popen[bytes], sent: bytes | None = None) -> tuple[int, str, str]:
    out, err = running.communicate(sent, timeout=30)
    return running.returncode, (out or b"").decode(), err.decode()


def test_the_answer_is_on_stdout_and_the_work_on_stderr(play):
    code, out, err = play([LOOK, ANSWER])
    assert (code, out) == (0, "It says hello.\n")
    assert "Let me look.\n  read_file notes.txt: ok (" in err


def test_quiet_leaves_the_answer_alone(play):
    assert play([LOOK, ANSWER], "--quiet") == (0, "It says hello.\n", "")


def test_json_is_one_object_that_agrees_with_the_exit_code(play):
    code, out, _ = play([LOOK, ANSWER], "--output-format", "json")
    result = json.loads(out)
    assert code == 0 == result["exit_code"]
    assert result["answer"] == "It says hello."
    assert (result["outcome"], result["steps"], result["tool_calls"]) == ("completed", 2, 1)
    assert result["usage"]["input"] > 0
    assert result["cost_usd"] == 0
    assert result["error"] is None


def test_stream_json_is_the_whole_stream_and_then_the_object(play):
    code, out, _ = play([LOOK, ANSWER], "--output-format", "stream-json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    types = [line["type"] for line in lines]
    assert types[0] == "session-started"
    assert types[-2:] == ["session-ended", "result"]
    assert types.count("turn-completed") == 1
    assert {"text-delta", "tool-call-started", "tool-result", "usage"} <= set(types)
    assert (
        "".join(line["text"] for line in lines if line["type"] == "text-delta")
        == "Let me look.It says hello."
    )
    seqs = [line["seq"] for line in lines if "seq" in line]
    assert seqs == list(range(1, len(seqs) + 1))


def test_a_provider_that_stays_away_is_75(play):
    down = {"fault": {"kind": "rate-limit", "retry_after": 0, "message": "slow down"}}
    code, out, err = play([down, down, down], "--output-format", "json")
    result = json.loads(out)
    assert code == 75 == result["exit_code"]
    assert result["error"] == {"kind": "provider", "message": "slow down"}
    assert err.count("attempt") == 2
    assert err.rstrip().endswith("slow down (exit 75)")


def test_a_request_that_is_refused_is_1_without_another_attempt(play):
    code, out, err = play([{"fault": "auth"}])
    assert (code, out) == (1, "")
    assert "attempt" not in err


def test_what_one_run_shows_of_the_program_s_own_log_the_next_one_does_not(play):
    assert "Traceback" in play([{"fault": "auth"}], "--verbose")[2]
    assert "Traceback" not in play([{"fault": "auth"}])[2]


def test_a_used_up_budget_lands_softly_unless_strict(play):
    argv = ("--max-steps", "1", "--output-format", "json")
    code, out, _ = play([LOOK, ANSWER], *argv)
    assert (code, json.loads(out)["exhausted"]) == (0, "steps")
    code, out, _ = play([LOOK, ANSWER], *argv, "--strict")
    result = json.loads(out)
    assert (code, result["exit_code"], result["answer"]) == (1, 1, "It says hello.")


def test_a_budget_that_fails_is_1_with_its_trip(play):
    code, out, err = play(
        [LOOK, ANSWER], "--max-steps", "1", "--on-exhaustion", "fail", "--output-format", "json"
    )
    result = json.loads(out)
    assert (code, result["answer"], result["outcome"]) == (1, None, "budget-exhausted")
    assert [trip["guardrail"] for trip in result["trips"]] == ["step_ceiling"]
    assert "step_ceiling guardrail cut the turn in flight — " in err


def test_what_nobody_allowed_is_refused_and_the_run_goes_on(play):
    write_it = {"calls": [{"name": "bash", "arguments": {"command": "touch made"}}]}
    code, out, err = play([write_it, {"text": "I may not."}])
    assert (code, out) == (0, "I may not.\n")
    assert "bash touch made: failed (not run): Refused" in err
    assert "--" in err


def test_a_session_goes_on_where_it_ended(play, project):
    _, out, _ = play([ANSWER], "--output-format", "json")
    first = json.loads(out)["session"]
    code, out, _ = play([{"text": "Again.", "expect": {"user": "notes"}}], "-c", "--output-format", "json")
    assert (code, json.loads(out)["session"], json.loads(out)["steps"]) == (0, first, 1)
    code, out, err = play([ANSWER], "-r", "nothing-like-it", "--output-format", "json")
    assert (code, json.loads(out)["error"]["kind"]) == (2, "session-not-found")
    assert "agent: There is no session" in err


def test_no_model_to_talk_to_is_a_config_error_in_one_line(project, capfd):
    assert run(["-p", "hello", "--output-format", "json"]) == 2
    said = capfd.readouterr()
    assert json.loads(said.out)["error"]["kind"] == "no-model"
    assert said.err.count("\n") == 1
    assert "ANTHROPIC_API_KEY" in said.err


def test_an_unreadable_script_is_a_config_error(project, capfd):
    assert run(["-p", "hello", "--script", "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl cannot be read" in capfd.readouterr().err


# ── a process of its own ──


def test_what_is_piped_comes_behind_the_prompt(project):
    running = process("-p", "what is this?", "--provider", "echo", "--ephemeral", stdin=subprocess.PIPE)
    code, out, err = ended(running, "ünï\n".encode() + b"caf\xe9\n")
    assert (code, out) == (0, "what is this?\n\n<stdin>\nünï\ncaf\ufffd\n</stdin>\n")
    assert "not all UTF-8" in err


def test_a_pipe_alone_is_the_prompt_even_without_p(project):
    code, out, _ = ended(process("--provider", "echo", stdin=subprocess.PIPE), b"all of it")
    assert (code, out) == (0, "all of it\n")


def until_it_streams(running: subprocess.Popen[bytes]) -> None:
    assert running.stdout is not None
    for line in running.stdout:
        if b"text-delta" in line:
            return
    pytest.fail(running.communicate()[1].decode())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_mid_stream_ends_cleanly(project, number, code):
    running = process("-p", "go", "--script", write(project, SLOW), "--output-format", "stream-json")
    until_it_streams(running)
    running.send_signal(number)
    got, out, err = ended(running)
    lines = [json.loads(line) for line in out.splitlines()]
    assert got == code == lines[-1]["exit_code"]
    assert [line["type"] for line in lines[-3:]] == ["turn-error", "session-ended", "result"]
    assert [line["partial"] for line in lines if line["type"] == "assistant-message"] == [True]
    assert err.splitlines()[-1].endswith(f"interrupted by {number.name} (exit {code})")
    assert "Traceback" not in err


def test_a_reader_may_stop_at_any_time(project):
    running = process("-p", "go", "--script", write(project, SLOW), "--output-format", "stream-json")
    until_it_streams(running)
    running.stdout.close()
    running.stdout = None
    assert running.wait(30) == 0
    (line,) = running.stderr.read().splitlines()
    assert b"watchdog: enforce mode [unattended default]" in line
    running.stderr.close()


def test_closed_standard_streams_are_no_accident(project):
    script = write(project, ANSWER)
    line = f'"{sys.executable}" -m agent_cli -p hello --script "{script}" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False, timeout=30).returncode == 0


def test_an_answer_that_finds_no_room_is_not_delivered(project):
    with Path("/dev/full").open("wb") as full:
        code, _, err = ended(process("-p", "hello", "--script", write(project, ANSWER), stdout=full))
    assert code == 1
    assert "No space left" in err


def test_a_one_shot_run_loads_no_screen_and_no_typer(project):
    script = write(project, LOOK, ANSWER)
    program = (
        f"import sys; sys.argv = ['agent-cli', '-p', 'hello', '--script', {script!r}]\n"
        "from agent_cli.__main__ import main\n"
        "try: main()\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30
    )
    loaded = {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}
    assert done.stdout == "It says hello.\n"
    assert loaded.isdisjoint({"typer", "rich", "textual", "prompt_toolkit", "anthropic", "google", "mcp"})


def test_a_working_directory_that_is_gone_is_named(tmp_path, monkeypatch, capfd):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(["-p", "hi", "--provider", "echo", "--ephemeral"]) == 2
    assert "working directory" in capfd.readouterr().err
    assert run(["-p", "hi", "--provider", "echo", "--ephemeral", "-C", str(tmp_path)]) == 0


def test_a_picture_that_the_prompt_names_goes_along(project, capfd):
    """What cannot go along is said, and the prompt goes all the same."""
    (project / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (project / "no.png").write_text("no picture")
    script = write(project, ANSWER)
    assert (
        run(["-p", "what is in @dot.png, @no.png and @gone.png?", "--script", script, "--name", "seen"]) == 0
    )
    assert "no.png is no PNG" in capfd.readouterr().err
    assert run(["sessions", "export", "seen", "--format", "jsonl"]) == 0
    entries = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    (said,) = [entry for entry in entries if entry["type"] == "operator-message"]
    assert [part["kind"] for part in said["content"]] == ["text", "image"]


# ── --json-schema ──


@pytest.fixture
def schema(project):
    file = project / "schema.json"
    file.write_text(
        json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    )
    return str(file)


GOOD, BAD = {"text": '{"n": 3}'}, {"text": '{"n": "three"}'}


def test_an_answer_that_fits_the_schema_is_the_json_and_nothing_else(play, schema):
    fenced = {"text": 'Here:\n```json\n{"n": 3}\n```', "expect": {"user": "<json-schema>"}}
    assert play([fenced], "--json-schema", schema, "--script-strict")[:2] == (0, '{"n": 3}\n')
    code, out, _ = play([GOOD], "--json-schema", schema, "--output-format", "json")
    result = json.loads(out)
    assert (code, result["structured"], result["answer"], result["steps"]) == (0, {"n": 3}, '{"n": 3}', 1)


def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_the_error(play, schema):
    second = {**GOOD, "expect": {"user": "at /n: 'three' is not of type 'integer'"}}
    code, out, err = play(
        [BAD, second], "--json-schema", schema, "--script-strict", "--output-format", "json"
    )
    result = json.loads(out)
    assert (code, result["structured"], result["steps"]) == (0, {"n": 3}, 2)
    assert "asked for once more" in err


def test_the_second_answer_that_does_not_fit_is_a_failure_and_not_delivered(play, schema):
    code, out, err = play([BAD, BAD, GOOD], "--json-schema", schema)
    assert (code, out) == (1, "")
    assert "does not fit the schema of --json-schema: at /n: 'three'" in err
    code, out, _ = play([BAD, BAD], "--json-schema", schema, "--output-format", "json")
    result = json.loads(out)
    assert (code, result["answer"], result["structured"], result["error"]["kind"]) == (
        1,
        None,
        None,
        "schema",
    )
    assert (result["exit_code"], result["outcome"], result["steps"]) == (1, "error", 2)


def test_a_number_that_no_64_bits_hold_is_printed_all_the_same(play, schema):
    code, out, _ = play(
        [{"text": json.dumps({"n": 2**70})}], "--json-schema", schema, "--output-format", "json"
    )
    assert (code, json.loads(out)["structured"]) == (0, {"n": 2**70})


def test_a_wrong_schema_is_a_usage_error_before_anything_is_asked(play, project):
    (project / "wrong.json").write_text('{"type": "objekt"}')
    code, out, err = play([GOOD], "--json-schema", "wrong.json", "--output-format", "json")
    assert code == 2 == json.loads(out)["exit_code"]
    assert "wrong.json: it is no valid JSON Schema at /type: 'objekt'" in err


# ── --input-format stream-json ──


def test_a_driven_session_is_asked_before_it_writes_and_keeps_the_ceilings_of_one_that_nobody_watches(
    project,
):
    write_it = {"calls": [{"name": "write_file", "arguments": {"path": "made.txt", "content": "x"}}]}
    script = write(project, write_it, ANSWER)
    streams = ("--input-format", "stream-json", "--output-format", "stream-json")
    running = process("-p", "go", "--script", script, *streams, stdin=subprocess.PIPE)
    for line in running.stdout:
        event = json.loads(line)
        if event["type"] == "approval-requested":
            assert not (project / "made.txt").exists()
            order = {"type": "answer", "call_id": event["call_id"], "allowed": True}
            running.stdin.write(json.dumps(order).encode() + b"\n")
            break
    code, out, err = ended(running, b'{"type": "end"}\n')
    assert (code, (project / "made.txt").read_text()) == (0, "x")
    assert json.loads(out.splitlines()[-1])["answer"] == "It says hello."
    assert "watchdog: enforce mode [unattended default]" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--input-format", "stream-json"], "needs --output-format stream-json"),
        (["--input-format", "stream-jsn"], "Did you mean 'stream-json'?"),
        (
            ["--input-format", "stream-json", "--output-format", "stream-json", "--json-schema", "s.json"],
            "do not go together",
        ),
    ],
)
def test_what_cannot_be_driven_is_a_usage_error(project, capfd, argv, said):
    assert run(["-p", *argv]) == 2
    assert said in capfd.readouterr().err


# ── --log-file, --no-repl ──


def test_the_lines_for_the_operator_go_to_a_file_too(play, project):
    log = project / "run.log"
    code, out, err = play([LOOK, ANSWER], "--quiet", "--log-file", "run.log")
    assert (code, out, err) == (0, "It says hello.\n", "")
    assert log.stat().st_mode & 0o777 == 0o600
    (line,) = [line for line in log.read_text().splitlines() if "read_file notes.txt" in line]
    assert line[:20].replace("-", "").replace(":", "").replace(" ", "").isdigit()
    before = log.read_text()
    play([{"fault": "auth"}], "--log-file", "run.log")
    assert log.read_text().startswith(before)
    assert "(exit 1)" in log.read_text()


def test_no_secret_gets_into_the_log_file(play, project):
    token = "ghp_" + "9fK2mQ7xWz4LpT8vBn3JcR6yHs1DgE5uAo0X"
    look = {"calls": [{"name": "bash", "arguments": {"command": f"echo {token}"}}]}
    play([look, ANSWER], "--log-file", "run.log")
    assert token not in (project / "run.log").read_text()


def test_a_log_file_that_cannot_be_written_is_a_config_error(play):
    code, out, err = play([ANSWER], "--log-file", "/nowhere/at/all.log")
    assert (code, out) == (2, "")
    assert "--log-file /nowhere/at/all.log: it cannot be written" in err
