"""Tools that are not offered at once, since their schemas would fill the window: found by name or words, and then offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.wire import Arguments, describe, schema_of
from agent_cli.ports import Say, Tool, Touches

NAME = "find_tools"
MOST = 8
"""Tools that one search makes available."""
LISTED = 8_000
"""Characters of names in the description."""
TOLD = """Makes more tools available. Those below are there but cannot be called yet: name the ones that you need, or say in a
few words what you want to do. At most {most} are found at once; they can be called from your next step on.
{names}"""


class FindArguments(Arguments, frozen=True):
    query: Annotated[str, describe("names of tools, with commas between, or words for what you want to do")]


class FindTools:
    arguments = FindArguments
    read_only = True
    bounded = False

    def __init__(self, hidden: Mapping[str, Tool], activate: Callable[[tuple[str, ...]], None]) -> None:
        self.spec = ToolSpec(
            NAME,
            TOLD.format(most=MOST, names=_listed(hidden)),
            schema_of(FindArguments),
            "Makes more tools available.",
        )
        self._hidden = hidden
        self._activate = activate

    @staticmethod
    def touches(args: FindArguments, /) -> Touches:
        return Touches("none", args.query)

    def preview(self, args: FindArguments, /) -> Shown:
        return Shown(args.query)

    async def run(self, args: FindArguments, say: Say, /) -> Output:
        found = found_in(self._hidden, args.query)
        if not found:
            raise ToolError(f"No tool fits {args.query!r}. Take other words, or a name from the list.")
        self._activate(found)
        lines = [f"{name}: {self._hidden[name].spec.brief}" for name in found]
        return Output((Text("These can be called from your next step on:\n" + "\n".join(lines)),))


def found_in(tools: Mapping[str, Tool], query: str) -> tuple[str, ...]:
    """By exact names where there are any, else by words, the best first."""
    asked = [word.strip() for word in re.split(r"[,\s]+", query) if word.strip()]
    exact = [name for name in tools if name in asked or name.rpartition("__")[2] in asked]
    if exact:
        return tuple(exact[:MOST])
    words = [word.casefold() for word in asked if len(word) > 1]
    scores: dict[str, int] = {}
    for name, tool in tools.items():
        near, far = name.casefold(), tool.spec.description.casefold()
        scores[name] = sum(3 * (word in near) + (word in far) for word in words)
    ranked = sorted((name for name in tools if scores[name]), key=lambda name: (-scores[name], name))
    return tuple(ranked[:MOST])


def _listed(tools: Mapping[str, Tool]) -> str:
    """By server, as long as there is room; of the rest how many there are."""
    by_server: dict[str, list[str]] = {}
    for name in tools:
        head, _, own = name.removeprefix("mcp__").partition("__")
        by_server.setdefault(head, []).append(own)
    lines: list[str] = []
    left = LISTED
    for server, names in by_server.items():
        kept: list[str] = []
        for name in names:
            if left < len(name) + 2:
                break
            kept.append(name)
            left -= len(name) + 2
        more = f", and {len(names) - len(kept)} more" if len(kept) < len(names) else ""
        lines.append(f"mcp__{server}__: {', '.join(kept)}{more}")
    return "\n".join(lines)
