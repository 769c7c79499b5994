"""Hooks through the whole product: real programs, a scripted model, and what stands in the log."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_cli import Agent
from agent_cli.engine import hooking
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Compact, Interrupt, Say
from agent_cli.kernel.events import as_text
from agent_cli.kernel.messages import Text, text_of
from tests.providers_claude.delegated import is_running, until

PROGRAM = """import json, sys
facts = json.load(sys.stdin)
with open({log!r}, "a") as out:
    out.write(json.dumps(facts) + "\\n")
"""


class Stage:
    """A project with hooks that are Python programs; each writes down what it was told."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "p"
        (self.root / ".agents").mkdir(parents=True)
        self.environ = {"HOME": str(directory), "AGENT_CLI_HOME": str(directory / "h")}
        self.rows: list[dict[str, Any]] = []
        self._log = directory / "heard.jsonl"

    def hook(self, event: str, body: str = "", **more: Any) -> None:
        path = self.root.parent / f"hook{len(self.rows)}.py"
        path.write_text(PROGRAM.format(log=str(self._log)) + body)
        self.rows.append({"event": event, "argv": [sys.executable, str(path)], **more})

    def open(self, *steps: dict[str, Any], attended: bool = False, **settings: Any) -> Agent:
        script = self.root.parent / "script.jsonl"
        script.write_text("\n".join(json.dumps(step) for step in steps or ({"text": "ok"},)))
        named = {key.replace("__", "."): value for key, value in settings.items()}
        return Agent.open(
            "scripted",
            cwd=self.root,
            script=script,
            environ=self.environ,
            attended=attended,
            settings={"hooks": self.rows, **named},
        )

    @property
    def heard(self) -> list[dict[str, Any]]:
        text = self._log.read_text() if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def entries(agent: Agent) -> list[Any]:
    return [entry.event for entry in agent.session.past(0, 999)]


def notes(agent: Agent) -> list[str]:
    return [event.text for event in entries(agent) if isinstance(event, ev.OperatorNote)]


def results(agent: Agent) -> list[str]:
    return [as_text(event.output) for event in entries(agent) if isinstance(event, ev.ToolReturned)]


def said_of_hooks(agent: Agent) -> list[str]:
    return [
        text_of(event.content)
        for event in entries(agent)
        if isinstance(event, ev.OperatorMessage) and event.by == "product"
    ]


def sent(agent: Agent) -> str:
    """Everything that the model has in front of it."""
    return json.dumps([str(message) for message in agent.session._core.view.messages()])


async def test_the_events_of_a_turn_in_their_order_with_what_they_are_about(stage: Stage) -> None:
    (stage.root / "a.txt").write_text("hello\n")
    for event in (
        "session-start", "prompt-submit", "pre-tool", "post-tool", "turn-end", "session-end", "notification",
    ):  # fmt: skip
        stage.hook(event)
    async with stage.open(call("read_file", path="a.txt"), {"text": "done"}) as agent:
        assert (await agent.run("read it")).text == "done"
        session = agent.session.id
    heard = [each for each in stage.heard if each["event"] != "notification"]
    assert [each["event"] for each in heard] == [
        "session-start", "prompt-submit", "pre-tool", "post-tool", "turn-end", "session-end",
    ]  # fmt: skip
    assert {each["version"] for each in heard} == {1}
    assert {each["session"] for each in heard} == {session}
    assert {each["cwd"] for each in heard} == {str(stage.root)}
    start, prompt, before, after, end, _ = heard
    assert (start["source"], prompt["prompt"]) == ("new", "read it")
    assert (before["tool"], before["arguments"]) == ("read_file", {"path": "a.txt"})
    assert after["arguments"] == {"path": "a.txt", "offset": 1, "limit": 0}
    assert after["result"] == {"ok": True, "text": "1\thello", "changed": []}
    assert (end["outcome"], end["answer"], end["continued"]) == ("completed", "done", 0)
    assert [each["about"] for each in stage.heard if each["event"] == "notification"] == ["turn-end"]
    assert [note for note in notes(agent) if "hook" in note and "takes its time" not in note] == []


