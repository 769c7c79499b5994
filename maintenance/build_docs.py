"""Builds the reference pages in docs/ from the code: options, settings, tools, slash commands, events.

.venv/bin/python -m maintenance.build_docs          writes them
.venv/bin/python -m maintenance.build_docs --check  says which are not up to date (exit 1)
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from typer.main import get_command

from agent_cli.cli.options import COMMANDS, GROUPS
from agent_cli.compose import RunOptions, open_session
from agent_cli.config import fields
from agent_cli.engine.own_tools.book import MAKERS
from agent_cli.kernel import events
from agent_cli.kernel.wire import described
from agent_cli.ports import Tool
from agent_cli.server.openapi import document
from agent_cli.server.routes import ROUTES
from agent_cli.talk.commands.book import COMMANDS as SLASH
from agent_cli.tools.builtin import builtin
from agent_cli.tools.skill import SkillTool
from agent_cli.tools.workspace import Workspace
from maintenance import stream_schema

DOCS = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- Made from the code by maintenance/build_docs.py: do not edit. -->\n"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    page = [
        "# Command line\n",
        "`agent-cli [OPTIONS] [PROMPT]`, `agent-cli -p [OPTIONS] [PROMPT]`, `agent-cli COMMAND …`\n",
    ]
    for group, flags in GROUPS.items():
        rows = [
            (", ".join(f"`{name}`" for name in flag.names), f"`{flag.metavar}`" if flag.metavar else "", flag.help,
             f"`{flag.key}`" if flag.key else "")
            for flag in flags
        ]  # fmt: skip
        page += [f"## {group}\n", table(("option", "takes", "what it does", "config key"), rows)]
    rows = [(f"`agent-cli {name}`", text) for name, (_, text) in COMMANDS.items()]
    page += ["## Commands\n", table(("command", "what it does"), rows)]
    page += [section for name, (module, _) in COMMANDS.items() for section in _command(name, module)]
    return "\n".join(page)


def _command(name: str, module: str) -> Iterator[str]:
    """What stands behind a command's name: its own commands, arguments and options."""
    for words, one in _commands(name, get_command(importlib.import_module(module).app)):
        yield f"### agent-cli {words}\n"
        yield " ".join((one.help or "").split()) + "\n"
        rows = [_row(parameter) for parameter in one.params if "--help" not in parameter.opts]
        if rows:
            yield table(("argument or option", "what it is"), rows)


