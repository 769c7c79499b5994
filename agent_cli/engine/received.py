"""What a model said, made fit to be recorded: calls have ids of their own, and arguments that can be read."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agent_cli.engine.core import Core
from agent_cli.engine.repair import repair
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Said, ToolCall, calls_of


def with_own_ids(core: Core, parts: tuple[Said, ...]) -> tuple[Said, ...]:
    """A call id that is empty or was used before gets a new one: results are matched by it."""
    earlier, used = core.call_ids, set[str]()
    own: list[Said] = []
    for at, part in enumerate(parts):
        taken = isinstance(part, ToolCall) and (
            not part.call_id or part.call_id in used or part.call_id in earlier
        )
        kept = msgspec.structs.replace(part, call_id=f"call_{core.hub.seq}_{at}") if taken else part
        if isinstance(kept, ToolCall):
            used.add(kept.call_id)
        own.append(kept)
    return tuple(own)


def settled(finished: ev.Finished, own: tuple[Said, ...]) -> Mapping[str, ev.Output]:
    """By the ids that the calls have here."""
    known = {result.call_id: ev.Output(result.content, ok=result.ok) for result in finished.answered}
    pairs = zip(calls_of(finished.parts), calls_of(own), strict=True) if known else ()
    return {call.call_id: known[before.call_id] for before, call in pairs if before.call_id in known}


def mended(parts: tuple[Said, ...]) -> tuple[tuple[Said, ...], frozenset[str]]:
    """The parts with broken arguments repaired, and the ids of the calls in which something had to be closed.

    Of the last one nothing may have come yet: an answer that was cut there may have meant more.
    """
    last = parts[-1] if parts else None
    closed = {last.call_id} if isinstance(last, ToolCall) and not last.raw.strip() else set[str]()
    whole: list[Said] = []
    for part in parts:
        found = repair(part.raw) if isinstance(part, ToolCall) and part.arguments is None else None
        if found is not None and isinstance(part, ToolCall):
            closed.update({part.call_id} if found.closed else ())
            whole.append(msgspec.structs.replace(part, arguments=found.arguments))
        else:
            whole.append(part)
    return tuple(whole), frozenset(closed)