async def test_a_hook_blocks_a_call_and_the_model_reads_why(stage: Stage) -> None:
    stage.hook(
        "pre-tool", "sys.stderr.write('not on a Friday'); sys.exit(2)", matcher="write_*", name="friday"
    )
    steps = (call("write_file", path="a.txt", content="x"), call("list_dir", path="."), {"text": "done"})
    async with stage.open(*steps, permissions__mode="yolo") as agent:
        await agent.run("write it")
        told = results(agent)
        assert told[0] == "Not run: the hook 'friday' does not let this call through: not on a Friday"
        assert "the hook 'friday' blocked write_file: not on a Friday" in notes(agent)
    assert not (stage.root / "a.txt").exists()
    assert len(stage.heard) == 1


async def test_changed_arguments_are_what_runs_and_the_model_is_told(stage: Stage) -> None:
    stage.hook(
        "pre-tool",
        "print(json.dumps({'arguments': {**facts['arguments'], 'content': 'two'}}))",
        matcher="write_file",
    )
    stage.hook("pre-tool", "print(json.dumps({'context': 'it was ' + facts['arguments']['content']}))")
    async with stage.open(
        call("write_file", path="a.txt", content="one"), {"text": "done"}, permissions__mode="yolo"
    ) as agent:
        await agent.run("write it")
        (told,) = said_of_hooks(agent)
    assert (stage.root / "a.txt").read_text() == "two"
    assert "it was two" in told
    assert "It changed the arguments of the call" in told
    assert told.count('event="pre-tool"') == 2


@pytest.mark.parametrize("mode", ["yolo", "allow", "ask"])
async def test_arguments_that_a_hook_changes_to_what_a_rule_denies_stay_denied(
    stage: Stage, mode: str
) -> None:
    answer = "{'permission': 'allow', 'arguments': {'path': 'secret/a.txt', 'content': 'x'}}"
    stage.hook("pre-tool", f"print(json.dumps({answer}))")
    async with stage.open(
        call("write_file", path="a.txt", content="one"), {"text": "done"},
        permissions__mode=mode, permissions__deny=["secret/*"],
    ) as agent:  # fmt: skip
        await agent.run("write it")
        assert results(agent)[0].startswith("Refused (deny: secret/*)")
    assert not (stage.root / "secret").exists()


async def test_arguments_of_a_hook_that_do_not_fit_are_refused_as_the_models_are(stage: Stage) -> None:
    stage.hook("pre-tool", "print(json.dumps({'arguments': {'pth': 'a.txt'}}))")
    async with stage.open(call("read_file", path="a.txt"), {"text": "done"}) as agent:
        await agent.run("read it")
        assert "pth" in results(agent)[0] or "path" in results(agent)[0]


async def test_a_hook_allows_what_would_be_asked_also_where_nobody_is_there(stage: Stage) -> None:
    stage.hook("pre-tool", "print(json.dumps({'permission': 'allow'}))", matcher="write_file", name="yes")
    steps = (
        call("write_file", path="a.txt", content="one"),
        call("write_file", path=".agents/config.json", content="{}"),
        {"text": "done"},
    )
    async with stage.open(*steps) as agent:
        await agent.run("write it")
        assert (stage.root / "a.txt").read_text() == "one"
        assert "control-plane" in results(agent)[1]
        started = [event for event in entries(agent) if isinstance(event, ev.ToolCallStarted)]
    assert [each.rule for each in started] == ["hook yes"]
    assert not (stage.root / ".agents" / "config.json").exists()


