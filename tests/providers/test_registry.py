from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers.anthropic import Anthropic
from agent_cli.providers.echo import Echo
from agent_cli.providers.gemini import Gemini
from agent_cli.providers.openai import OpenAI
from agent_cli.providers.registry import Endpoint, Registry
from agent_cli.providers.responses import Responses
from tests.fakes.http_server import FakeService, Say
from tests.providers.families import answer_of

KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
GEMINI = {"GEMINI_API_KEY": "k"}
NOBODY: dict[str, str] = {}


class Local:
    """Embedded models as the registry sees them."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def open_local(self, name: str | None = None) -> OpenModel:
        return OpenModel(
            Echo(), ModelCard(id=name or self.names[0], provider="local", free=True, profile="compact")
        )

    def installed(self) -> list[str]:
        return self.names


def opened(name: str, environ: dict[str, str] | None = None, **options: Any) -> OpenModel:
    return Registry(KEYS if environ is None else environ, **options).open(name)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("claude-opus-5", "anthropic", "claude-opus-5"),
        ("Claude-Haiku-4.5", "anthropic", "claude-haiku-4-5"),
        ("claude-haiku-4-5-20251001", "anthropic", "claude-haiku-4-5-20251001"),
        ("anthropic/claude-sonnet-5", "anthropic", "claude-sonnet-5"),
        ("anthropic:claude-sonnet-5", "anthropic", "claude-sonnet-5"),
        ("gpt-5.2", "openai", "gpt-5.2"),
        ("openai/gpt-4.1", "openai", "gpt-4.1"),
        ("o3", "openai", "o3"),
        ("Gemini-3.7-Flash", "gemini", "gemini-3.7-flash"),
        ("gemini/gemini-3.5-flash-lite", "gemini", "gemini-3.5-flash-lite"),
        ("models/gemini-2.5-pro", "gemini", "gemini-2.5-pro"),
        ("claude-opus-9", "anthropic", "claude-opus-9"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
        ("vllm:org/model", "vllm", "org/model"),
        ("echo", "echo", "echo"),
        ("scripted", "scripted", "scripted"),
    ],
)
def test_a_name_says_whose_model_it_is(name: str, provider: str, model: str):
    found = opened(name, {**KEYS, **GEMINI})
    assert (found.provider.name, found.card.id) == (provider, model)


def test_a_snapshot_keeps_its_name_and_has_its_models_price():
    card = opened("claude-haiku-4-5-20251001").card
    assert card.prices
    assert card.window == 200_000


@pytest.mark.parametrize(
    ("name", "environ", "options", "words"),
    [
        ("claude-opus-5", NOBODY, {}, "Set ANTHROPIC_API_KEY"),
        ("gpt-5.2", {"ANTHROPIC_API_KEY": "k"}, {}, "Set OPENAI_API_KEY"),
        ("openrouter/x", KEYS, {}, "Set OPENROUTER_API_KEY"),
        ("gemini-3.7-flash", KEYS, {}, "Set GEMINI_API_KEY"),
        ("claude-opsu-5", KEYS, {}, "Did you mean claude-opus-5"),
        ("anthropic/claude-opsu-5", KEYS, {}, "Did you mean claude-opus-5"),
        ("gpt5", KEYS, {}, "Did you mean gpt-5"),
        ("qwen3:8b", KEYS, {}, "or with --base-url URL"),
        ("", KEYS, {}, "empty"),
        ("bedrock/anything", KEYS, {}, "cannot talk to yet"),
        ("x", KEYS, {"provider": "nowhere"}, "There is no provider 'nowhere'"),
        ("claude-opus-5", {"ANTHROPIC_API_KEY": "kö"}, {}, "ANTHROPIC_API_KEY holds characters"),
        ("claude-opus-5", KEYS, {"base_url": "localhost:8000"}, "has to begin with http"),
        ("scripted", KEYS, {"script": Path("/nowhere/x.jsonl")}, "cannot be read"),
        ("claude-opus-5", KEYS, {"overrides": {"claude-opus-5": {"widow": 1}}}, "widow"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(
    name: str, environ: dict[str, str], options: dict[str, Any], words: str
):
    with pytest.raises(ConfigError, match=words):
        opened(name, environ, **options)


def test_a_stranger_is_taken_where_provider_or_address_are_given():
    flagged = opened("qwen3:8b", provider="openai")
    assert (flagged.provider.name, flagged.card) == ("openai", ModelCard(id="qwen3:8b", provider="openai"))
    assert opened("qwen3:8b", NOBODY, provider="openai", base_url="http://localhost:1/v1").card.window is None
    elsewhere = {"OPENAI_BASE_URL": "http://localhost:11434/v1"}
    assert opened("qwen3:8b", elsewhere).provider.name == "openai"
    assert opened("openai/qwen3:8b", elsewhere).card.prices == ()
    with pytest.raises(ConfigError, match="no model that is known"):
        opened("qwen3:8b", {**elsewhere, "ANTHROPIC_BASE_URL": "http://localhost:2"})


def test_an_address_without_a_provider_is_a_service_that_speaks_like_openai():
    url = "http://localhost:1/v1"
    for name in ("qwen3", "qwen3:8b", "Qwen/Qwen3-8B"):
        for environ in (KEYS, NOBODY, {"ANTHROPIC_BASE_URL": "http://localhost:2"}):
            found = opened(name, environ, base_url=url)
            assert (found.provider.name, found.card.id, found.endpoint) == ("openai", name, url)
    assert opened("claude-opus-5", base_url=url).provider.name == "anthropic"


def test_an_address_is_that_of_the_endpoint_that_the_run_is_about_and_of_no_other():
    url = "http://localhost:1/v1"
    registry = Registry({**KEYS, "OPENROUTER_API_KEY": "k"}, base_url=url)
    registry.aim("ollama/qwen3")
    assert registry.open("ollama/qwen3").endpoint == url
    assert registry.open("ollama/other").endpoint == url
    assert registry.open("openrouter/x").endpoint == "https://openrouter.ai/api/v1"
    assert registry.open("claude-opus-5").endpoint == "https://api.anthropic.com"
    with pytest.raises(ConfigError, match="no model that is known"):
        registry.open("qwen3")


def test_a_vendors_name_is_part_of_the_name_at_an_endpoint():
    router = opened("anthropic/claude-sonnet-5", {"OPENROUTER_API_KEY": "k"}, provider="openrouter")
    assert (router.provider.name, router.card.id) == ("openrouter", "anthropic/claude-sonnet-5")
    assert router.card.prices
    assert router.card.window == 1_000_000
    again = opened("openrouter/anthropic/claude-sonnet-5", {"OPENROUTER_API_KEY": "k"}, provider="openrouter")
    assert again.card == router.card
    own = opened("mine/claude-sonnet-5", KEYS, endpoints={"mine": Endpoint("http://localhost:1/v1")})
    assert own.card.prices == (), "what an endpoint of one's own costs, only config knows"


@pytest.mark.parametrize(
    ("typed", "provider", "model"),
    [
        ("big", "anthropic", "claude-opus-5"),
        ("anthropic/Big", "anthropic", "claude-opus-5"),
        ("work/large", "work", "large-2"),
        ("house", "work", "house-1"),
    ],
)
def test_config_gives_aliases_and_a_tier(typed: str, provider: str, model: str):
    overrides = {
        "claude-opus-5": {"aliases": ["big"], "tier": "mid"},
        "large-2": {"aliases": ["large"], "tier": "mid"},
        "work/house-1": {"aliases": ["house"], "tier": "mid"},
    }
    card = opened(typed, overrides=overrides, endpoints={"work": Endpoint("http://127.0.0.1:1/v1")}).card
    assert (card.provider, card.id, card.tier) == (provider, model, "mid")


def test_window_and_overrides():
    assert opened("claude-opus-5", context_window=9_000).card.window == 9_000
    assert opened("echo", context_window=9_000).card.window == 9_000
    assert opened(
        "echo", overrides={"echo": {"free": False, "prices": [{"input": 1, "output": 1}]}}
    ).card.prices


def test_an_opened_model_is_opened_once():
    registry = Registry(KEYS)
    assert registry.open("claude-opus-5") is registry.open("claude-opus-5")


@pytest.mark.parametrize(
    ("environ", "options", "name"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, {}, "claude-opus-5"),
        ({"ANTHROPIC_AUTH_TOKEN": "k"}, {}, "claude-opus-5"),
        ({"OPENAI_API_KEY": "k"}, {}, "gpt-5.2"),
        (GEMINI, {}, "gemini-3.7-flash"),
        ({"GOOGLE_API_KEY": "k", **GEMINI}, {}, "gemini-3.7-flash"),
        ({**KEYS, **GEMINI}, {"provider": "gemini"}, "gemini-3.7-flash"),
        (KEYS, {"provider": "openai"}, "gpt-5.2"),
        (NOBODY, {"provider": "echo"}, "echo"),
        (NOBODY, {"provider": "ollama"}, None),
        (NOBODY, {"local": Local("tiny")}, "local"),
        (NOBODY, {"local": Local()}, None),
        ({"ANTHROPIC_API_KEY": " "}, {"local": Local()}, None),
    ],
)
def test_the_default_is_what_there_is(environ: dict[str, str], options: dict[str, Any], name: str | None):
    assert Registry(environ, **options).default_name() == name


def test_two_keys_leave_it_open():
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY and OPENAI_API_KEY are "):
        Registry(KEYS).default_name()


def test_the_keys_that_are_set_are_named():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY and GOOGLE_API_KEY are set"):
        Registry({"OPENAI_API_KEY": "k", "GOOGLE_API_KEY": "k"}).default_name()


@pytest.mark.parametrize(
    ("environ", "path", "key"),
    [
        ({"GEMINI_API_KEY": "mine"}, "/v1beta", "mine"),
        ({"GEMINI_API_KEY": "mine", "GOOGLE_API_KEY": "wins"}, "/v1beta", "wins"),
        ({"GEMINI_API_KEY": "mine", "base": "/v1alpha/"}, "/v1alpha", "mine"),
        ({"GEMINI_API_KEY": "mine", "base": "/proxy"}, "/proxy/v1beta", "mine"),
    ],
)
async def test_which_key_and_which_address_gemini_has(environ: dict[str, str], path: str, key: str):
    async with FakeService([Say("Hi.")]) as service:
        base = f"{service.url}{environ.get('base', '')}"
        registry = Registry({**environ, "GOOGLE_GEMINI_BASE_URL": base})
        await answer_of(registry.open("gemini-3.7-flash"))
        await registry.close()
    assert service.requests[0].path == f"{path}/models/gemini-3.7-flash:streamGenerateContent?alt=sse"
    assert service.requests[0].headers["x-goog-api-key"] == key


@pytest.mark.parametrize(
    ("base", "family"),
    [
        ("", Responses),
        ("https://api.openai.com/v1/", Responses),
        ("https://eu.api.openai.com/v1", Responses),
        ("https://api.openai.com.example/v1", OpenAI),
        ("https://example.com/api.openai.com/v1", OpenAI),
        ("http://localhost:11434/v1", OpenAI),
    ],
)
def test_openai_itself_gets_responses_and_everybody_else_chat_completions(base: str, family: type):
    assert type(opened("gpt-5.2", {**KEYS, "OPENAI_BASE_URL": base}).provider) is family


@pytest.mark.parametrize(
    ("api", "family"),
    [("chat", OpenAI), ("responses", Responses), ("messages", Anthropic), ("gemini", Gemini)],
)
def test_an_endpoint_says_what_it_speaks(api: Any, family: type):
    found = opened("mine/some-model", endpoints={"mine": Endpoint("http://localhost:1/v1", api=api)})
    assert type(found.provider) is family
    assert found.provider.name == "mine"


def test_embedded_models():
    registry = Registry(NOBODY, local=Local("tiny", "other"))
    assert registry.open("local").card.profile == "compact"
    assert registry.open("local:other").card.id == "other"
    assert registry.open("local/other").card.id == "other"


async def test_tokens_go_as_a_bearer_and_endpoints_have_headers_of_their_own():
    async with FakeService([Say("Hi.")]) as service:
        registry = Registry(
            {"ANTHROPIC_AUTH_TOKEN": "token", "MY_KEY": "mine"},
            base_url=f"{service.url}/v1/",
            endpoints={"mine": Endpoint(service.url, "MY_KEY", "messages", {"x-team": "blue"})},
        )
        await answer_of(registry.open("claude-opus-5"))
        await answer_of(registry.open("mine/claude-opus-5"))
        await registry.close()
    first, second = service.requests
    assert first.path == second.path == "/v1/messages"
    assert first.headers["authorization"] == "Bearer token"
    assert "x-api-key" not in first.headers
    assert (second.headers["x-api-key"], second.headers["x-team"]) == ("mine", "blue")


def test_only_what_is_used_is_loaded():
    code = (
        "import sys; from agent_cli.providers.registry import Registry\n"
        "Registry({'OPENAI_API_KEY': 'k'}).open('gpt-5.2')\n"
        "heavy = {'httpx2', 'anthropic', 'openai', 'google', 'pydantic', 'json', 'h11'}\n"
        "print(sorted(heavy & set(sys.modules)), 'agent_cli.providers.anthropic' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[0] == "[] False"


async def test_what_config_says_of_a_vendor_changes_only_that():
    async with FakeService([Say("Hi.")]) as service:
        rows = {
            "openai": Endpoint(f"{service.url}/v1", "WORK_KEY", "responses", {"x-team": "blue"}),
            "openrouter": Endpoint(headers={"x-title": "mine"}),
        }
        registry = Registry(
            {"WORK_KEY": "w", "OPENAI_API_KEY": "other", "OPENROUTER_API_KEY": "r"}, endpoints=rows
        )
        await answer_of(registry.open("gpt-5.2"))
        router = registry.open("openrouter/x")
        await registry.close()
    request = service.requests[0]
    assert request.path == "/v1/responses"
    assert (request.headers["authorization"], request.headers["x-team"]) == ("Bearer w", "blue")
    assert router.endpoint == "https://openrouter.ai/api/v1"
    with pytest.raises(ConfigError, match="Set WORK_KEY"):
        opened("gpt-5.2", {"OPENAI_API_KEY": "k"}, endpoints={"openai": Endpoint(key_env="WORK_KEY")})


@pytest.mark.parametrize(
    ("environ", "options", "name"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, {}, "claude-haiku-4-5"),
        (GEMINI, {}, "gemini-3.5-flash-lite"),
        (KEYS, {"provider": "vertex"}, "gemini-3.5-flash-lite"),
        (KEYS, {"provider": "anthropic-vertex"}, "claude-haiku-4-5"),
        (KEYS, {"tiers": {"small": "ollama/tiny"}}, "ollama/tiny"),
        ({"OPENAI_API_KEY": "k"}, {"tiers": {"small": "gpt-4.1-mini"}}, "gpt-4.1-mini"),
    ],
)
def test_a_size_instead_of_a_name(environ: dict[str, str], options: dict[str, Any], name: str):
    assert Registry(environ, **options).default_name("small") == name


def test_a_size_that_nobody_named():
    with pytest.raises(ConfigError, match=r"No mid model of openai is known.*model\.tiers\.mid"):
        Registry({"OPENAI_API_KEY": "k"}, tiers={"small": "x"}).default_name("mid")


def test_models_of_one_address_share_its_endpoint():
    registry = Registry({**KEYS, **GEMINI})
    assert registry.open("claude-opus-5").endpoint == registry.open("claude-haiku-4-5").endpoint
    assert registry.open("gemini-3.7-flash").endpoint == "https://generativelanguage.googleapis.com"
