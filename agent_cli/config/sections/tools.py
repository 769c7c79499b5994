"""What the model may call, and what of it may run."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from agent_cli.config.kinds import (
    Count,
    Duration,
    File,
    Name,
    Section,
    Switch,
    allowed_path,
    beside_the_keys,
    read,
    says,
)
from agent_cli.kernel.commands import Mode


class ToolOptions(Section, frozen=True):
    """Of one tool, as `tools.NAME`."""

    max_output_bytes: Annotated[
        Annotated[int, Meta(ge=1000, le=10_000_000)] | None,
        says("Most bytes of this tool's result that the model gets; without it as for every tool."),
    ] = None
    timeout: Annotated[
        Annotated[Duration, Meta(gt=0)] | None,
        says("Most time of one call of this tool; what it had until then is kept, and told as partial."),
    ] = None
    max_calls: Annotated[Count | None, says("Most calls of this tool in one turn.")] = None
    required: Annotated[
        Switch, says("Whether a turn must have used this tool: before it ends, one step is forced to it.")
    ] = False
    args: Annotated[
        dict[Name, Any],
        says("Arguments that are set for every call; the model neither sees nor changes them."),
    ] = {}


class Tools(Section, frozen=True):
    builtin: Annotated[Switch, says("Whether the tools of this program are offered at all.")] = True
    disable: Annotated[
        tuple[Name, ...], says("Tools that are not offered. Lists of several files are joined.")
    ] = ()
    enable: Annotated[
        tuple[Name, ...], says("Tools that are offered although the task class leaves them out.")
    ] = ()
    concurrency: Annotated[
        int, Meta(ge=1, le=64), says("Most reading calls of one batch that run at once.")
    ] = 4
    max_output_bytes: Annotated[
        int,
        Meta(ge=1000, le=10_000_000),
        says("Most bytes of a tool's result that the model gets: its head and its tail."),
    ] = 32_000
    ask: Annotated[
        Literal["off", "stdin", "auto"],
        says(
            "Whether the agent may ask you questions while it works. stdin: one-shot runs read the answers from standard "
            "input, too. auto: where nobody is there, it is told so; without a task class, such runs leave the tool out."
        ),
    ] = "auto"
    diagnostics: Annotated[
        dict[Name, str],
        says(
            "Commands that check a file after it was edited, by suffix or glob; what they say is added to the result:"
            ' {"*.py": "ruff check {path}"}.'
        ),
    ] = {}
    each: Annotated[dict[Name, ToolOptions], beside_the_keys, says("Single tools, by name.")] = {}


class Agentic(Section, frozen=True):
    enabled: Annotated[
        Switch, says("Whether there are tools that read in a subtask and return only a digest.")
    ] = True
    small_model: Annotated[
        Name | None, says("The model of subtasks; without one the small one of the session's provider.")
    ] = None


class Agents(Section, frozen=True):
    enabled: Annotated[
        Switch | None,
        says("Whether the model may hand tasks to agents; without it, where you or the project define one."),
    ] = None
    max_parallel: Annotated[int, Meta(ge=1, le=64), says("Most agents that work at once.")] = 4
    max_depth: Annotated[
        int, Meta(ge=1, le=4), says("How deep agents may start agents; at 1 an agent starts none.")
    ] = 1


class Permissions(Section, frozen=True):
    mode: Annotated[Mode, says("Who decides about what a tool does.")] = "ask"
    allow: Annotated[
        tuple[Name, ...], says("Rules for what runs without asking. Lists of several files are joined.")
    ] = ()
    plan_mode: Annotated[
        Literal["off", "advisory", "required"],
        says(
            "Whether the agent writes a plan (advisory), and whether it may change nothing before it did (required)."
        ),
    ] = "off"
    plan_approval: Annotated[
        Literal["none", "operator"],
        says("Whether you are asked to approve, change or reject each plan before it is in force."),
    ] = "none"
    require_plan_artifact: Annotated[
        Switch | None, says("An old spelling of plan_mode: true is required, false is off.")
    ] = None
    deny: Annotated[
        tuple[Name, ...], says("Rules for what never runs, in any mode. Lists of several files are joined.")
    ] = ()


class AllowedPath(Section, frozen=True):
    path: Annotated[File, says("A directory or file; relative to the directory that holds `.agents`.")]
    access: Annotated[Literal["r", "w", "rw"], says("Reading, writing or both.")] = "r"


class PathScope(Section, frozen=True):
    allow_paths: Annotated[
        tuple[Annotated[AllowedPath, read(allowed_path)], ...],
        says("Paths outside of the project that tools may use. Lists of several files are joined."),
    ] = ()


class Confined(Section, frozen=True):
    mode: Annotated[
        Literal["off", "workspace-write", "read-only"],
        says(
            "Where the system lets shell commands write: anywhere; the project, what path_scope adds and TMPDIR; nowhere."
        ),
    ] = "off"
    network: Annotated[Switch, says("Whether commands in the sandbox reach the network.")] = True


class UrlScope(Section, frozen=True):
    allow: Annotated[
        tuple[Name, ...],
        says(
            "Hosts that may be read without asking, like *.example.org; where some are named, all others are asked."
            " A host that is named exactly, like localhost, may also lie in a private network."
        ),
    ] = ()
    deny: Annotated[
        tuple[Name, ...], says("Hosts that are never reached, with everything below them, in any mode.")
    ] = ()