@pytest.mark.parametrize(
    "path",
    [
        ".agents/hooks/x.sh",
        ".claude/agents/x.md",
        ".agents/commands/x.md",
        "scripts/check.sh",
        ".agents/config.toml",
    ],
)
async def test_what_hooks_and_commands_run_is_the_operators_to_change(stage: Stage, path: str) -> None:
    """In every mode, also where a hook would allow it."""
    (stage.root / "scripts").mkdir()
    (stage.root / "scripts" / "check.sh").write_text("true")
    stage.rows.append({"event": "pre-tool", "command": "sh scripts/check.sh"})
    stage.hook("pre-tool", "print(json.dumps({'permission': 'allow'}))")
    steps = (
        call("write_file", path=path, content="x"),
        call("bash", command=f"echo x > {path}"),
        {"text": "done"},
    )
    async with stage.open(*steps, permissions__mode="yolo") as agent:
        await agent.run("write it")
        assert ["control-plane" in told for told in results(agent)] == [True, True]


async def test_a_hook_wants_to_be_asked_what_would_run(stage: Stage) -> None:
    stage.hook("pre-tool", "print(json.dumps({'permission': 'ask', 'reason': 'look first'}))")
    (stage.root / "a.txt").write_text("x")
    async with stage.open(call("read_file", path="a.txt"), {"text": "done"}) as agent:
        await agent.run("read it")
        assert "look first; nobody is here to be asked" in results(agent)[0]


@pytest.mark.parametrize(("permission", "ran"), [("allow", True), ("deny", False)])
async def test_permission_requests_are_answered_in_the_operators_place(
    stage: Stage, permission: str, ran: bool
) -> None:
    stage.hook(
        "permission-request", f"print(json.dumps({{'permission': '{permission}', 'reason': 'so it is'}}))"
    )
    async with stage.open(
        call("write_file", path="a.txt", content="one"), {"text": "done"}, attended=True
    ) as agent:
        await agent.run("write it")
        assert not any(isinstance(event, ev.ApprovalRequested) for event in entries(agent))
        assert ("so it is" in results(agent)[0]) is not ran
    assert (stage.root / "a.txt").exists() is ran
    assert stage.heard[0]["subject"] == "a.txt"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(7)", "it ended with 7"),
        ("print('{not json')", "its answer cannot be read"),
        ('print(\'{"contxt": "x"}\')', "did you mean `context`?"),
        ("print(json.dumps({'context': 'x' * 300_000}))", "its answer is too long: 300,"),
        ("import time; time.sleep(60)", "it was stopped after 0.5 s"),
        ("import os, time; os.fork() or time.sleep(60); time.sleep(60)", "it was stopped after 0.5 s"),
    ],
)
@pytest.mark.parametrize("gate", [True, False])
async def test_only_a_gate_that_fails_keeps_the_call_from_running(
    stage: Stage, body: str, said: str, gate: bool
) -> None:
    (stage.root / "a.txt").write_text("hello")
    slow = "sleep" in body
    stage.hook("pre-tool", body, gate=gate, **({"timeout": 0.5} if slow else {}))
    async with stage.open(call("read_file", path="a.txt"), {"text": "done"}) as agent:
        assert (await agent.run("read it")).text == "done"
        told, noted = results(agent)[0], "\n".join(notes(agent))
    assert said in noted
    assert ("hello" in told) is not gate
    assert ("it is a gate and failed" in told) is gate


async def test_a_program_that_is_not_there_is_told(stage: Stage) -> None:
    stage.rows.append({"event": "prompt-submit", "argv": ["/no/such/program"]})
    async with stage.open() as agent:
        assert (await agent.run("hello")).text == "ok"
        assert any("cannot be started: No such file" in note for note in notes(agent))


async def test_much_in_and_much_out(stage: Stage) -> None:
    """1 MB to a hook that reads none of it, and 100 MB from it."""
    line = "head -c 100000000 /dev/zero | tr '\\0' x"
    stage.rows.append({"event": "prompt-submit", "command": line})
    stage.hook("prompt-submit", "print(len(facts['prompt']))", name="count")
    async with stage.open() as agent:
        await agent.run("y" * 1_000_000)
        first, second = said_of_hooks(agent)[0].split("\n\n")
    assert len(first) < 17_000
    assert "the hook wrote 100,000,000 bytes" in first
    assert second == '<hook name="count" event="prompt-submit">\n1000000\n</hook>'


