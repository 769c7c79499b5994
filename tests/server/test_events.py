"""Event streams: resumed without a gap, slow ones, and sessions that are open elsewhere."""

from __future__ import annotations

import asyncio
import socket

import httpx2
import pytest

from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import open_session
from agent_cli.engine.session import Session
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from agent_cli.server import app
from agent_cli.server.door import Wish
from agent_cli.server.problems import Refused
from tests.fakes.attached import attached, ended, is_type, until


def elsewhere(project, script, resume: str | None = None) -> Session:
    """A session that somebody else has open: it has its own connection, and the lease."""
    import os

    flags = {"model.provider": "scripted"}
    return open_session(
        RunOptions(project, os.environ, attended=False, flags=flags, script=script, resume=resume)
    ).session


async def test_a_stream_goes_on_behind_the_last_fact_that_was_seen(project, script):
    async with attached(project, script=script({"text": "one two three"}, {"text": "four"})) as server:
        session = await server.begin("count")
        whole = [event for event in await server.heard(session, ended) if event.id]
        middle = whole[len(whole) // 2].id
        by_query = [event.id for event in await server.heard(session, ended, since=middle) if event.id]
        assert by_query == list(range(middle + 1, whole[-1].id + 1))
        seen = {"last-event-id": str(middle)}
        by_header = [event.id for event in await server.heard(session, ended, headers=seen) if event.id]
        assert by_header == by_query, "the header counts before the query, as browsers send both"

        following = asyncio.create_task(server.heard(session, ended, since=whole[-1].id))
        await server.post(f"/sessions/{session}/inject", {"message": "go on"})
        heard = await following
        assert [event.id for event in heard if event.id] == list(range(whole[-1].id + 1, heard[-1].id + 1))


async def test_previews_have_no_id_and_facts_are_records_of_stream_json(project, script):
    async with attached(project, script=script({"text": "one two three", "pace_ms": 5})) as server:
        session = await server.begin()
        following = asyncio.create_task(server.heard(session, ended))
        await until(lambda: server.hosting.peek(session)._deciders)
        await server.post(f"/sessions/{session}/inject", {"message": "count"})
        heard = await following
        previews = [event for event in heard if event.type == "text-delta"]
        assert "".join(event.data["text"] for event in previews) == "one two three"
        assert {event.id for event in previews} == {0}
        place = previews[0].data
        assert (place["v"], place["session"], place["turn"], place["step"]) == (1, session, 1, 1)
        assert all(
            event.data["seq"] == event.id and event.data["type"] == event.type for event in heard if event.id
        )


async def test_a_number_that_is_none_and_a_session_that_is_not_there_are_refused(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        session = await server.begin()
        assert (await server.get(f"/sessions/{session}/events?since=-1"))["status_code"] == 422
        assert (await server.get(f"/sessions/{session}/events?since=1{'0' * 30}"))["status_code"] == 422
        strange = {"last-event-id": "9" * 30}
        heard = await server.heard(session, is_type("session-started"), headers=strange)
        assert heard[-1].id == 1, "an id that is none counts for nothing"
        head = await server.client.head(f"/sessions/{session}/events")
        assert (head.status_code, head.headers["content-type"], head.content) == (
            200,
            "text/event-stream",
            b"",
        )
        assert (await server.get("/sessions/nope/events"))["status_code"] == 404


async def test_who_reads_nothing_does_not_slow_the_turn_and_is_cut(project, script, monkeypatch):
    monkeypatch.setattr(app, "STALLED", 0.3)
    big = {"text": "x" * 200_000}
    async with attached(project, script=script(big, big, {"text": "Done."}), send_buffer=16_384) as server:
        session = await server.begin()
        host, port = server.url.removeprefix("http://").split(":")
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, int(port)))
        lazy.sendall(f"GET /sessions/{session}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        hosted = server.hosting.peek(session)
        await until(lambda: hosted._deciders)
        for message in ("one", "two", "three"):
            await server.post(f"/sessions/{session}/inject", {"message": message})
            await asyncio.wait_for(hosted.door.idle(), 10)
        assert hosted.door.state.turn == 3
        await until(lambda: not hosted._deciders)
        lazy.close()


async def test_a_session_that_another_process_writes_is_read_as_it_grows_and_nothing_else(project, script):
    replies = script({"text": "First."}, {"text": "Second."})
    other = elsewhere(project, replies)
    other.send(Say((Text("begin"),)))
    await other.idle()
    async with attached(project, script=replies) as server:
        found = await server.get(f"/sessions/{other.id}")
        assert (found["open"], found["answer"]) == (False, "First.")
        assert found["held_by"].startswith("process ")
        for place, body in (
            ("inject", {"message": "me"}),
            ("guardrails/reset", {}),
            ("interrupt", None),
            ("compact", {}),
        ):
            refused = await server.post(f"/sessions/{other.id}/{place}", body)
            assert (refused["status_code"], refused["error"]["kind"]) == (409, "session-locked"), place
            assert refused["error"]["held_by"] == found["held_by"], place
            assert found["held_by"] in refused["error"]["message"]
        assert (await server.get(f"/sessions/{other.id}/tools"))["status_code"] == 409
        assert (await server.get(f"/sessions/{other.id}/usage"))["total"]["requests"] == 1
        following = asyncio.create_task(server.heard(other.id, ended, since=found["seq"]))
        other.send(Say((Text("go on"),)))
        heard = await following
        assert heard[-1].data["outcome"] == "completed"
        following = asyncio.create_task(
            server.heard(other.id, is_type("operator-message"), since=heard[-1].id)
        )
        await other.close()
        told = await server.post(f"/sessions/{other.id}/inject", {"message": "mine now"})
        assert told["queued"] is False
        taken = await following
        assert taken[-1].data["content"][0]["text"] == "mine now", "who followed it is told from here on"


async def test_a_follower_is_told_of_the_end_when_the_server_stops(project, script):
    async with attached(project, script=script({"text": "slow " * 50, "pace_ms": 100})) as server:
        session = await server.begin("go")
        following = asyncio.create_task(server.heard(session, is_type("session-ended")))
        await server.heard(session, is_type("text-delta"))
        server.stop.set()
        heard = await following
        assert [event.type for event in heard if event.id][-2:] == ["turn-error", "session-ended"]
    again = elsewhere(project, script({"text": "Hi."}), session)
    assert again.state.ending is not None
    assert again.state.ending.outcome == "interrupted"
    await again.close()


async def test_only_so_many_streams_are_followed(project, script):
    from agent_cli.server.door import Terms

    async with attached(project, terms=Terms(streams=1), script=script({"text": "Hi."})) as server:
        session = await server.begin()
        async with server.client.stream("GET", f"/sessions/{session}/events") as first:
            lines = first.aiter_lines()
            await anext(lines)
            refused = await server.get(f"/sessions/{session}/events")
            assert (refused["status_code"], refused["error"]["kind"]) == (503, "too-many-streams")
            health = await server.client.get("/metrics")
            assert "agent_cli_event_streams 1" in health.text
        await until(lambda: server.counters.streams == 0)
        assert "agent_cli_event_streams 0" in (await server.client.get("/metrics")).text


async def test_a_client_that_goes_away_leaves_nothing_behind(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        session = await server.begin()
        async with (
            httpx2.AsyncClient(base_url=server.url) as other,
            other.stream("GET", f"/sessions/{session}/events") as answer,
        ):
            lines = answer.aiter_lines()
            await anext(lines)
            await until(lambda: server.hosting.peek(session)._deciders)
        await until(lambda: not server.hosting.peek(session)._deciders)


async def test_what_is_asked_while_the_server_stops_is_refused(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        server.hosting.stopping = True
        assert (await server.client.get("/healthz")).status_code == 503
        assert (await server.post("/sessions", {}))["error"]["kind"] == "stopping"
        opened = await server.archive.begin(Wish())
        with pytest.raises(Refused, match="being stopped"):
            await server.hosting._taken(opened)
        assert server.archive.holder(opened.door.id) == "", "what was opened meanwhile is let go"
