"""Tools that come and go while a session runs: they join at a seam, all at once, and the operator is told."""

from __future__ import annotations

from collections.abc import Mapping

from agent_cli.engine.beginning import compare
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.ports import Tool

ANEW = "; the prompt cache is lost from here on and written anew"
MOST_NAMES = 6
FIRST = "the first request was compared with the last one of the process before"


async def join(core: Core) -> None:
    """What changed since the last seam counts from here on."""
    joining = core.parts.joining
    if joining is None or core.above is not None:
        return
    await joining.settle(lambda doing, seconds: core.hub.show(ev.Waiting(seconds, doing)))
    first = core.last_prompt is None and FIRST not in core.told
    found = joining.tools(core.model.card.window)
    if found is not core.joined:
        told = _told(core.joined, found)
        core.joined = found
        if told:
            asked = core.last_prompt is not None
            core.record(ev.OperatorNote(told + (ANEW if asked else "")))
            core.last_prompt = None
    if first:
        core.told.add(FIRST)
        compare(core, core.state.prefixes.get(core.model.card.id, ""), core.prefix().digests)
    for line in joining.news():
        core.record(ev.OperatorNote(line, "warning"))


def _told(old: Mapping[str, Tool], new: Mapping[str, Tool]) -> str:
    gone, added = [name for name in old if name not in new], [name for name in new if name not in old]
    other = [name for name in old if name in new and old[name].spec != new[name].spec]
    parts = (("joined", added), ("left", gone), ("changed", other))
    said = [f"{len(names)} {what}: {_few(names)}" for what, names in parts if names]
    return f"tools of servers: {'; '.join(said)}" if said else ""


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