async def test_what_a_hook_prints_for_a_message_is_context_and_the_prefix_stays(stage: Stage) -> None:
    ticket = '<hook name="ticket" event="prompt-submit">\nticket 7\n</hook>'
    stage.hook("session-start", "print('branch: main')", name="git")
    stage.hook("prompt-submit", "print(json.dumps({'context': 'ticket 7'}))", name="ticket")
    async with stage.open({"text": "one"}, {"text": "two"}) as agent:
        await agent.run("first")
        before = agent.session._core.view.messages()
        await agent.run("second")
        after = agent.session._core.view.messages()
        assert after[: len(before) - 1] == before[:-1]
        assert said_of_hooks(agent) == [
            f'<hook name="git" event="session-start">\nbranch: main\n</hook>\n\n{ticket}',
            ticket,
        ]
        assert "the hook 'git' tells the model: branch: main" in notes(agent)


async def test_a_message_that_is_blocked_never_reaches_the_model(stage: Stage) -> None:
    stage.hook("prompt-submit", "if 'password' in facts['prompt']: sys.exit('no' and 2)", name="words")
    async with stage.open({"text": "one"}, {"text": "two"}) as agent:
        reply = await agent.run("the password is x")
        assert reply.text == ""
        assert "the hook 'words' does not let the message through: it gave no reason" in reply.problem
        (rewound,) = [event for event in entries(agent) if isinstance(event, ev.Rewound)]
        assert rewound.tokens_after > 100
        assert (await agent.run("hello")).text == "one"
        assert "password" not in sent(agent)
        assert [type(event).__name__ for event in entries(agent)].count("TurnError") == 1


async def test_a_message_that_was_not_heard_for_an_interrupt_is_heard_with_the_next(
    stage: Stage, tmp_path: Path
) -> None:
    body = f"import pathlib, time; p = pathlib.Path({str(tmp_path / 'slow')!r})\n"
    body += "if not p.exists(): p.touch(); time.sleep(60)\nif 'secret' in facts['prompt']: sys.exit(2)"
    stage.hook("prompt-submit", body)
    async with stage.open({"text": "one"}, {"text": "two"}) as agent:
        agent.send(Say((Text("the secret"),)))
        await until((tmp_path / "slow").exists)
        agent.send(Interrupt())
        await agent.session.idle()
        assert "does not let the message through" in (await agent.run("go on")).problem
        assert (await agent.run("hello")).text == "one"
        assert "the secret" not in sent(agent)
    assert [each["prompt"] for each in stage.heard] == ["the secret", "the secret", "hello"]


async def test_a_steering_message_that_is_blocked_is_taken_back(stage: Stage) -> None:
    stage.hook("prompt-submit", "if 'secret' in facts['prompt']: sys.exit(2)")
    stage.hook("pre-tool")
    (stage.root / "a.txt").write_text("x")
    steps = (call("read_file", path="a.txt"), {"text": "done"}, {"text": "ok"})
    async with stage.open(*steps) as agent:
        agent.send(Say((Text("read it"),)))
        agent.send(Say((Text("and the secret"),)))
        agent.send(Say((Text("and be brief"),)))
        await agent.session.idle()
        assert "and be brief" in sent(agent)
        assert "the secret" not in sent(agent)
        assert any(isinstance(event, ev.MessageWithdrawn) for event in entries(agent))
        await agent.run("hello")
    prompts = [each["prompt"] for each in stage.heard if each["event"] == "prompt-submit"]
    assert prompts == ["read it", "and the secret", "and be brief", "hello"]


async def test_a_hook_has_the_turn_go_on_and_not_for_ever(stage: Stage) -> None:
    body = "sys.stderr.write('the tests fail'); sys.exit(2)"
    stage.hook("turn-end", body, name="tests")
    async with stage.open(*({"text": str(at)} for at in range(9))) as agent:
        assert (await agent.run("mend it")).text == "3"
        assert len(said_of_hooks(agent)) == 3
        assert any("3 times; it ends now all the same" in note for note in notes(agent))
    assert [each["continued"] for each in stage.heard] == [0, 1, 2, 3]


