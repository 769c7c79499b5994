"""What the words of a command line ask for, and whether it makes sense."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agent_cli.cli.options import COMMANDS, FLAGS
from agent_cli.cli.values import UsageError, address, nearest, value_of
from agent_cli.cli.words import Line

if TYPE_CHECKING:
    from agent_cli.compose import RunOptions

EXCLUSIVE = (
    ("continue", "resume", "both say which session to go on with"),
    ("ephemeral", "continue", "a session in memory is always a new one"),
    ("ephemeral", "resume", "a session in memory is always a new one"),
    ("fork", "continue", "both say which session to begin with"),
    ("fork", "resume", "both say which session to begin with"),
    ("fork", "ephemeral", "a session in memory is always a new one"),
    ("name", "ephemeral", "a session in memory is never looked for"),
    ("ephemeral", "session_db", "a session in memory is in no file"),
    ("quiet", "verbose", "one says less, the other more"),
    ("model", "tier", "both say which model to ask"),
    ("agentic_tools", "no_agentic_tools", "one switches them on, the other off"),
    ("no_repl", "no_tui", "one says that nobody is there, the other that somebody is"),
    ("attach_listen", "print", "-p ends with its turn, and what is served goes on"),
    ("attach_listen", "output_format", "events are read over HTTP"),
    ("attach_listen", "input_format", "orders come over HTTP"),
    ("attach_listen", "json_schema", "there is no one final answer"),
    ("attach_listen", "ephemeral", "what is served is kept"),
    ("print", "no_tui", "-p is one turn, --no-tui a conversation"),
    ("plan_first", "no_plan_first", "one switches it on, the other off"),
)
DEPRECATED = {"no_checkpoint": "--no-checkpoint is the old word for --checkpoint=off; use that."}
DRIVEN = "stream-json"
ONE_SHOT_ONLY = ("output_format", "input_format", "json_schema", "strict", "quiet", "verbose")


class Start(msgspec.Struct):
    """What a plain command line asks for. `flags` are config keys, only those that were given."""

    prompt: str | None = None
    one_shot: bool = False
    lines: bool = False
    output_format: str = "text"
    driven: bool = False
    json_schema: str | None = None
    log_file: str | None = None
    quiet: bool = False
    verbose: bool = False
    strict: bool = False
    attach_listen: str | None = None
    directory: str | None = None
    flags: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    config_file: str | None = None
    recipe: str | None = None
    resume: str | None = None
    resume_latest: bool = False
    fork: str | None = None
    name: str | None = None
    ephemeral: bool = False
    allow_paths: tuple[str, ...] = ()
    script: str | None = None
    script_strict: bool = False
    record_to: str | None = None
    notices: tuple[str, ...] = ()
    trust: bool = False


def interpret(line: Line, *, terminal: bool) -> Start:
    """`terminal` says whether a person sits at both ends; without, every run is a one-shot run.

    Raises UsageError.
    """
    given: dict[str, Any] = {
        flag.dest: value_of(flag, line.values[flag.dest]) for flag in FLAGS if flag.dest in line.values
    }
    one_shot = bool({"print", "no_repl"} & given.keys()) or not (terminal or "no_tui" in given)
    _refuse_contradictions(given, one_shot=one_shot)
    return Start(
        prompt=_prompt(line, guess="print" not in given),
        one_shot=one_shot,
        lines="no_tui" in given,
        output_format=given.get("output_format", "text"),
        driven=given.get("input_format") == DRIVEN,
        log_file=given.get("log_file"),
        json_schema=given.get("json_schema"),
        quiet="quiet" in given,
        verbose="verbose" in given,
        strict="strict" in given,
        attach_listen=given.get("attach_listen"),
        directory=given.get("cd"),
        flags=_settings(given),
        config_file=given.get("config"),
        recipe=given.get("recipe"),
        resume=given.get("resume"),
        resume_latest="continue" in given,
        fork=given.get("fork"),
        name=given.get("name"),
        ephemeral="ephemeral" in given,
        allow_paths=tuple(given.get("allow_path", ())),
        script=given.get("script"),
        script_strict="script_strict" in given,
        record_to=given.get("record_to"),
        notices=tuple(told for dest, told in DEPRECATED.items() if dest in given),
        trust="trust" in given,
    )


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, by config key. Paths to allow are not a setting: they come on top of the configured ones."""
    keyed = [flag for flag in FLAGS if flag.key and flag.dest in given and flag.dest != "allow_path"]
    switched: dict[str, Any] = {flag.dest: False for flag in keyed if flag.name.startswith("--no-")}
    switched |= {"yolo": "yolo", "no_checkpoint": "off"}
    flags = {flag.key: switched.get(flag.dest, given[flag.dest]) for flag in keyed}
    if "script" in given:
        flags.setdefault("model.provider", "scripted")
    return flags


