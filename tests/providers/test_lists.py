"""What services say of their own models, and how the table takes it."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent_cli.cli.entry import run
from agent_cli.kernel.errors import AuthFailed, ConfigError, ConnectionFailed, GarbledResponse, ProviderError
from agent_cli.providers import catalog, lists, refreshed
from agent_cli.providers.refreshed import Listed, Service
from agent_cli.providers.registry import Registry


class Lists:
    """A service on loopback. `pages` are bodies by path; a list of them is given out in order."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                where = urlsplit(self.path)
                given = {name.lower(): value for name, value in self.headers.items()}
                owner.asked.append((where.path, parse_qs(where.query), given))
                status, body = owner.answer(where.path)
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def answer(self, path: str) -> tuple[int, bytes]:
        held = self.pages.get(path, (404, b"not here"))
        if isinstance(held, list):
            held = held.pop(0)
        return held if isinstance(held, tuple) else (200, json.dumps(held).encode())

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def service() -> Iterator[Lists]:
    held = Lists()
    yield held
    held.close()


@pytest.fixture
def environ(service: Lists) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "key-a",
        "OPENAI_API_KEY": "key-o",
        "GEMINI_API_KEY": "key-g",
        "ANTHROPIC_BASE_URL": service.url,
        "OPENAI_BASE_URL": f"{service.url}/v1",
        "GOOGLE_GEMINI_BASE_URL": service.url,
    }


ANTHROPIC = [
    {
        "data": [{"id": "claude-opus-5", "max_input_tokens": 900_000, "max_tokens": 99_000}],
        "has_more": True,
        "last_id": "claude-opus-5",
    },
    {"data": [{"id": "claude-new-7", "max_input_tokens": 5_000, "max_tokens": 0}, "odd"], "has_more": False},
]
OPENAI = {"data": [{"id": "gpt-5.2"}, {"id": "gpt-9"}, {"id": "gpt-4o-audio-preview"}, {"id": "whisper-1"}]}
GEMINI = [
    {
        "models": [
            {
                "name": "models/gemini-3.7-flash",
                "inputTokenLimit": 123_456,
                "outputTokenLimit": 7_000,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            },
            {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
        ],
        "nextPageToken": "more",
    },
    {"models": [{"name": "models/gemini-3.1-flash-tts", "inputTokenLimit": 1}]},
]


def fill(service: Lists) -> None:
    service.pages = {
        "/v1beta/models": [dict(page) for page in GEMINI],
        "/v1/models": [*(dict(page) for page in ANTHROPIC), OPENAI],
    }


async def ask(environ: dict[str, str], vendor: str) -> tuple[Listed, ...]:
    return await lists.listed(*Registry(environ).line_of(vendor))


async def test_every_service_is_asked_in_its_own_way(service: Lists, environ: dict[str, str]):
    fill(service)
    assert await ask(environ, "anthropic") == (
        Listed("claude-new-7", 5_000),
        Listed("claude-opus-5", 900_000, 99_000),
    )
    assert await ask(environ, "openai") == (Listed("gpt-5.2"), Listed("gpt-9"))
    assert await ask(environ, "gemini") == (Listed("gemini-3.7-flash", 123_456, 7_000),)
    first, second, third, fourth, fifth = service.asked
    assert (first[1], second[1]) == ({"limit": ["1000"]}, {"limit": ["1000"], "after_id": ["claude-opus-5"]})
    assert (first[2]["x-api-key"], first[2]["anthropic-version"]) == ("key-a", "2023-06-01")
    assert third[2]["authorization"] == "Bearer key-o"
    assert (fourth[1], fifth[1]) == (
        {"pageSize": ["1000"]},
        {"pageSize": ["1000"], "pageToken": ["more"]},
    )
    assert fourth[2]["x-goog-api-key"] == "key-g"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((401, b'{"error": {"message": "no"}}'), AuthFailed, "Check that ANTHROPIC_API_KEY"),
        ((404, b""), GarbledResponse, "has no list of models at"),
        ((200, b"<html>Log in</html>"), GarbledResponse, "sent no list of models: 'Log in'"),
        ((200, b"[1]"), GarbledResponse, "sent no list of models"),
        ((200, b"x" * (9 << 20)), GarbledResponse, "has no end"),
    ],
)
async def test_what_goes_wrong_is_said(
    service: Lists, environ: dict[str, str], answer: Any, kind: type[ProviderError], words: str
):
    service.pages = {"/v1/models": answer}
    with pytest.raises(kind, match=words):
        await ask(environ, "anthropic")