async def test_a_turn_that_fails_tells_its_end_also_after_it_was_to_go_on(stage: Stage) -> None:
    stage.hook("turn-end", "facts['continued'] or facts['outcome'] != 'completed' or sys.exit(2)")
    steps = ({"text": "one"}, {"fault": "auth"})
    async with stage.open(*steps) as agent:
        await agent.run("mend it")
    assert [each["outcome"] for each in stage.heard] == ["completed", "error"]
    assert stage.heard[1]["problem"]


async def test_a_session_that_a_hook_does_not_let_begin_never_begins(stage: Stage) -> None:
    stage.hook("session-start", "sys.stderr.write('no network'); sys.exit(2)", name="net")
    async with stage.open() as agent:
        for _ in range(2):
            reply = await agent.run("hello")
            assert "the hook 'net' does not let the session through: no network" in reply.problem
    assert len(stage.heard) == 2


async def test_what_a_hook_says_of_a_result_stands_behind_it(stage: Stage) -> None:
    stage.hook(
        "post-tool",
        "sys.stderr.write('line too long'); sys.exit(2)",
        matcher="write_file|edit_file",
        name="lint",
    )
    async with stage.open(
        call("write_file", path="a.py", content="x"), {"text": "done"}, permissions__mode="yolo"
    ) as agent:
        await agent.run("write it")
        (told,) = said_of_hooks(agent)
        kinds = [type(event).__name__ for event in entries(agent)]
    assert "line too long" in told
    assert kinds.index("ToolReturned") < len(kinds) - 1 - kinds[::-1].index("OperatorMessage")
    assert stage.heard[0]["result"]["changed"] == [str(stage.root / "a.py")]


async def test_an_interrupt_ends_what_a_hook_started(stage: Stage, tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    line = f"sleep 300 & echo $! > {shlex.quote(str(mark))}; wait"
    stage.rows.append({"event": "pre-tool", "command": line})
    async with stage.open(call("list_dir", path="."), {"text": "done"}) as agent:
        agent.send(Say((Text("look"),)))
        await until(lambda: mark.exists() and bool(mark.read_text().strip()))
        begun = time.monotonic()
        agent.send(Interrupt())
        await agent.session.idle()
        assert time.monotonic() - begun < 5
        last = entries(agent)[-1]
        assert isinstance(last, ev.TurnError)
        assert last.outcome == "interrupted"
    assert not is_running(int(mark.read_text()))


async def test_a_resumed_session_shows_what_hooks_did_and_runs_none_for_it(stage: Stage) -> None:
    for event in ("session-start", "prompt-submit", "session-end"):
        stage.hook(event, "print('ticket 7')")
    script = stage.root.parent / "script.jsonl"
    script.write_text(json.dumps({"text": "one"}))

    def agent(resume: str | None = None) -> Agent:
        return Agent.open(
            "scripted", cwd=stage.root, script=script, environ=stage.environ, resume=resume, ephemeral=False,
            settings={"hooks": stage.rows},
        )  # fmt: skip

    async with agent() as first:
        await first.run("hello")
        session = first.session.id
    assert len(stage.heard) == 3
    async with agent(session) as second:
        assert len(stage.heard) == 3
        assert any("tells the model: ticket 7" in note for note in notes(second))
        assert "ticket 7" in sent(second)
        await second.run("again")
    assert [each["event"] for each in stage.heard[3:]] == ["session-start", "prompt-submit", "session-end"]
    assert stage.heard[3]["source"] == "resume"


async def test_a_hook_keeps_a_summary_from_being_written(stage: Stage) -> None:
    stage.hook("pre-compact", "sys.stderr.write('not now'); sys.exit(2)", name="later")
    steps = [{"text": "word " * 400} for _ in range(8)]
    async with stage.open(*steps) as agent:
        for at in range(4):
            await agent.run(f"{at} " + "much " * 300)
        agent.send(Compact("the tests"))
        await agent.session.idle()
        assert any(
            "not compacted: compaction: the hook 'later' does not let it happen: not now" in note
            for note in notes(agent)
        )
        assert not any(isinstance(event, ev.CompactionPerformed) for event in entries(agent))
    assert (stage.heard[0]["trigger"], stage.heard[0]["focus"]) == ("compaction", "the tests")


async def test_a_hook_that_takes_its_time_is_told_of_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooking, "SLOW", 0.05)
    stage.rows.append({"event": "prompt-submit", "command": "sleep 0.3"})
    async with stage.open({"text": "one"}, {"text": "two"}) as agent:
        await agent.run("hello")
        await agent.run("again")
        told = [note for note in notes(agent) if "takes its time" in note]
    assert told == ["a hook of prompt-submit takes its time; an interrupt stops it"]


