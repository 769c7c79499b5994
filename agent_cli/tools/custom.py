"""Tools that the operator or the project describes in a file: a command line with arguments."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agent_cli.kernel.errors import ConfigError, ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.values import Plain
from agent_cli.kernel.wire import Arguments, schema_of
from agent_cli.ports import Say, Tool, Touches
from agent_cli.tools import template
from agent_cli.tools.bash import BashArguments

_KINDS: dict[str, type[Any]] = {"string": str, "integer": int, "number": float, "boolean": bool}
_LINE = re.compile(r"at line (\d+)")


class Argument(Plain, frozen=True, forbid_unknown_fields=True):
    """One argument. Without a default it is required; `choices` are all that it may be."""

    description: str = ""
    type: Literal["string", "integer", "number", "boolean"] = "string"
    default: str | int | float | bool | None = None
    choices: tuple[str, ...] = ()


class Definition(Plain, frozen=True, forbid_unknown_fields=True):
    """A file of a tool. `timeout` is seconds. `read_only` vouches that the command changes nothing."""

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    description: Annotated[str, Meta(min_length=1)]
    command: Annotated[str, Meta(min_length=1)]
    arguments: dict[Annotated[str, Meta(pattern=r"^[a-z_][a-z0-9_]*$")], Argument] = msgspec.field(
        default_factory=dict[str, Argument]
    )
    timeout: Annotated[float, Meta(gt=0, le=600)] = 120
    read_only: bool = False


def read(text: str, where: str) -> Definition:
    """What stands in a file. Raises ConfigError naming file and line."""
    import tomllib

    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        found = _LINE.search(str(problem))
        raise ConfigError(f"{where}:{found.group(1) if found else 1}: {problem}.") from None
    try:
        made = msgspec.convert(tree, Definition)
        template.check(made.command, tuple(made.arguments))
        _arguments_of(made)
    except template.TemplateError as problem:
        raise ConfigError(f"{where}:{_line_of(text, 'command')}: {problem}.") from None
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{where}:{_line_of(text, _key_in(str(problem)))}: {problem}.") from None
    return made


def _key_in(problem: str) -> str:
    """The last name in what is wrong: the path `$.arguments[...].type`, or an unknown or missing field."""
    named = re.search(r"field `(\w+)`", problem) or re.search(r"\.(\w+)(?:\[\.\.\.\])*`?$", problem)
    return named.group(1) if named else ""


def _line_of(text: str, key: str) -> int:
    found = re.search(rf"^\s*\[?(?:\w+\.)*{re.escape(key)}\b", text, re.MULTILINE) if key else None
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _arguments_of(made: Definition) -> type[Any]:
    """A struct of the arguments. Raises msgspec.ValidationError for a default that does not fit."""
    fields: list[Any] = []
    for name, argument in made.arguments.items():
        kind: Any = Literal[argument.choices] if argument.choices else _KINDS[argument.type]
        described = Annotated[kind, Meta(description=argument.description)] if argument.description else kind
        if argument.default is None:
            fields.append((name, described))
        else:
            fields.append((name, described, msgspec.convert(argument.default, kind)))
    return msgspec.defstruct(f"{made.name}_arguments", fields, bases=(Arguments,), frozen=True, kw_only=True)


class CustomTool:
    """Runs as `bash` runs, and rules for `bash` count for its line, too."""

    bounded = False

    def __init__(self, made: Definition, bash: Tool) -> None:
        self.arguments = _arguments_of(made)
        self.read_only = made.read_only
        told = made.description.strip()
        self.spec = ToolSpec(made.name, told, schema_of(self.arguments), told.partition("\n")[0])
        self._made = made
        self._bash = bash

    def touches(self, args: Any, /) -> Touches:
        touched = self._bash.touches(self._call(args))
        return msgspec.structs.replace(touched, effect="read") if self.read_only else touched

    def preview(self, args: Any, /) -> Shown:
        return Shown(self._line(args))

    async def run(self, args: Any, say: Say, /) -> Output:
        return await self._bash.run(self._call(args), say)

    def _call(self, args: Any) -> Any:
        kind: type[BashArguments] = self._bash.arguments
        return kind(self._line(args), self._made.timeout)

    def _line(self, args: Any) -> str:
        given = {name: _word(getattr(args, name)) for name in self._made.arguments}
        if any("\0" in value for value in given.values()):
            raise ToolError("An argument holds a NUL character, which no command can be given.")
        return template.filled(self._made.command, given)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
