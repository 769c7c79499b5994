"""What the permission gate would say of a call, and which rules can never match; nothing runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from agent_cli.compose.options import RunOptions
from agent_cli.compose.scope import facts, root_of, workspace
from agent_cli.compose.session import prepare
from agent_cli.engine.own_tools import book
from agent_cli.kernel import wire
from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.permissions.book import judge
from agent_cli.permissions.lint import Dead, dead
from agent_cli.ports import Facts, Proposal, Ruling, Tool
from agent_cli.tools.builtin import NAMES, builtin
from agent_cli.tools.workspace import Workspace


class Explained(NamedTuple):
    """`paths` and `hosts` are what the call would touch, as far as can be told."""

    ruling: Ruling
    subject: str
    paths: tuple[str, ...]
    hosts: tuple[str, ...]
    facts: Facts


def explain(options: RunOptions, name: str, words: str) -> Explained:
    """`words` are the arguments as JSON, or the text of the first argument. Raises ConfigError."""
    loaded = prepare(options)
    root = root_of(options, loaded)
    space = workspace(options, loaded.settings, root)
    known = {tool.spec.name: tool for tool in _tools(space)}
    tool = known.get(name)
    if tool is None:
        raise ConfigError(f"There is no tool '{name}' to explain. The tools are {', '.join(known)}.")
    given = facts(options, loaded, root, None)
    given = _with_tools(given, frozenset(known) - frozenset(loaded.settings.tools.disable))
    try:
        touches = tool.touches(wire.arguments(tool.arguments, _arguments(tool, words)))
    except AgentError as problem:
        raise ConfigError(f"These are no arguments of {name}: {problem}") from None
    ruling = judge(Proposal(name, tool.read_only, touches), given)
    paths = tuple(f"{use.path} ({use.access})" for use in touches.paths)
    return Explained(ruling, touches.subject, paths, touches.hosts, given)


def lint(options: RunOptions) -> Iterator[Dead]:
    permissions = prepare(options).settings.permissions
    return dead(permissions.allow, permissions.deny, (*NAMES, *book.NAMES))


def _tools(space: Workspace) -> tuple[Tool, ...]:
    return builtin(space, images=True, documents=True)


def _with_tools(given: Facts, tools: frozenset[str]) -> Facts:
    import msgspec

    return msgspec.structs.replace(given, tools=tools)


def _arguments(tool: Tool, words: str) -> dict[str, Any]:
    if words.lstrip().startswith("{"):
        try:
            found = json.loads(words)
        except ValueError as problem:
            raise ConfigError(f"The arguments are not JSON: {problem}") from None
        if wire.is_object(found):
            return found
    required = tool.spec.schema["required"]
    properties = tool.spec.schema["properties"]
    first = (required or list(properties))[0]
    plain = {name: "" for name in required if properties[name].get("type") == "string"}
    return {**plain, first: words} if properties[first].get("type") == "string" else {first: [words]}


__all__ = ["Dead", "Explained", "explain", "lint"]