async def test_an_approval_tells_who_looks_elsewhere(stage: Stage) -> None:
    stage.hook("notification")
    async with stage.open(
        call("write_file", path="a.txt", content="one"), {"text": "done"}, attended=True
    ) as agent:
        agent.send(Say((Text("write it"),)))
        async for event in agent.session.events():
            if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
                agent.send(Answer(event.event.call_id, allowed=True))
                break
        await agent.session.idle()
    abouts: Sequence[tuple[str, str]] = [(each["about"], each["message"]) for each in stage.heard]
    assert sorted(abouts) == [("approval", "write_file: a.txt"), ("turn-end", "the turn ended: completed")]


async def test_calls_of_an_agent_have_their_hooks_and_its_messages_none(stage: Stage) -> None:
    stage.hook("pre-tool", "if facts['agent']: sys.exit(2)", name="alone")
    for event in ("prompt-submit", "turn-end"):
        stage.hook(event)
    steps = (
        call("spawn_agent", task="look", agent="general"), call("list_dir", path="."), {"text": "I may not."}, {"text": "done"},
    )  # fmt: skip
    async with stage.open(*steps, agents__enabled=True) as agent:
        assert (await agent.run("have it looked at")).text == "done"
        assert any("the hook 'alone' does not let this call through" in told for told in results(agent))
    heard = [(each["event"], each.get("tool", ""), bool(each["agent"])) for each in stage.heard]
    assert heard == [
        ("prompt-submit", "", False), ("pre-tool", "spawn_agent", False), ("pre-tool", "list_dir", True), ("turn-end", "", False),
    ]  # fmt: skip


async def test_without_hooks_nothing_of_them_is_imported(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom agent_cli import Agent\n"
        "async def main():\n"
        f"    async with Agent.open('echo', cwd={str(tmp_path)!r}, environ={{'HOME': {str(tmp_path)!r}}}) as agent:\n"
        "        await agent.run('hello')\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if 'hook' in name and name.startswith('agent_cli.')])\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    found = set(json.loads(out.decode().replace("'", '"')))
    assert not found & {
        "agent_cli.tools.hook_runs",
        "agent_cli.engine.hooking",
        "agent_cli.engine.hooked_calls",
    }


def test_the_hook_of_this_project_says_what_is_wrong_and_changes_nothing(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    (row,) = json.loads((root / ".agents" / "config.json").read_text("utf-8"))["hooks"]
    (tmp_path / "__init__.py").write_text("")
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text("import os\nx = {  }\n")
    good.write_text('"""Good."""\n')
    for path, code in ((bad, 2), (good, 0)):
        facts = {"result": {"ok": True, "text": "", "changed": [str(path), str(tmp_path / "gone.py")]}}
        done = subprocess.run(row["argv"], cwd=root, input=json.dumps(facts), text=True, capture_output=True)
        assert done.returncode == code, done.stderr
        assert ("unused-import" in done.stderr or "F401" in done.stderr) is (code == 2)
    assert bad.read_text() == "import os\nx = {  }\n"