def _commands(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """It, where it does something itself, and every one below it."""
    inner = getattr(command, "commands", {})
    if not inner or any("--help" not in held.opts for held in command.params):
        yield words, command
    for sub, held in inner.items():
        yield from _commands(f"{words} {sub}", held)


def _row(parameter: Any) -> tuple[str, str]:
    names = [*parameter.opts, *parameter.secondary_opts]
    shown = (
        ", ".join(f"`{name}`" for name in names)
        if names[0].startswith("-")
        else f"`{parameter.metavar or parameter.name}`"
    )
    return shown, getattr(parameter, "help", None) or ""


def settings() -> str:
    rows = [
        (f"`{key.name}`", _shown_default(key.default), _type_name(key.field.annotation), key.description)
        for key in fields.all_keys()
    ]
    opening = (
        "Stands in `.agents/config.json` (or `.toml`) of the project, in the user's, or in the file of `--config`. "
        "Every key also has an environment variable: `model.name` is `AGENT_CLI_MODEL__NAME`.\n"
    )
    return "\n".join(["# Settings\n", opening, table(("key", "default", "takes", "meaning"), rows)])


def _shown_default(value: Any) -> str:
    if value is None or value in ((), {}):
        return "none"
    return f"`{json.dumps(value) if isinstance(value, bool) else value}`"


def _type_name(kind: Any) -> str:
    """A type in words."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if origin in (Union, UnionType):
        return " or ".join(_type_name(option) for option in args if option is not NoneType)
    if origin is tuple:
        return f"a list of {_type_name(args[0])}"
    if origin is dict:
        return "names with " + {str: "texts", Any: "values"}.get(args[1], _type_name(args[1]))
    if origin is not None and args:
        return _type_name(args[0])
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct):
        return f"`{kind.__name__}`"
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return names.get(kind, f"`{getattr(kind, '__name__', kind)}`")


def tools() -> str:
    page = ["# Tools\n", "What the model may call, in the words that it is given.\n"]
    space = Workspace(Path.cwd())
    skills = SkillTool(space, {}, frozenset())
    for tool in (*builtin(space, images=True, documents=True), skills, *_own_tools()):
        properties, told = tool.spec.schema["properties"], described(tool.arguments)
        rows = [
            (f"`{name}`", "yes" if name in tool.spec.schema.get("required", ()) else "", told[name])
            for name in properties
        ]
        reads = (
            "Changes nothing: runs beside other reading calls."
            if tool.read_only
            else "Runs alone, in the order of the calls."
        )
        page += [f"## {tool.spec.name}\n", tool.spec.description + "\n", reads + "\n"]
        page += [table(("argument", "required", "what it is"), rows)]
    return "\n".join(page)


def _own_tools() -> tuple[Tool, ...]:
    """Those of the engine, of a session in memory that says what it hears."""
    options = RunOptions(Path.cwd(), {}, attended=True, flags={"model.provider": "echo"}, ephemeral=True)
    core = open_session(options).session._core  # noqa: SLF001  no front end needs them as tools
    return tuple(make(core) for make in MAKERS.values())


def slash_commands() -> str:
    rows = [
        (" ".join(filter(None, (f"`/{command.name}`", command.arguments))), ", ".join(f"`/{a}`" for a in command.aliases),
         command.description)
        for command in SLASH
    ]  # fmt: skip
    return "\n".join(["# Slash commands\n", table(("command", "also", "what it does"), rows)])


def all_events() -> str:
    opening = (
        "What happens in a session, as the log keeps it and as `--output-format stream-json` prints it: one JSON object "
        "a line. Facts carry `session`, `seq`, `time`, `turn`, `step` and `branch`; previews carry `session`, `turn` and "
        "`step`, and may be lost. `stream-json` prints `v` (the version of the format) and `type` (what is called `kind` in "
        "the log) first, and every field, also one that holds its default, which the log leaves out. The JSON Schema of its "
        "lines is [stream-json.schema.json](stream-json.schema.json).\n"
    )
    page = ["# Events\n", opening]
    for title, union in (("Facts", events.Recorded), ("Previews", events.Live)):
        page.append(f"## {title}\n")
        for kind in get_args(union):
            page += [
                f"### {kind.__struct_config__.tag}\n",
                inspect.cleandoc(kind.__dict__.get("__doc__") or "").strip() + "\n",
            ]
            rows = [(f"`{name}`", _type_name(hint)) for name, hint in get_type_hints(kind).items()]
            page += [table(("field", "type"), rows)] if rows else []
    return "\n".join(line for line in page if line != "\n")


def attach_server() -> str:
    """What `/openapi.json` of the server answers."""
    return json.dumps(document(ROUTES), indent=1, ensure_ascii=False) + "\n"


PAGES = {
    "command-line.md": command_line,
    "settings.md": settings,
    "tools.md": tools,
    "slash-commands.md": slash_commands,
    "events.md": all_events,
    "openapi.json": attach_server,
    "stream-json.schema.json": stream_schema.output,
    "stream-json-input.schema.json": stream_schema.taken,
}


def page(name: str) -> str:
    """A page as it has to stand in the file."""
    return PAGES[name]() if name.endswith(".json") else NOTE + PAGES[name]()


def stale() -> list[str]:
    """Pages that are not what the code says now."""
    return [name for name in PAGES if _read(DOCS / name) != page(name)]


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def main() -> int:
    if "--check" in sys.argv:
        print("\n".join(stale()))
        return 1 if stale() else 0
    DOCS.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        (DOCS / name).write_text(page(name), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
