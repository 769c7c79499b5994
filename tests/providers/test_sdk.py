"""The vendors' own clients under the same encoders and decoders: what goes out and comes in is the same."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import (
    AgentError,
    AuthFailed,
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    GarbledResponse,
    Overloaded,
    RateLimited,
    StreamCut,
)
from agent_cli.kernel.events import TextDelta
from agent_cli.kernel.messages import text_of
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http
from agent_cli.providers.registry import Registry
from agent_cli.providers.sdk import SdkTransport
from agent_cli.providers.vendors import Endpoint
from tests.fakes.http_server import FakeService, Raw, Say
from tests.fakes.vertex_wire import account_file
from tests.providers.families import (
    MODELS,
    answer_of,
    answered,
    asking,
    call,
    pieces_of,
    result,
    said,
    serving,
)

vendors = pytest.mark.parametrize("family", ["anthropic", "gemini"])
RICH = Say("Grüße 🙂.", thinking="Hm, ja.", calls=(("read_file", '{"path": "ä", "n": [1, null, 2.5]}'),))
EVENTS = {"content-type": "text/event-stream"}
PLACE = {"GOOGLE_CLOUD_PROJECT": "my-project", "GOOGLE_CLOUD_LOCATION": "europe-west1"}


@vendors
async def test_the_same_bytes_give_the_same_message_and_the_same_request(family: str):
    talk = (said("Hello?"), answered(call("c1")), said("and?"))
    told = [said("Hello?"), answered(call("c1")), said("x")]
    told[2] = type(told[2])("user", (result("c1"), *talk[2].parts))
    async with serving(family, RICH) as (ours, model):
        expected = await pieces_of(model, asking(model, *told, effort="low", max_output=900))
    async with serving(family, RICH, transport="sdk") as (theirs, model):
        found = await pieces_of(model, asking(model, *told, effort="low", max_output=900))
        await answer_of(model)
    assert found == expected
    assert theirs.requests[0].body == ours.requests[0].body
    assert len({request.connection for request in theirs.requests}) == 1, "connections are used again"
    names = ("x-api-key", "authorization", "anthropic-version", "x-goog-api-key", "anthropic-beta")
    assert [theirs.requests[0].headers.get(name) for name in names] == [
        ours.requests[0].headers.get(name) for name in names
    ]


@vendors
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
async def test_other_line_ends_comments_and_torn_chunks(family: str, newline: str):
    odd = Say("Grüße 🙂.", newline=newline, comments=True, tear=True, thinking="Hm.")
    async with serving(family, odd, transport="sdk") as (_, model):
        assert text_of((await answer_of(model)).parts) == "Grüße 🙂."


FAULTS: list[tuple[Raw | Say, type[AgentError], str]] = [
    (Raw(429, {"error": {"message": "slow", "code": 429}}, {"retry-after": "7"}), RateLimited, "slow"),
    (Raw(529, {"error": {"message": "busy", "type": "overloaded_error"}}), Overloaded, "busy"),
    (Raw(502, b"<html>Bad gateway</html>", {"content-type": "text/html"}), Overloaded, "Bad gateway"),
    (Raw(401, {"error": {"message": "no", "type": "authentication_error"}}), AuthFailed, "refused the key"),
    (
        Raw(400, {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}),
        ContextOverflow,
        "does not fit",
    ),
    (Raw(307, b"", {"location": "http://127.0.0.1:9/"}), GarbledResponse, "redirects"),
    (Raw(200, b"<html>Log in</html>", {"content-type": "text/html"}), GarbledResponse, "Gemini|text/html"),
    (Raw(200, b"event: message_start\ndata: {broken\n\n", EVENTS), GarbledResponse, "could not read"),
    (Say("A long answer.", size=2, cut=4), StreamCut, "before its answer was complete"),
    (Say("Hello.", leave_out=("message_stop", "message_delta", "finishReason")), StreamCut, "was complete"),
    (Raw(delay=30), ConnectionFailed, r"sent nothing for 0\.9 s"),
    (Say("Hello there.", size=2, stall=4), ConnectionFailed, r"sent nothing for 0\.3 s"),
]


@vendors
async def test_what_the_client_raises_becomes_ours_and_nothing_is_sent_twice(family: str):
    for reply, kind, words in FAULTS:
        limits = {
            "first_byte_timeout": 0.9 if isinstance(reply, Raw) and reply.delay else 9,
            "stall_timeout": 0.3,
        }
        async with serving(family, reply, transport="sdk", **limits) as (service, model):
            with pytest.raises(kind, match=words) as caught:
                await answer_of(model)
        assert len(service.requests) == 1, reply
        if kind is RateLimited:
            assert getattr(caught.value, "retry_after", None) == 7


@pytest.mark.parametrize(
    ("family", "body"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}),
    ],
)
async def test_an_error_inside_a_stream(family: str, body: dict[str, Any]):
    named = "event: error\n" if family == "anthropic" else ""
    stream = f"{named}data: {json.dumps(body)}\n\n".encode()
    async with serving(family, Raw(200, stream, EVENTS), transport="sdk") as (_, model):
        with pytest.raises(Overloaded, match="busy"):
            await answer_of(model)


@vendors
async def test_leaving_and_cancelling_close_the_connection_at_once(family: str):
    reply = Say("Hello there.", size=2, stall=5)
    async with serving(family, reply, transport="sdk") as (service, model):
        async with aclosing(model.provider.stream(asking(model))) as stream:
            async for piece in stream:
                if isinstance(piece, TextDelta):
                    break
        await asyncio.wait_for(service.gone.wait(), 5)
        service.gone.clear()
        seen = asyncio.Event()

        async def listen() -> None:
            async for piece in model.provider.stream(asking(model)):
                if isinstance(piece, TextDelta):
                    seen.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(seen.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(service.gone.wait(), 5)


async def test_loading_the_client_is_no_silence_of_the_service():
    class Loading:
        async def open(self, http: Http, /) -> None:
            await asyncio.sleep(0.2)

        async def stream(
            self, http: Http, body: Any, headers: Any, /
        ) -> AsyncGenerator[dict[str, Any], None]:
            yield {"heard": body}

        def meaning(self, http: Http, model: str, problem: Exception, /) -> AgentError | None:
            return None

        def close(self) -> None: ...

    http = Http(Service("Nobody", "http://127.0.0.1:9"), {}, first_byte_timeout=0.1, stall_timeout=0.1)
    transport = SdkTransport(http, Loading())
    async with transport.post(b'{"a": 1}', "m") as answer:
        assert [event async for event in answer.events()] == [[{"heard": {"a": 1}}]]
    await transport.close()


@vendors
async def test_nobody_listens(family: str):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    keys = {"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}
    registry = Registry(keys, base_url=url, transport="sdk")
    with pytest.raises(ConnectionFailed, match="Cannot reach"):
        await answer_of(registry.open(MODELS[family]))
    await registry.close()


async def test_without_a_key_the_client_looks_for_credentials_itself(monkeypatch: Any, tmp_path: Path):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    registry = Registry({}, transport="sdk")
    with pytest.raises(ConfigError, match="found no credentials"):
        await answer_of(registry.open("claude-opus-5"))
    await registry.close()
    with pytest.raises(ConfigError, match="Set GEMINI_API_KEY"):
        Registry({}, transport="sdk").open("gemini-3.7-flash")


@pytest.mark.parametrize(
    ("name", "variable", "path"),
    [
        (
            "vertex/gemini-3.7-flash",
            "GOOGLE_VERTEX_BASE_URL",
            (
                "/v1beta1/projects/my-project/locations/europe-west1/publishers/google/models/"
                "gemini-3.7-flash:streamGenerateContent?alt=sse"
            ),
        ),
        (
            "anthropic-vertex/claude-opus-5",
            "ANTHROPIC_VERTEX_BASE_URL",
            (
                "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/"
                "claude-opus-5:streamRawPredict"
            ),
        ),
    ],
)
async def test_vertex_with_a_service_account(
    name: str, variable: str, path: str, monkeypatch: Any, tmp_path: Path
):
    async with FakeService([RICH, Raw(403, {"error": {"message": "no"}})]) as service:
        file = account_file(tmp_path, f"{service.url}/token")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        registry = Registry({**PLACE, variable: service.url})
        model = registry.open(name)
        finished = await answer_of(model)
        with pytest.raises(AuthFailed, match="gcloud auth application-default login"):
            await answer_of(model)
        await registry.close()
    assert service.violations == []
    assert [request.path for request in service.requests] == ["/token", path, path]
    assert finished.finish_reason == "tool-calls"
    assert {part.provider for part in finished.parts if hasattr(part, "provider")} == {name.partition("/")[0]}
    assert model.card.prices
    assert model.endpoint == service.url


async def test_vertex_without_credentials(monkeypatch: Any, tmp_path: Path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nowhere.json"))
    registry = Registry(PLACE)
    for name in ("vertex/gemini-3.7-flash", "anthropic-vertex/claude-opus-5"):
        with pytest.raises(ConfigError, match="no Google credentials for Vertex AI"):
            await answer_of(registry.open(name))
    await registry.close()


@pytest.mark.parametrize(
    ("name", "environ", "row", "words"),
    [
        ("vertex/gemini-3.7-flash", {}, Endpoint(), "Set GOOGLE_CLOUD_PROJECT, or providers.vertex.project"),
        ("vertex/gemini-3.7-flash", {}, Endpoint(project="p"), "Set GOOGLE_CLOUD_LOCATION"),
        ("vertex/claude-opus-5", PLACE, Endpoint(), "is anthropic-vertex/claude-opus-5 on Vertex AI"),
        ("anthropic-vertex/gemini-3.7-flash", PLACE, Endpoint(), "is vertex/gemini-3.7-flash on Vertex AI"),
    ],
)
def test_what_vertex_lacks(name: str, environ: dict[str, str], row: Endpoint, words: str):
    with pytest.raises(ConfigError, match=words):
        Registry(environ, endpoints={"vertex": row}).open(name)


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("global", "https://aiplatform.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("us-east5", "https://us-east5-aiplatform.googleapis.com"),
    ],
)
def test_where_vertex_is(location: str, address: str):
    row = Endpoint(project="p", location=location)
    opened = Registry({}, provider="anthropic-vertex", endpoints={"vertex": row}).open("claude-opus-5")
    assert opened.endpoint == address
    assert (opened.card.provider, opened.provider.name) == ("anthropic-vertex", "anthropic-vertex")
