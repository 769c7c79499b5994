"""Google Cloud's Vertex AI: Gemini and Claude with an identity instead of a key, over the vendors' own clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers.faults import Service
from agent_cli.providers.google_login import SIGN_IN
from agent_cli.providers.http import Http
from agent_cli.providers.sdk import SdkTransport
from agent_cli.providers.vendors import URLS, Calling, Endpoint

PROJECTS = {
    "vertex": ("GOOGLE_CLOUD_PROJECT",),
    "anthropic-vertex": ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"),
}
LOCATIONS = {
    "vertex": ("GOOGLE_CLOUD_LOCATION",),
    "anthropic-vertex": ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION"),
}
MULTI_REGIONS = ("us", "eu")
ANTHROPIC_VERSION = "vertex-2023-10-16"
"""The dialect that our encoder speaks, as Vertex AI calls it."""


class Place(NamedTuple):
    """Where in Google Cloud; `base` is the address without a version."""

    project: str
    location: str
    base: str


def place_of(name: str, row: Endpoint, environ: Mapping[str, str], base_url: str | None = None) -> Place:
    """Config first, then the environment. `base_url` replaces the address. Raises ConfigError naming what is missing."""
    project = row.project or _first(environ, PROJECTS[name])
    location = row.location or _first(environ, LOCATIONS[name])
    if not project:
        raise _missing(name, "project", "GOOGLE_CLOUD_PROJECT", "the id of your Google Cloud project")
    if not location:
        raise _missing(name, "location", "GOOGLE_CLOUD_LOCATION", "a region, or `global`")
    base = base_url or row.base_url or environ.get(URLS[name]) or _address(location)
    return Place(project, location, base.rstrip("/").removesuffix("/v1"))


def open_vertex(
    name: str, card: ModelCard, place: Place, row: Endpoint, calling: Calling, credentials: Any = None
) -> OpenModel:
    """`credentials` are Google's default ones (ADC) unless given; they are looked for with the first request."""
    service = Service("Vertex AI", place.base, "", URLS[name], sign_in=SIGN_IN)
    http = Http(
        service, {}, first_byte_timeout=calling.first_byte_timeout, stall_timeout=calling.stall_timeout
    )
    given = (place.base, place.project, place.location, row.headers, credentials)
    if name == "vertex":
        from agent_cli.providers import gemini_sdk
        from agent_cli.providers.gemini import Gemini

        google = gemini_sdk.GeminiClient(card.id, gemini_sdk.on_vertex(*given))
        return OpenModel(Gemini(card, SdkTransport(http, google), name=name), card, place.base)
    from agent_cli.providers import anthropic_sdk
    from agent_cli.providers.anthropic import Anthropic

    make = anthropic_sdk.on_vertex(*given)
    client = anthropic_sdk.AnthropicClient(make, {"anthropic_version": ANTHROPIC_VERSION})
    return OpenModel(
        Anthropic(card, SdkTransport(http, client), name=name, ttl=calling.ttl), card, place.base
    )


def _address(location: str) -> str:
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _missing(name: str, what: str, variable: str, meant: str) -> ConfigError:
    return ConfigError(
        f"Vertex AI needs a {what} ({meant}), and none is set. Set {variable}, or providers.{name}.{what} in your config."
    )