def _refuse_contradictions(given: dict[str, Any], *, one_shot: bool) -> None:
    named = {flag.dest: flag.name for flag in FLAGS}
    for one, other, because in EXCLUSIVE:
        if one in given and other in given:
            raise UsageError(f"{named[one]} and {named[other]} do not go together: {because}.")
    mode = given.get("permission_mode", "yolo")
    if "yolo" in given and mode != "yolo":
        raise UsageError(
            f"--yolo and --permission-mode {mode} do not go together: --yolo is a mode of its own."
        )
    if "no_checkpoint" in given and given.get("checkpoint", "off") != "off":
        raise UsageError(
            f"--no-checkpoint and --checkpoint {given['checkpoint']} do not go together: "
            "--no-checkpoint is the old word for --checkpoint=off."
        )
    if "script" in given and given.get("provider", "scripted") != "scripted":
        raise UsageError(f"--script is for the scripted provider, not for --provider {given['provider']}.")
    if "script_strict" in given and "script" not in given:
        raise UsageError("--script-strict needs the --script that it is strict about.")
    if given.get("resume") == "" and one_shot:
        raise UsageError("--resume needs an ID in a one-shot run; `agent-cli sessions list` shows them.")
    if "attach_listen" in given and one_shot and "no_repl" not in given:
        raise UsageError(
            "--attach-listen serves a session that goes on, and without a terminal a run ends with its turn: add --no-repl."
        )
    if given.get("input_format") == DRIVEN:
        _refuse_undriveable(given)
    for dest in ONE_SHOT_ONLY:
        if dest in given and not one_shot:
            raise UsageError(f"{named[dest]} is for one-shot runs: add -p.")


def _refuse_undriveable(given: dict[str, Any]) -> None:
    """Whoever drives a session has to see what happens in it."""
    if given.get("output_format") != DRIVEN:
        raise UsageError("--input-format stream-json needs --output-format stream-json beside it.")
    if "json_schema" in given:
        raise UsageError(
            "--input-format stream-json and --json-schema do not go together: there is no one final answer."
        )


def _prompt(line: Line, *, guess: bool) -> str | None:
    """The one argument. `guess` takes a single word that is almost a command for a slip."""
    if not line.words:
        return None
    first = line.words[0]
    hint = nearest(first, tuple(COMMANDS)) if guess and not line.literal and first.isalpha() else ""
    if len(line.words) > 1:
        shown = " ".join(line.words[:4]) + (" …" if len(line.words) > 4 else "")
        raise UsageError(
            f"The prompt is one argument, and there are {len(line.words)} ({shown}): put it in quotes.{hint}"
        )
    if hint:
        raise UsageError(
            f"There is no command '{first}'.{hint} To send it as a message: agent-cli -- {first}"
        )
    return first.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def enter(start: Start) -> None:
    """Goes where -C says, so that every other path is meant from there. Raises UsageError."""
    if start.directory is None:
        return
    try:
        os.chdir(Path(start.directory).expanduser())
    except (OSError, RuntimeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise UsageError(f"-C {start.directory}: {reason}. Name a directory that exists.") from None


def run_options(start: Start) -> RunOptions:
    """For compose."""
    from agent_cli.compose import RunOptions

    return RunOptions(
        cwd=_here(),
        environ=os.environ,
        attended=not start.one_shot,
        answered=start.driven,
        flags=start.flags,
        config_file=_path(start.config_file),
        recipe=start.recipe,
        resume=start.resume,
        resume_latest=start.resume_latest,
        fork=start.fork,
        name=start.name,
        ephemeral=start.ephemeral,
        allow_paths=start.allow_paths,
        script=_path(start.script),
        script_strict=start.script_strict,
        record_to=_path(start.record_to),
        log_file=_path(start.log_file),
        notices=start.notices,
        attach_listen=None
        if start.attach_listen is None
        else address(start.attach_listen, "--attach-listen"),
        trust=start.trust,
    )


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as problem:
        raise UsageError(
            f"The working directory cannot be used: {problem.strerror}. It may have been removed: go to another "
            "one, or name one with -C DIR."
        ) from None


def _path(typed: str | None) -> Path | None:
    return None if typed is None else Path(typed).expanduser().absolute()