async def test_nobody_there_and_lists_without_an_end(service: Lists, environ: dict[str, str]):
    service.pages = {"/v1/models": {"data": [{"id": "claude-x"}], "has_more": True, "last_id": "claude-x"}}
    assert [model.id for model in await ask(environ, "anthropic")] == ["claude-x"]
    assert len(service.asked) == lists.MOST_PAGES
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectionFailed, match="Cannot reach Anthropic"):
        await ask({**environ, "ANTHROPIC_BASE_URL": nobody}, "anthropic")


# ── the file over the table ──


def test_a_refreshed_figure_stands_over_the_table_and_config_over_it(tmp_path: Path):
    path = tmp_path / "state" / refreshed.FILE
    assert refreshed.read(path) == ()
    old = Service("openai", "2026-01-01", "https://x", (Listed("gpt-9"),))
    refreshed.write(path, (old,))
    fresh = Service("anthropic", "2026-02-02", "https://y", (Listed("claude-opus-5", 900_000, 9_000),))
    assert refreshed.write(path, (fresh,)) == (old, fresh) == refreshed.read(path)
    fields = refreshed.over((old, fresh), {"claude-opus-5": {"window": 7_000}})
    card = catalog.card("claude-opus-5", "anthropic", fields)
    assert card is not None
    assert (card.window, card.max_output, bool(card.prices)) == (7_000, 9_000, True)
    assert Registry({"OPENAI_API_KEY": "k"}, overrides=fields).open("gpt-9").card.id == "gpt-9"


def test_a_file_that_is_none_is_said_and_written_anew(tmp_path: Path):
    path = tmp_path / refreshed.FILE
    path.write_text("{}")
    with pytest.raises(ConfigError, match="agent-cli models refresh"):
        refreshed.read(path)
    assert refreshed.write(path, ()) == ()
    assert refreshed.read(path) == ()


def test_what_a_service_lists_is_no_price_at_another_address():
    fields = refreshed.over((Service("anthropic", "", "", (Listed("claude-opus-5", 900_000),)),), {})
    own = Registry({"OPENAI_API_KEY": "k"}, overrides=fields).open("ollama/claude-opus-5").card
    assert (own.prices, own.window) == ((), 900_000)


# ── the command ──


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "home"))
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)

    def asked(**environ: str) -> tuple[int, str, str]:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        code = run(["models", "refresh"])
        said = capfd.readouterr()
        return code, said.out, said.err

    return asked


def test_refresh_asks_who_has_a_key_and_the_list_shows_it(
    command: Any, service: Lists, environ: dict[str, str], capfd: pytest.CaptureFixture[str]
):
    fill(service)
    keys = {name: value for name, value in environ.items() if not name.startswith("OPENAI")}
    code, out, _ = command(**keys)
    assert code == 0
    assert "Anthropic: 2 models, 1 of them new to the table" in out
    assert "OpenAI: not asked, there is no key (OPENAI_API_KEY)" in out
    assert run(["models"]) == 0
    shown = capfd.readouterr().out
    rows = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert "900,000" in rows["claude-opus-5"]
    assert "5,000" in rows["claude-new-7"]
    assert "anthropic" in rows["claude-new-7"]
    assert f"windows and longest answers of anthropic, by {service.url}" in shown
    assert run(["models", "--json"]) == 0
    whole = json.loads(capfd.readouterr().out)
    assert [one["provider"] for one in whole["refreshed"]] == ["anthropic", "gemini"]


def test_a_service_that_fails_leaves_the_others(command: Any, service: Lists, environ: dict[str, str]):
    service.pages = {"/v1beta/models": {"models": []}, "/v1/models": (500, b"broken")}
    code, out, err = command(**environ)
    assert code == 1
    assert "Gemini: 0 models" in out
    assert "Anthropic: Anthropic could not answer just now (500: broken)" in err


def test_without_any_key_nothing_is_asked(command: Any):
    code, _, err = command()
    assert code == 2
    assert "No service was asked. Set a key: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY." in err
