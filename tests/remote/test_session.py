"""A session of a server that runs in a process of its own, as a front end sees it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import get_args

import msgspec
import pytest

from agent_cli.kernel import commands as do
from agent_cli.kernel import events as ev
from agent_cli.kernel import orders
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.messages import Image, Text, text_of
from agent_cli.kernel.records import fact_of, preview_of
from agent_cli.kernel.usage import ModelCard
from agent_cli.remote.session import RemoteSession, attach, request_of
from agent_cli.remote.wire import Declined, Unreachable, Wire, event_of, placed_in
from agent_cli.server import bodies
from tests.fakes.serving import LISTEN, ROOT, ask, running
from tests.fakes.session import FakeSession
from tests.fakes.web_server import Page, serving
from tests.tui.samples import whole_turn

WRITES = {"calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}}]}


def card(name: str) -> ModelCard:
    return ModelCard(name.partition("/")[2], name.partition("/")[0], window=200_000)


async def until(session: RemoteSession, wanted: type, since: int = 0) -> list[ev.Event]:
    seen: list[ev.Event] = []
    async with asyncio.timeout(20):
        async for event in session.events(since):
            seen.append(event)
            if isinstance(event, ev.Entry) and isinstance(event.event, wanted):
                return seen
    raise AssertionError("the session ended without it")


def say(text: str) -> do.Say:
    return do.Say((Text(text),))


async def test_what_is_said_is_known_when_send_returns_and_the_turn_comes_as_events(project, script):
    replies = script({"text": "one two three", "pace_ms": 30}, WRITES, {"text": "Written."})
    with running(project, "--script", str(replies), *LISTEN) as (_, url):
        session = await attach(Wire(url), ask(f"{url}/sessions", {})["id"], card)
        assert (session.state.card.id, session.state.mode, session.watchdog) == ("scripted", "ask", "enforce")
        assert (session.state.limits.max_steps, session.state.limits.max_session_cost) == (200, 10.0)
        assert session.since == session.state.seq > 0
        assert "write_file" in [tool.name for tool in session.tools()]
        following = asyncio.create_task(until(session, ev.TurnCompleted))
        await asyncio.sleep(0)
        session.send(say("count"))
        assert session.state.running, "the message is in the log, and the turn has begun"
        seen = await following
        shown = "".join(event.text for event in seen if isinstance(event, ev.TextDelta))
        assert "one two three".endswith(shown), (
            "previews may be lost; none comes behind what it is a piece of"
        )
        assert (session.state.answer, session.state.turn) == ("one two three", 1)
        seqs = [event.seq for event in seen if isinstance(event, ev.Entry)]
        assert seqs == list(range(1, seqs[-1] + 1))
        assert session.past(0, 3) == [event for event in seen if isinstance(event, ev.Entry)][:3]

        session.send(say("write it"))
        await until(session, ev.ApprovalRequested, seqs[-1])
        (asked,) = session.state.pending.values()
        session.send(do.Answer(asked.call_id, allowed=True))
        await until(session, ev.TurnCompleted, seqs[-1])
        assert (project / "b.txt").read_text() == "new\n"
        session.send(do.SetMode("plan"))
        assert session.state.mode == "plan"
        with pytest.raises(Declined, match="No approval waits"):
            session.send(do.Answer("nope", allowed=True))
        with pytest.raises(AgentError, match="do not go over HTTP"):
            await session.subtasks.ask("why?")
        with pytest.raises(AgentError, match="does not go over HTTP"):
            await session.subtasks.gather("look", [do.Wanted("bash", {"command": "ls"})])
        await session.close()
        assert ask(f"{url}/sessions/{session.id}")["open"] is True, "it goes on there"


async def test_a_server_that_comes_back_is_followed_on_without_a_gap(project, script):
    replies = ("--script", str(script({"text": "Hi."}, {"text": "Ho."})))
    with running(project, *replies, *LISTEN) as (process, url):
        session = await attach(Wire(url), ask(f"{url}/sessions", {"message": "hello"})["id"], card)
        await until(session, ev.TurnCompleted)
        waiting = asyncio.create_task(_waits(session))
        process.terminate()
        process.wait(20)
        assert (await waiting).seconds < 1, "it is tried again soon, and told"
    with pytest.raises(Unreachable, match="Look whether it runs"):
        session.send(say("is somebody there?"))
    port = url.rpartition(":")[2]
    with running(project, *replies, "serve", "--listen", f"127.0.0.1:{port}") as (_, url):
        since = session.state.seq
        ask(f"{url}/sessions/{session.id}/inject", {"message": "again"})
        back = asyncio.create_task(_waits(session, lost=False))
        seen = await until(session, ev.TurnCompleted, since)
        async with asyncio.timeout(20):
            assert (await back).seconds == 0.0, "that it is there again is told, too"
        facts = [event for event in seen if isinstance(event, ev.Entry)]
        assert [fact.seq for fact in facts] == list(range(since + 1, facts[-1].seq + 1))
        assert "again" in [
            text_of(fact.event.content) for fact in facts if isinstance(fact.event, ev.OperatorMessage)
        ]
        await session.close()


async def _waits(session: RemoteSession, *, lost: bool = True) -> ev.Waiting:
    async for event in session.events(session.state.seq):
        if isinstance(event, ev.Waiting) and bool(event.reason) is lost:
            return event
    raise AssertionError("the session ended")


async def test_a_token_that_counts_no_more_ends_the_session_here(project, script, own_home):
    from agent_cli.server.tokens import Tokens

    tokens = Tokens(own_home / "agent-cli" / "serve-tokens.json")
    secret, _ = tokens.add("mine", "read", (), 0.0), tokens.add("other", "admin", (), 0.0)
    with running(project, "--script", str(script({"text": "Hi."})), *LISTEN) as (_, url):
        other = Wire(url, tokens.add("third", "write", (), 0.0))
        session = await attach(Wire(url, secret), other.post("/sessions", {})["id"], card)
        assert session.tools() != ()
        with pytest.raises(Declined, match="takes a token of scope write"):
            session.send(say("hello"))
        tokens.remove("mine")
        with pytest.raises(StoreError, match="not known here"):
            async with asyncio.timeout(20):
                async for _ in session.events(session.state.seq):
                    pass
        await session.close()
        other.close()


COMMANDS: tuple[do.Command, ...] = (
    do.SetMode("plan"), do.SetModel("opus"), do.SetEffort("high"), do.Withdraw(3), do.StopAgent("reviewer-2"), do.Replan("no"), do.Rewind(3),
    do.AddRule("deny", "bash:rm*", keep=True),
)  # fmt: skip
BODIES = {
    "inject": bodies.Inject,
    "approvals": bodies.Decision,
    "reset": bodies.Clear,
    "compact": bodies.Focus,
    "checkpoint": bodies.Done,
}


def test_every_command_has_its_request_and_the_server_reads_it_back():
    others = (
        say("hi"),
        do.Answer("c1", allowed=False, message="no"),
        do.Interrupt(),
        do.Reset("all", 5.0),
        do.Compact("f"),
        do.Checkpoint("n"),
    )
    assert {type(command) for command in (*COMMANDS, *others)} == set(get_args(do.Command))
    for command in COMMANDS:
        place, body = request_of(command)
        assert place == "/orders"
        taken = orders.read(msgspec.json.encode(body))
        assert isinstance(taken, type(command))
        assert msgspec.structs.astuple(taken) == msgspec.structs.astuple(command)
    for command in others:
        place, body = request_of(command)
        kind = next((kind for name, kind in BODIES.items() if name in place), None)
        assert (body is None) == (kind is None)
        if kind is not None:
            msgspec.convert(body, kind)
    with pytest.raises(AgentError, match="Pictures"):
        request_of(do.Say((Image("image/png", "x"),)))


def test_every_record_is_read_back_as_the_event_that_it_was():
    place = {"session": "s", "turn": 1, "step": 1}
    session = FakeSession()
    whole_turn(session)
    facts = session.past(0, session.state.seq)
    assert len(facts) > 10
    for fact in facts:
        assert event_of(msgspec.json.decode(msgspec.json.encode(fact_of(fact)))) == fact
    for preview in (
        ev.TextDelta("a"),
        ev.ReasoningDelta("b"),
        ev.ToolProgress("c1", "x"),
        ev.Waiting(1.5, "later"),
    ):
        assert event_of(preview_of(preview, place)) == preview
    strange = {
        "v": 1,
        "type": "of-the-future",
        "session": "s",
        "seq": 9,
        "time": 1.0,
        "turn": 1,
        "step": 0,
        "branch": "",
    }
    assert event_of(strange).event.unread == "of-the-future"


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"[1, 2]", b"{}", b"[" * 100_000, b"\xff"])
async def test_what_is_no_attach_server_is_told_in_words(body):
    places = ("", "/events", "/guardrails", "/tools")
    async with serving({f"/sessions/s{place}": Page(body) for place in places}) as web:
        with pytest.raises(Declined, match="is no attach server"):
            await attach(Wire(web.url("")), "s", card)


def test_lines_of_a_stream_that_are_no_events_are_told_and_unknown_previews_passed_over():
    assert placed_in(": still here", "u") is None
    assert placed_in('data: {"type": "of-the-future", "turn": 1, "step": 1}', "u") is None
    for line in ("{no", "[1]", '{"seq": "x", "turn": 1, "step": 1}', "[" * 100_000):
        with pytest.raises(Declined, match="is no attach server"):
            placed_in(f"data: {line}", "u")


def test_the_name_of_a_call_that_no_path_holds_goes_in_the_body():
    place, body = request_of(do.Answer("a/b?c", allowed=True))
    assert (place, body["call_id"], body["type"]) == ("/orders", "a/b?c", "answer")
    assert request_of(do.Answer("call_1", allowed=True))[0] == "/approvals/call_1"


def test_the_lines_of_a_conversation_go_there_and_come_back(project, script):
    replies = script({"text": "Hello, I am here."}, WRITES, {"text": "Written."})
    with running(project, "--script", str(replies), *LISTEN) as (_, url):
        typed = "hi there\nplease write it\ny\n/guardrail\n"
        command = [sys.executable, "-m", "agent_cli", "attach", url, "--new", "--no-tui"]
        done = subprocess.run(command, cwd=ROOT, input=typed, capture_output=True, text=True, timeout=50)
        assert done.returncode == 0, done.stderr
        for told in (
            "Hello, I am here.",
            "permission: write_file b.txt",
            "Written.",
            "armed: watchdog enforce",
        ):
            assert told in done.stdout
        assert done.stdout.count("Hello, I am here.") == 1, "what was said is told once"
        assert f"agent-cli attach {url} " in done.stderr
        assert (project / "b.txt").read_text() == "new\n"
        missing = subprocess.run(
            [*command[:-2], "nope"], cwd=ROOT, capture_output=True, text=True, timeout=50
        )
        assert (missing.returncode, "There is no session 'nope'" in missing.stderr) == (1, True)
