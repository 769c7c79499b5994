"""Providers of third parties: a tiny distribution on the path, as pip would leave it there."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.ports import OpenModel
from agent_cli.providers.registry import Registry
from agent_cli.providers.vendors import Endpoint
from tests.providers.families import answer_of

MODULE = """
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers.echo import Echo

def open_model(environ, model, settings):
    if "ACME_KEY" not in environ:
        raise ConfigError("Set ACME_KEY.")
    card = ModelCard(id=model, provider="acme", window=1000, free=True)
    return OpenModel(Echo(), card, settings.base_url or "https://acme.example")

def breaks(environ, model, settings):
    raise KeyError("acme")

def lies(environ, model, settings):
    return 42
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a distribution with these entry points on the path."""

    def installed(name: str = "acme-models", **entries: str) -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(MODULE, "utf-8")
        info = tmp_path / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", "utf-8")
        rows = "".join(f"{key} = {value}\n" for key, value in entries.items())
        (info / "entry_points.txt").write_text(f"[agent_cli.providers]\n{rows}", "utf-8")
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(str(tmp_path))
    return installed


async def test_a_third_party_registers_a_provider_by_entry_point(install: Any):
    install(acme="acme_models:open_model")
    registry = Registry({"ACME_KEY": "k"}, overrides={"big": {"window": 5000}}, context_window=None)
    model = registry.open("acme/big")
    assert isinstance(model, OpenModel)
    assert (model.card.id, model.card.window, model.endpoint) == ("big", 5000, "https://acme.example")
    assert (await answer_of(model)).usage.output
    assert Registry({"ACME_KEY": "k"}, provider="acme").open("big").card.id == "big"


def test_what_config_says_of_it_reaches_it(install: Any):
    install(acme="acme_models:open_model")
    with pytest.raises(ConfigError, match=r"^Set ACME_KEY\.$"):
        Registry({}).open("acme/big")
    elsewhere = Registry({"ACME_KEY": "k"}, provider="acme", base_url="https://eu.acme.example").open("big")
    assert elsewhere.endpoint == "https://eu.acme.example"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("acme_models:breaks", "'acme' of acme-models 1.2 does not work: KeyError"),
        ("acme_models:lies", "acme-models 1.2 does not work: it returned int"),
        ("acme_models:missing", "acme-models 1.2 does not work: AttributeError"),
        ("nowhere:open_model", "acme-models 1.2 does not work: ModuleNotFoundError"),
    ],
)
def test_a_broken_one_is_named(install: Any, entry: str, words: str):
    install(acme=entry)
    with pytest.raises(ConfigError, match=words):
        Registry({"ACME_KEY": "k"}).open("acme/big")


def test_two_of_one_name_are_named(install: Any):
    install(acme="acme_models:open_model")
    install("other-models", acme="other_models:open_model")
    with pytest.raises(ConfigError, match=r"-models 1\.2 and \w+-models 1\.2 both provide models as 'acme'"):
        Registry({"ACME_KEY": "k"}).open("acme/big")


def test_an_address_in_config_makes_it_an_endpoint_of_the_operator(install: Any):
    install(acme="acme_models:breaks")
    mine = {"acme": Endpoint("http://localhost:1")}
    assert Registry({}, endpoints=mine).open("acme/big").endpoint == "http://localhost:1"


def test_names_of_ours_are_not_looked_up(install: Any):
    install(ollama="acme_models:breaks", anthropic="acme_models:breaks", qwen3="acme_models:breaks")
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost:1"}
    for name in ("ollama/x", "anthropic/claude-opus-5", "qwen3:8b"):
        Registry(keys).open(name)
