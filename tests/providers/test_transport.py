from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import aclosing

import pytest

from agent_cli.kernel.errors import (
    ConfigError,
    ConnectionFailed,
    GarbledResponse,
    Overloaded,
    RequestRefused,
    StreamCut,
)
from agent_cli.kernel.events import TextDelta
from agent_cli.kernel.messages import Text
from agent_cli.providers.registry import URLS, Registry
from tests.fakes.http_server import Raw, Say
from tests.fakes.pace import slowness
from tests.providers.families import MODELS, answer_of, asking, both, every, serving

KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
ENDS = (
    *("message_stop", "message_delta", '"finish_reason": "stop"', "[DONE]"),
    *("finishReason", "response.completed"),
)
HTML = Raw(200, b"<html><body>Please log in to the network</body></html>", {"content-type": "text/html"})


@every
async def test_connections_are_used_again(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        for _ in range(3):
            await answer_of(model)
    assert {request.connection for request in service.requests} == {1}


@every
@pytest.mark.parametrize("after", [0, 1, 4])
async def test_a_connection_that_drops_is_a_cut_stream(family: str, after: int):
    async with serving(family, Say("A long answer, cut.", size=2, cut=after)) as (_, model):
        with pytest.raises((StreamCut, ConnectionFailed)) as caught:
            await answer_of(model)
    assert caught.value.retryable


@every
async def test_a_stream_without_its_terminal_event_is_cut_after_its_pieces(family: str):
    endless = Say("Hello.", leave_out=ENDS)
    async with serving(family, endless) as (_, model):
        shown: list[object] = []
        with pytest.raises(StreamCut, match="before it was complete"):
            async for piece in model.provider.stream(asking(model)):
                shown.append(piece)
    assert any(isinstance(piece, TextDelta) for piece in shown)


@both
async def test_a_stream_that_said_why_it_stopped_is_complete(family: str):
    async with serving(family, Say("Hello.", leave_out=("message_stop", "[DONE]"))) as (_, model):
        assert (await answer_of(model)).parts == (Text("Hello."),)


@every
async def test_no_first_byte(family: str):
    slow = Raw(delay=30)
    async with serving(family, slow, first_byte_timeout=0.05) as (_, model):
        with pytest.raises(ConnectionFailed, match=r"sent nothing for 0\.05 s"):
            await answer_of(model)


@every
async def test_a_head_without_a_body_is_no_first_byte(family: str):
    async with serving(family, Say("Hi.", stall=0), first_byte_timeout=0.05) as (_, model):
        with pytest.raises(ConnectionFailed, match=r"sent nothing for 0\.05 s"):
            await answer_of(model)


@every
async def test_a_stream_that_falls_silent(family: str):
    async with serving(family, Say("Hello there.", size=2, stall=4), stall_timeout=0.05) as (service, model):
        with pytest.raises(ConnectionFailed, match=r"sent nothing for 0\.05 s"):
            await answer_of(model)
        await asyncio.wait_for(service.gone.wait(), 20)


@every
async def test_leaving_the_iterator_closes_the_connection_at_once(family: str):
    async with serving(family, Say("Hello there.", size=2, stall=5)) as (service, model):
        async with aclosing(model.provider.stream(asking(model))) as stream:
            async for piece in stream:
                if isinstance(piece, TextDelta):
                    break
        await asyncio.wait_for(service.gone.wait(), 20)


@every
async def test_cancelling_closes_the_connection_at_once(family: str):
    async with serving(family, Say("Hello there.", size=2, stall=5)) as (service, model):
        seen = asyncio.Event()

        async def listen() -> None:
            async for piece in model.provider.stream(asking(model)):
                if isinstance(piece, TextDelta):
                    seen.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(seen.wait(), 20)
        task.cancel()
        begun = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(service.gone.wait(), 20)
        assert time.monotonic() - begun < 1 * slowness()


@every
async def test_another_page_at_that_address(family: str):
    async with serving(family, HTML) as (service, model):
        with pytest.raises(GarbledResponse) as caught:
            await answer_of(model)
    told = str(caught.value)
    assert "Please log in" in told
    assert "text/html" in told
    assert service.url in told
    assert not caught.value.retryable


@every
async def test_an_error_page_of_a_proxy_is_an_overload(family: str):
    page = Raw(502, b"<html>Bad gateway</html>", {"content-type": "text/html"})
    async with serving(family, page) as (_, model):
        with pytest.raises(Overloaded, match="Bad gateway"):
            await answer_of(model)


@every
async def test_a_redirect_is_not_followed(family: str):
    async with serving(family, Raw(307, b"", {"location": "http://127.0.0.1:9/"})) as (service, model):
        with pytest.raises(GarbledResponse, match="redirects"):
            await answer_of(model)
    assert len(service.requests) == 1


@every
async def test_an_answer_in_one_piece_is_no_stream(family: str):
    async with serving(family, Raw(200, {"choices": [{"message": {"content": "Hi."}}]})) as (_, model):
        with pytest.raises(GarbledResponse, match="choices"):
            await answer_of(model)


@every
async def test_an_error_in_a_good_answer_is_an_error(family: str):
    body = {"error": {"type": "invalid_request_error", "message": "no such thing"}}
    async with serving(family, Raw(200, body)) as (_, model):
        with pytest.raises(RequestRefused, match="no such thing"):
            await answer_of(model)


@every
async def test_an_event_that_is_no_json(family: str):
    async with serving(family, Raw(200, b'data: {"broken": \n\n', {"content-type": "text/event-stream"})) as (
        _,
        model,
    ):
        with pytest.raises(GarbledResponse, match="no JSON") as problem:
            await answer_of(model)
        told = str(problem.value)
        assert "http://127.0.0.1:" in told
        assert "check the address" in told


@every
async def test_events_under_a_wrong_content_type_are_events(family: str):
    stream = {
        "anthropic": b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
        "openai": b'data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\n',
        "gemini": b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
        "responses": b'data: {"type":"response.completed","response":{"status":"completed"}}\n\n',
    }[family]
    async with serving(family, Raw(200, stream, {"content-type": "text/plain"})) as (_, model):
        assert (await answer_of(model)).finish_reason == "stop"


@pytest.mark.parametrize("family", ["anthropic", "openai", "gemini"])
async def test_nobody_listens(family: str):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    registry = Registry(KEYS, base_url=url)
    with pytest.raises(ConnectionFailed) as caught:
        await answer_of(registry.open(MODELS[family]))
    await registry.close()
    told = str(caught.value)
    assert url in told
    assert os.strerror(111) in told or "Connect call failed" in told
    assert URLS[family] in told


@pytest.mark.parametrize("family", ["anthropic", "openai", "gemini"])
async def test_an_address_that_is_none(family: str):
    registry = Registry(KEYS, base_url="http://[::1")
    with pytest.raises(ConfigError, match=r"Check the address"):
        await answer_of(registry.open(MODELS[family]))
    await registry.close()


@every
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
async def test_other_line_ends_comments_and_torn_chunks(family: str, newline: str):
    odd = Say("Grüße 🙂.", newline=newline, comments=True, tear=True, thinking="Hm.")
    async with serving(family, odd) as (_, model):
        assert (await answer_of(model)).parts[1] == Text("Grüße 🙂.")
