"""Which model is asked, and how."""

from typing import Annotated, Literal

from msgspec import Meta

from agent_cli.config.kinds import (
    Count,
    Duration,
    Endpoint,
    Name,
    Number,
    Section,
    Variable,
    Window,
    says,
)
from agent_cli.kernel.messages import Effort
from agent_cli.kernel.usage import Tier


class Tiers(Section, frozen=True):
    frontier: Annotated[Name | None, says("The model for --tier frontier: the strongest one.")] = None
    mid: Annotated[Name | None, says("The model for --tier mid.")] = None
    small: Annotated[Name | None, says("The model for --tier small: the fastest and cheapest one.")] = None


class Model(Section, frozen=True):
    name: Annotated[
        Name | None,
        says("The model, as --model takes it; without one it is inferred from the keys present."),
    ] = None
    provider: Annotated[
        Name | None, says("The provider that serves the model, where the name does not say it.")
    ] = None
    base_url: Annotated[Endpoint | None, says("Where that provider listens, instead of its own address.")] = (
        None
    )
    effort: Annotated[Effort | None, says("How much the model thinks before it answers.")] = None
    max_output_tokens: Annotated[
        Count | None, says("Most tokens of one answer; without one the model's own limit.")
    ] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None, says("Sampling temperature, for models that take one.")
    ] = None
    context_window: Annotated[
        Window | None,
        says("Tokens that fit into the context of the model, where the catalog is wrong or silent."),
    ] = None
    first_byte_timeout: Annotated[
        Duration, Meta(gt=0), says("How long to wait for the first byte of an answer before trying again.")
    ] = 120.0
    stall_timeout: Annotated[
        Duration, Meta(gt=0), says("How long an answer may be silent before the request is made again.")
    ] = 120.0
    attempts: Annotated[
        Count, says("How often a request is made before a fallback model is asked, the first time included.")
    ] = 3
    cache_ttl: Annotated[
        Literal["5m", "1h"], says("How long Anthropic keeps the prompt cache; an hour costs more to write.")
    ] = "5m"
    fallback: Annotated[
        tuple[Name, ...], says("Models to go on with, in this order, when the service of the model is down.")
    ] = ()
    transport: Annotated[
        Literal["http", "sdk"],
        says(
            "How Anthropic and Gemini are reached: directly, or through the vendor's own client, which"
            " starts slower and also finds profiles and workload identities."
        ),
    ] = "http"
    tier: Annotated[
        Literal["frontier", "mid", "small"] | None,
        says("The provider's model of that size, where no model is named."),
    ] = None
    tiers: Annotated[Tiers, says("Models by size, where the catalog knows none or another.")] = Tiers()


class Provider(Section, frozen=True):
    base_url: Annotated[Endpoint | None, says("Address of the API.")] = None
    api_key_env: Annotated[Variable | None, says("Environment variable that holds the key.")] = None
    api: Annotated[
        Literal["chat", "responses", "messages", "gemini"] | None,
        says(
            "What is spoken at that address: Chat Completions (the default of a new name), OpenAI's Responses,"
            " Anthropic's Messages, or Gemini's generateContent."
        ),
    ] = None
    headers: Annotated[
        dict[Name, str], says("Headers of every request, by name; secrets stand in them as ${env:NAME}.")
    ] = {}
    project: Annotated[
        Name | None,
        says("Google Cloud project, for `vertex` and `anthropic-vertex`; else GOOGLE_CLOUD_PROJECT."),
    ] = None
    location: Annotated[
        Name | None, says("Google Cloud region, or `global`; else GOOGLE_CLOUD_LOCATION.")
    ] = None


class ModelCard(Section, frozen=True):
    window: Annotated[Window | None, says("Tokens that fit into the context.")] = None
    max_output: Annotated[Count | None, says("Most tokens of one answer.")] = None
    input: Annotated[Number | None, says("USD for a million tokens of input.")] = None
    output: Annotated[Number | None, says("USD for a million tokens of output.")] = None
    cache_read: Annotated[Number | None, says("USD for a million tokens read from a cache.")] = None
    cache_write: Annotated[Number | None, says("USD for a million tokens written to a cache.")] = None
    cache_write_1h: Annotated[Number | None, says("The same where the cache is kept for an hour.")] = None
    tier: Annotated[Tier | None, says("How strong the model is taken to be.")] = None
    aliases: Annotated[tuple[Name, ...] | None, says("Other names for it, as --model takes them.")] = None
