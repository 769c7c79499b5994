"""What the permission gate would say of a call, and which rules can never match; nothing runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from agent_cli.compose.custom_tools import definitions, own_of, with_own
from agent_cli.compose.kill_switch import listed
from agent_cli.compose.options import RunOptions
from agent_cli.compose.plan import planning
from agent_cli.compose.scope import facts, root_of, workspace
from agent_cli.compose.session import prepare
from agent_cli.compose.skills import TOOL
from agent_cli.compose.task import name_of
from agent_cli.compose.toolset import MCP, own_names, withheld
from agent_cli.config import places
from agent_cli.config.sources import Loaded
from agent_cli.engine.own_tools import book
from agent_cli.engine.own_tools.agentic import WRAPPERS
from agent_cli.engine.own_tools.book import Shape
from agent_cli.engine.own_tools.wait_and_verify import NAME as WAITS
from agent_cli.guardrails.kill_switch import Place, closed_tools
from agent_cli.kernel import wire
from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.kernel.outputs import Output
from agent_cli.kernel.serving import Ask
from agent_cli.permissions.book import judge
from agent_cli.permissions.lint import Dead, dead
from agent_cli.ports import Facts, Proposal, Ruling, Say, Tool
from agent_cli.tools.builtin import NAMES, builtin
from agent_cli.tools.results import Results

_OBJECT = re.compile(r'\s*\{\s*["}]')
WITHHELD = "the model does not get this tool: it is turned off, left out by the task class, or there is nothing for it"
NOT_TRUSTED = "this project is not trusted yet, so these of its settings and files do not count: {names}"
SERVED = "the server is not asked whether it has this tool, nor whether it only reads (trust_hints)"
INNER = "what it calls is judged at each call, as a call of the model is"


class Explained(NamedTuple):
    """`paths` and `hosts` are what the call would touch, as far as can be told; `notes` what else decides."""

    ruling: Ruling
    subject: str
    paths: tuple[str, ...]
    hosts: tuple[str, ...]
    facts: Facts
    notes: tuple[str, ...] = ()


class Explainer:
    """Knows every tool that a session could have here: built in, of files, of the engine. Raises ConfigError."""

    def __init__(self, options: RunOptions) -> None:
        loaded = prepare(options)
        self._options, self._loaded = options, loaded
        root = root_of(options, loaded)
        left_out = withheld(loaded)
        plan = planning(loaded, left_out)
        space = workspace(options, loaded.settings, root)
        results = Results(places.results_dir("", options.environ))
        world = {
            tool.spec.name: tool for tool in builtin(space, images=True, documents=True, results=results)
        }
        world = dict(with_own(world, space, own_of(loaded), frozenset()))
        offered = frozenset(world) - left_out
        own = own_names(left_out, plans=plan.recorded)
        offered |= {name for name in own if offered.issuperset(book.NEEDS.get(name, ()))}
        given = _stopped(options, loaded, facts(options, loaded, root, None, plan.needs_plan))
        self.facts = msgspec.structs.replace(given, tools=offered)
        self.shapes = {**book.SHAPES, **{name: _shape(tool) for name, tool in world.items()}}
        self._left_out = _told_of_left_out(loaded)
        self._pinned = {name: each.args for name, each in loaded.settings.tools.each.items()}

    def explain(self, name: str, words: str) -> Explained:
        """`words` are the arguments as JSON, or the text of the first argument. Raises ConfigError."""
        shape = self.shapes.get(name)
        if shape is None and name.startswith(MCP):
            shape = self._served(name)
        if shape is None:
            raise ConfigError(
                f"There is no tool '{name}' to explain. The tools are {', '.join(self.shapes)}."
            )
        try:
            pinned = self._pinned.get(name, {})
            touches = shape.touches(wire.arguments(shape.arguments, {**_arguments(shape, words), **pinned}))
        except AgentError as problem:
            raise ConfigError(f"These are no arguments of {name}: {problem}") from None
        ruling = judge(Proposal(name, shape.read_only, touches), self.facts)
        paths = tuple(f"{use.path} ({use.access})" for use in touches.paths)
        notes = [] if name in self.facts.tools else [WITHHELD]
        notes = [SERVED] if name.startswith(MCP) else notes
        notes += [INNER] if name in WRAPPERS or name == WAITS else []
        return Explained(ruling, touches.subject, paths, touches.hosts, self.facts, (*notes, *self._left_out))

    def _served(self, name: str) -> Shape:
        """Of a tool of a server, which is not started for it. Raises ConfigError."""
        from agent_cli.compose.servers import host_of
        from agent_cli.mcp.tool import ServedTool, spec_of

        host = host_of(self._options, self._loaded, name)
        tool = ServedTool(spec_of(name, "", {}, ""), name, host, _never, read_only=False)
        return Shape(tool.arguments, tool.read_only, tool.touches)


async def _never(tool: str, arguments: dict[str, Any], say: Say, ask: Ask | None, /) -> Output:
    """Nothing is called for an explanation."""
    raise ConfigError(f"{tool} is not called")


def explain(options: RunOptions, name: str, words: str) -> Explained:
    """One call. Raises ConfigError."""
    return Explainer(options).explain(name, words)


def _stopped(options: RunOptions, loaded: Loaded, given: Facts) -> Facts:
    """With the kill switches that are on now."""
    place = Place("", name_of(loaded), (str(options.cwd.resolve()), given.roots[0][0]), given.mode)
    killed = closed_tools(partial(listed, options, loaded, every=False), place)
    return msgspec.structs.replace(given, killed=killed)


def lint(options: RunOptions) -> Iterator[Dead]:
    loaded = prepare(options)
    permissions = loaded.settings.permissions
    return dead(permissions.allow, permissions.deny, (*NAMES, *book.NAMES, TOOL, *definitions(loaded)))


def left_out(options: RunOptions) -> tuple[str, ...]:
    """A line about what of the project does not count, where it is not trusted. Raises ConfigError."""
    return _told_of_left_out(prepare(options))


def _told_of_left_out(loaded: Loaded) -> tuple[str, ...]:
    return (NOT_TRUSTED.format(names=", ".join(loaded.left_out)),) if loaded.left_out else ()


def _shape(tool: Tool) -> Shape:
    return Shape(tool.arguments, tool.read_only, tool.touches)


def _arguments(shape: Shape, words: str) -> Mapping[str, Any]:
    if _OBJECT.match(words):
        try:
            found = json.loads(words)
        except ValueError as problem:
            raise ConfigError(f"The arguments are not JSON: {problem}") from None
        if wire.is_object(found):
            return found
    if shape.arguments in wire.FREE:
        raise ConfigError('The arguments of a server\'s tool are JSON, like {"text": "x"}.')
    schema = wire.schema_of(shape.arguments)
    required, properties = schema["required"], schema["properties"]
    first = (required or list(properties))[0]
    plain = {name: "" for name in required if properties[name].get("type") == "string"}
    return {**plain, first: words} if properties[first].get("type") == "string" else {first: [words]}


__all__ = ["Dead", "Explained", "Explainer", "explain", "left_out", "lint"]
