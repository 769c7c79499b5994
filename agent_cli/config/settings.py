"""Every setting with its type, range, default and meaning, as frozen structs.

The annotations are the schema, evaluated here once: `fields` walks them, `check` reads plain values by them.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agent_cli.config.durations import seconds
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.messages import Effort

VERSION = 1
"""Of the schema. A file with a newer one may hold sections that this version does not know."""

READ = "read"
"""In `Meta.extra`: what makes of a value as it is written the one that the type means, or raises ValueError."""


def _read(reader: Callable[[Any], Any]) -> Meta:
    return Meta(extra={READ: reader})


def _says(description: str) -> Meta:
    return Meta(description=description)


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


def _switch(value: object) -> object:
    """Also in words, as the environment has them."""
    known = {
        "true": True,
        "on": True,
        "yes": True,
        "1": True,
        "false": False,
        "off": False,
        "no": False,
        "0": False,
    }
    return known.get(str(value).strip().lower(), value)


Count = Annotated[int, Meta(ge=1)]
Window = Annotated[int, Meta(ge=1000)]
Ceiling = Annotated[int, Meta(ge=0)]
Number = Annotated[float, Meta(ge=0)]
Money = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Duration = Annotated[float, _read(seconds)]
Switch = Annotated[bool, _read(_switch)]
Name = Annotated[str, Meta(min_length=1)]
File = Annotated[str, Meta(min_length=1), _read(_file)]
Endpoint = Annotated[str, Meta(min_length=1), _read(_endpoint)]
Variable = Annotated[str, Meta(min_length=1), _read(_variable)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys that belong together. Texts are not empty, numbers are finite."""

    def given(self) -> dict[str, Any]:
        """What is not None, by key."""
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in values if value is not None}


class Tiers(Section, frozen=True):
    frontier: Annotated[Name | None, _says("The model for --tier frontier: the strongest one.")] = None
    mid: Annotated[Name | None, _says("The model for --tier mid.")] = None
    small: Annotated[Name | None, _says("The model for --tier small: the fastest and cheapest one.")] = None


class Model(Section, frozen=True):
    name: Annotated[
        Name | None,
        _says("The model, as --model takes it; without one it is inferred from the keys present."),
    ] = None
    provider: Annotated[
        Name | None, _says("The provider that serves the model, where the name does not say it.")
    ] = None
    base_url: Annotated[
        Endpoint | None, _says("Where that provider listens, instead of its own address.")
    ] = None
    effort: Annotated[Effort | None, _says("How much the model thinks before it answers.")] = None
    max_output_tokens: Annotated[
        Count | None, _says("Most tokens of one answer; without one the model's own limit.")
    ] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None, _says("Sampling temperature, for models that take one.")
    ] = None
    context_window: Annotated[
        Window | None,
        _says("Tokens that fit into the context of the model, where the catalog is wrong or silent."),
    ] = None
    first_byte_timeout: Annotated[
        Duration, Meta(gt=0), _says("How long to wait for the first byte of an answer before trying again.")
    ] = 120.0
    stall_timeout: Annotated[
        Duration, Meta(gt=0), _says("How long an answer may be silent before the request is made again.")
    ] = 120.0
    cache_ttl: Annotated[
        Literal["5m", "1h"], _says("How long Anthropic keeps the prompt cache; an hour costs more to write.")
    ] = "5m"
    fallback: Annotated[
        tuple[Name, ...], _says("Models to go on with, in this order, when the service of the model is down.")
    ] = ()
    transport: Annotated[
        Literal["http", "sdk"],
        _says(
            "How Anthropic and Gemini are reached: directly, or through the vendor's own client, which"
            " starts slower and also finds profiles and workload identities."
        ),
    ] = "http"
    tier: Annotated[
        Literal["frontier", "mid", "small"] | None,
        _says("The provider's model of that size, where no model is named."),
    ] = None
    tiers: Annotated[Tiers, _says("Models by size, where the catalog knows none or another.")] = Tiers()


class Provider(Section, frozen=True):
    base_url: Annotated[Endpoint | None, _says("Address of the API.")] = None
    api_key_env: Annotated[Variable | None, _says("Environment variable that holds the key.")] = None
    api: Annotated[
        Literal["chat", "responses", "messages", "gemini"] | None,
        _says(
            "What is spoken at that address: Chat Completions (the default of a new name), OpenAI's Responses,"
            " Anthropic's Messages, or Gemini's generateContent."
        ),
    ] = None
    headers: Annotated[
        dict[Name, str], _says("Headers of every request, by name; secrets stand in them as ${env:NAME}.")
    ] = {}
    project: Annotated[
        Name | None,
        _says("Google Cloud project, for `vertex` and `anthropic-vertex`; else GOOGLE_CLOUD_PROJECT."),
    ] = None
    location: Annotated[
        Name | None, _says("Google Cloud region, or `global`; else GOOGLE_CLOUD_LOCATION.")
    ] = None


class ModelCard(Section, frozen=True):
    window: Annotated[Window | None, _says("Tokens that fit into the context.")] = None
    max_output: Annotated[Count | None, _says("Most tokens of one answer.")] = None
    input: Annotated[Number | None, _says("USD for a million tokens of input.")] = None
    output: Annotated[Number | None, _says("USD for a million tokens of output.")] = None
    cache_read: Annotated[Number | None, _says("USD for a million tokens read from a cache.")] = None
    cache_write: Annotated[Number | None, _says("USD for a million tokens written to a cache.")] = None


