"""Every setting with its type, range, default and meaning. pydantic is imported here and in `sources` only."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from agent_cli.config.durations import seconds
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.messages import Effort

VERSION = 1
"""Of the schema. A file with a newer one may hold sections that this version does not know."""


def _endpoint(value: object) -> object:
    if isinstance(value, str) and not re.match(r"https?://[^/\s]+", value):
        raise ValueError("must be an address that begins with http:// or https://")
    return value


def _variable(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError(
            "must be the name of an environment variable; the key itself never stands in a config file"
        )
    return value


def allowed_path(value: Any) -> Any:
    """An item of `path_scope.allow_paths`, also as `--allow-path` takes it: PATH or PATH:ACCESS."""
    if not isinstance(value, str):
        return value
    path, _, access = value.rpartition(":")
    return {"path": path, "access": access} if path and access in {"r", "w", "rw"} else {"path": value}


def _file(value: object) -> object:
    if isinstance(value, str) and ("\0" in value or "://" in value):
        raise ValueError("must be the path of a file")
    return value


Count = Annotated[int, Field(strict=True, ge=1)]
Number = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Money = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Ceiling = Annotated[int, Field(strict=True, ge=0)]
Duration = Annotated[float, BeforeValidator(seconds, json_schema_input_type=float | str)]
Name = Annotated[str, Field(min_length=1)]
File = Annotated[str, Field(min_length=1), BeforeValidator(_file)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Tiers(Section):
    frontier: Name | None = Field(None, description="The model for --tier frontier: the strongest one.")
    mid: Name | None = Field(None, description="The model for --tier mid.")
    small: Name | None = Field(None, description="The model for --tier small: the fastest and cheapest one.")


class Model(Section):
    name: Name | None = Field(
        None, description="The model, as --model takes it; without one it is inferred from the keys present."
    )
    provider: Name | None = Field(
        None, description="The provider that serves the model, where the name does not say it."
    )
    base_url: Annotated[Name, BeforeValidator(_endpoint)] | None = Field(
        None, description="Where that provider listens, instead of its own address."
    )
    effort: Effort | None = Field(None, description="How much the model thinks before it answers.")
    max_output_tokens: Count | None = Field(
        None, description="Most tokens of one answer; without one the model's own limit."
    )
    temperature: Annotated[float, Field(strict=True, ge=0, le=2)] | None = Field(
        None, description="Sampling temperature, for models that take one."
    )
    context_window: Annotated[int, Field(strict=True, ge=1000)] | None = Field(
        None,
        description="Tokens that fit into the context of the model, where the catalog is wrong or silent.",
    )
    first_byte_timeout: Duration = Field(
        120.0, gt=0, description="How long to wait for the first byte of an answer before trying again."
    )
    stall_timeout: Duration = Field(
        120.0, gt=0, description="How long an answer may be silent before the request is made again."
    )
    cache_ttl: Literal["5m", "1h"] = Field(
        "5m", description="How long Anthropic keeps the prompt cache; an hour costs more to write."
    )
    fallback: tuple[Name, ...] = Field(
        (), description="Models to go on with, in this order, when the service of the model is down."
    )
    transport: Literal["http", "sdk"] = Field(
        "http",
        description="How Anthropic and Gemini are reached: directly, or through the vendor's own client, which"
        " starts slower and also finds profiles and workload identities.",
    )
    tier: Literal["frontier", "mid", "small"] | None = Field(
        None, description="The provider's model of that size, where no model is named."
    )
    tiers: Tiers = Field(
        default={},
        validate_default=True,
        description="Models by size, where the catalog knows none or another.",
    )


class Provider(Section):
    base_url: Annotated[Name, BeforeValidator(_endpoint)] | None = Field(
        None, description="Address of the API."
    )
    api_key_env: Annotated[Name, BeforeValidator(_variable)] | None = Field(
        None, description="Environment variable that holds the key."
    )
    api: Literal["chat", "responses", "messages", "gemini"] | None = Field(
        None,
        description="What is spoken at that address: Chat Completions (the default of a new name), OpenAI's Responses,"
        " Anthropic's Messages, or Gemini's generateContent.",
    )
    headers: dict[Name, str] = Field(
        {}, description="Headers of every request, by name; secrets stand in them as ${env:NAME}."
    )
    project: Name | None = Field(
        None,
        description="Google Cloud project, for `vertex` and `anthropic-vertex`; else GOOGLE_CLOUD_PROJECT.",
    )
    location: Name | None = Field(
        None, description="Google Cloud region, or `global`; else GOOGLE_CLOUD_LOCATION."
    )


class ModelCard(Section):
    window: Annotated[int, Field(strict=True, ge=1000)] | None = Field(
        None, description="Tokens that fit into the context."
    )
    max_output: Count | None = Field(None, description="Most tokens of one answer.")
    input: Number | None = Field(None, description="USD for a million tokens of input.")
    output: Number | None = Field(None, description="USD for a million tokens of output.")
    cache_read: Number | None = Field(None, description="USD for a million tokens read from a cache.")
    cache_write: Number | None = Field(None, description="USD for a million tokens written to a cache.")


class Budgets(Section):
    max_steps: Ceiling | None = Field(
        None, description="Most model requests of one turn; 200 when nobody is there. 0 means none."
    )
    max_tool_calls: Ceiling | None = Field(None, description="Most tool calls of one turn. 0 means none.")
    max_tokens: Ceiling | None = Field(
        None, description="Most tokens of one turn, input and output of all its requests. 0 means none."
    )
    max_duration: Duration | None = Field(
        None, description="Longest time of one turn; 4h when nobody is there. 0 means none."
    )
    on_exhaustion: Literal["final-answer", "fail"] = Field(
        "final-answer", description="What happens at a ceiling: one last answer without tools, or an error."
    )


class Agent(Section):
    max_turn_cost_usd: Money | None = Field(None, description="Most dollars of one turn. 0 means none.")
    max_session_cost_usd: Money | None = Field(
        None, description="Most dollars of the session; 10.00 when nobody is there. 0 means none."
    )
    append_system_prompt: Name | None = Field(None, description="Text behind the system prompt.")
    system_prompt_file: File | None = Field(None, description="File whose text replaces the system prompt.")


class Tools(Section):
    disable: tuple[Name, ...] = Field(
        (), description="Tools that are not offered. Lists of several files are joined."
    )
    concurrency: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        4, description="Most reading calls of one batch that run at once."
    )
    max_output_bytes: Annotated[int, Field(strict=True, ge=1000, le=10_000_000)] = Field(
        32_000, description="Most bytes of a tool's result that the model gets: its head and its tail."
    )


class Permissions(Section):
    mode: Mode = Field("ask", description="Who decides about what a tool does.")
    allow: tuple[Name, ...] = Field(
        (), description="Rules for what runs without asking. Lists of several files are joined."
    )
    deny: tuple[Name, ...] = Field(
        (), description="Rules for what never runs, in any mode. Lists of several files are joined."
    )


class AllowedPath(Section):
    path: File = Field(description="A directory or file; relative to the directory that holds `.agents`.")
    access: Literal["r", "w", "rw"] = Field("r", description="Reading, writing or both.")


class PathScope(Section):
    allow_paths: tuple[
        Annotated[AllowedPath, BeforeValidator(allowed_path, json_schema_input_type=AllowedPath | str)], ...
    ] = Field(
        (), description="Paths outside of the project that tools may use. Lists of several files are joined."
    )


class Safety(Section):
    watchdog: Literal["off", "warn", "feedback", "enforce"] | None = Field(
        None,
        description="What happens when the agent goes in circles; warn, or enforce when nobody is there.",
    )


Share = Annotated[float, Field(strict=True, gt=0, lt=1)]


class ByTier(Section):
    frontier: Share | None = Field(None, description="Of the window, for frontier models; 0.85 without it.")
    mid: Share | None = Field(None, description="Of the window, for mid models; 0.65 without it.")
    small: Share | None = Field(None, description="Of the window, for small models; 0.35 without it.")


class Compaction(Section):
    enabled: bool = Field(
        True, description="Whether a conversation that fills its window is reduced by itself."
    )
    mode: Literal["prune-then-summarize", "summarize-only"] = Field(
        "prune-then-summarize",
        description="Whether old tool results are cleared before anything is summarized.",
    )
    threshold: Share | None = Field(
        None,
        description="Share of the window at which reduction begins, for models of no known tier; 0.85 without it.",
    )
    threshold_by_tier: ByTier = Field({}, validate_default=True, description="The same for models of a tier.")
    limit: Annotated[int, Field(strict=True, ge=1000)] | None = Field(
        None, description="Tokens at which reduction begins, whatever the window is."
    )
    keep_recent_tokens: Count = Field(
        20_000,
        description="Tokens at the end of the conversation that stay as they are; at most 30 % of the budget.",
    )


class Session(Section):
    db: File | None = Field(
        None, description="The file that holds the sessions; without one it is in the user's state directory."
    )


class Ui(Section):
    theme: Name = Field("auto", description="The colours of the screen.")


def _section(description: str) -> Any:
    """Made from nothing by the one schema of `Settings`: each section by itself would build its own."""
    return Field(default={}, validate_default=True, description=description)


class Settings(BaseSettings):
    """All settings. `sources.load` makes them; they do not change while the program runs."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    version: Count = Field(VERSION, description="Version of the schema that the file was written for.")
    model: Model = _section("The model and how it is asked.")
    providers: dict[Name, Provider] = Field({}, description="Endpoints by name.")
    models: dict[Name, ModelCard] = Field(
        {}, description="What the catalog should know of single models, by name."
    )
    budgets: Budgets = _section("Ceilings of one turn.")
    agent: Agent = _section("Costs and the system prompt.")
    compaction: Compaction = _section("When and how a long conversation is reduced.")
    tools: Tools = _section("What the model may call.")
    permissions: Permissions = _section("What runs, what asks, what never runs.")
    path_scope: PathScope = _section("Which paths the tools may use.")
    safety: Safety = _section("The watchdog.")
    session: Session = _section("Where sessions are kept.")
    ui: Ui = _section("The screen.")
    run_status: Literal["appended", "off"] = Field(
        "appended", description="Whether the model is told with each request how far the turn has come."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """`sources` reads files and environment: it joins lists and knows where each value came from."""
        return (init_settings,)