class Budgets(Section, frozen=True):
    max_steps: Annotated[
        Ceiling | None, _says("Most model requests of one turn; 200 when nobody is there. 0 means none.")
    ] = None
    max_tool_calls: Annotated[Ceiling | None, _says("Most tool calls of one turn. 0 means none.")] = None
    max_tokens: Annotated[
        Ceiling | None, _says("Most tokens of one turn, input and output of all its requests. 0 means none.")
    ] = None
    max_duration: Annotated[
        Duration | None, _says("Longest time of one turn; 4h when nobody is there. 0 means none.")
    ] = None
    on_exhaustion: Annotated[
        Literal["final-answer", "fail"],
        _says("What happens at a ceiling: one last answer without tools, or an error."),
    ] = "final-answer"


class Agent(Section, frozen=True):
    max_turn_cost_usd: Annotated[Money | None, _says("Most dollars of one turn. 0 means none.")] = None
    max_session_cost_usd: Annotated[
        Money | None, _says("Most dollars of the session; 10.00 when nobody is there. 0 means none.")
    ] = None
    append_system_prompt: Annotated[Name | None, _says("Text behind the system prompt.")] = None
    system_prompt_file: Annotated[File | None, _says("File whose text replaces the system prompt.")] = None


class Tools(Section, frozen=True):
    disable: Annotated[
        tuple[Name, ...], _says("Tools that are not offered. Lists of several files are joined.")
    ] = ()
    concurrency: Annotated[
        int, Meta(ge=1, le=64), _says("Most reading calls of one batch that run at once.")
    ] = 4
    max_output_bytes: Annotated[
        int,
        Meta(ge=1000, le=10_000_000),
        _says("Most bytes of a tool's result that the model gets: its head and its tail."),
    ] = 32_000


class Permissions(Section, frozen=True):
    mode: Annotated[Mode, _says("Who decides about what a tool does.")] = "ask"
    allow: Annotated[
        tuple[Name, ...], _says("Rules for what runs without asking. Lists of several files are joined.")
    ] = ()
    deny: Annotated[
        tuple[Name, ...], _says("Rules for what never runs, in any mode. Lists of several files are joined.")
    ] = ()


class AllowedPath(Section, frozen=True):
    path: Annotated[File, _says("A directory or file; relative to the directory that holds `.agents`.")]
    access: Annotated[Literal["r", "w", "rw"], _says("Reading, writing or both.")] = "r"


class PathScope(Section, frozen=True):
    allow_paths: Annotated[
        tuple[Annotated[AllowedPath, _read(allowed_path)], ...],
        _says("Paths outside of the project that tools may use. Lists of several files are joined."),
    ] = ()


class Safety(Section, frozen=True):
    watchdog: Annotated[
        Literal["off", "warn", "feedback", "enforce"] | None,
        _says("What happens when the agent goes in circles; warn, or enforce when nobody is there."),
    ] = None


class ByTier(Section, frozen=True):
    frontier: Annotated[Share | None, _says("Of the window, for frontier models; 0.85 without it.")] = None
    mid: Annotated[Share | None, _says("Of the window, for mid models; 0.65 without it.")] = None
    small: Annotated[Share | None, _says("Of the window, for small models; 0.35 without it.")] = None


class Compaction(Section, frozen=True):
    enabled: Annotated[
        Switch, _says("Whether a conversation that fills its window is reduced by itself.")
    ] = True
    mode: Annotated[
        Literal["prune-then-summarize", "summarize-only"],
        _says("Whether old tool results are cleared before anything is summarized."),
    ] = "prune-then-summarize"
    threshold: Annotated[
        Share | None,
        _says("Share of the window at which reduction begins, for models of no known tier; 0.85 without it."),
    ] = None
    threshold_by_tier: Annotated[ByTier, _says("The same for models of a tier.")] = ByTier()
    limit: Annotated[Window | None, _says("Tokens at which reduction begins, whatever the window is.")] = None
    keep_recent_tokens: Annotated[
        Count,
        _says("Tokens at the end of the conversation that stay as they are; at most 30 % of the budget."),
    ] = 20_000


class Session(Section, frozen=True):
    db: Annotated[
        File | None,
        _says("The file that holds the sessions; without one it is in the user's state directory."),
    ] = None


class Ui(Section, frozen=True):
    theme: Annotated[Name, _says("The colours of the screen.")] = "auto"
    keys: Annotated[
        dict[Name, str],
        _says('Keys by action, commas between several; /keys lists the actions: {"mode": "f2"}.'),
    ] = {}


class Settings(Section, frozen=True):
    """All settings. `sources.load` makes them; they do not change while the program runs."""

    version: Annotated[Count, _says("Version of the schema that the file was written for.")] = VERSION
    model: Annotated[Model, _says("The model and how it is asked.")] = Model()
    providers: Annotated[dict[Name, Provider], _says("Endpoints by name.")] = {}
    models: Annotated[
        dict[Name, ModelCard], _says("What the catalog should know of single models, by name.")
    ] = {}
    budgets: Annotated[Budgets, _says("Ceilings of one turn.")] = Budgets()
    agent: Annotated[Agent, _says("Costs and the system prompt.")] = Agent()
    compaction: Annotated[Compaction, _says("When and how a long conversation is reduced.")] = Compaction()
    tools: Annotated[Tools, _says("What the model may call.")] = Tools()
    permissions: Annotated[Permissions, _says("What runs, what asks, what never runs.")] = Permissions()
    path_scope: Annotated[PathScope, _says("Which paths the tools may use.")] = PathScope()
    safety: Annotated[Safety, _says("The watchdog.")] = Safety()
    session: Annotated[Session, _says("Where sessions are kept.")] = Session()
    ui: Annotated[Ui, _says("The screen.")] = Ui()
    run_status: Annotated[
        Literal["appended", "off"],
        _says("Whether the model is told with each request how far the turn has come."),
    ] = "appended"
