"""One call: find the tool, read its arguments, judge it, run it, bound and record what it returned."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import msgspec

from agent_cli.context.bounds import BATCH_BYTES, Room
from agent_cli.engine import rewinding, tree
from agent_cli.engine.asking import asks
from agent_cli.engine.cleaning import Previews
from agent_cli.engine.core import Core
from agent_cli.engine.tuning import PLAIN, expired
from agent_cli.engine.window import budget_for, mark_pending
from agent_cli.guardrails.watch import UNREACHED
from agent_cli.kernel import events as ev
from agent_cli.kernel import wire
from agent_cli.kernel.errors import ArgumentsError, ToolError
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.serving import asking
from agent_cli.ports import Proposal, Ruling, Say, Tool

log = logging.getLogger("agent_cli.engine")

CANCELLED = "cancelled {why}; what it returned so far may be missing"
CUT = "not run: the arguments were cut off by the output limit; make the call again in smaller parts"
CRASHED = "{name} crashed ({problem}); this is a fault of the tool"
UNWRITABLE = (
    "{name} ran, and what it returned cannot be written down ({problem}); this is a fault of the tool"
)
LONGEST_REASON = 120
OFTEN = "not run: `{name}` may be called {most} times in a turn, and was; go on without it"
RETRIEVE = "retrieve_output"
BATCH_BYTES_PER_TOKEN = 2
"""Results at 3 bytes a token: one step takes at most two thirds of what the conversation may have."""
running: ContextVar[str] = ContextVar("running", default="")
"""The id of the call whose tool runs."""
UNSEEN = "it ran; its result was not looked at before the turn was stopped, and is left out"
BY_OPERATOR = "by the operator"


class Ready(msgspec.Struct, frozen=True):
    """A call whose arguments fit, with what the gate said."""

    call: ToolCall
    tool: Tool
    args: Any
    proposal: Proposal
    ruling: Ruling


class Refused(msgspec.Struct, frozen=True):
    """A call that will not run; `output` is its result."""

    call: ToolCall
    output: ev.Output


def failure(text: str) -> ev.Output:
    return ev.Output((Text(text),), ok=False)


def not_run(core: Core) -> str:
    """What a call is told that was stopped before it began."""
    return f"{UNREACHED}: {core.cut_off}" if core.cut_off else UNREACHED


def vet(
    core: Core,
    call: ToolCall,
    *,
    cut: bool = False,
    ease: Callable[[Proposal, Ruling], Ruling] | None = None,
) -> Ready | Refused:
    """Nothing of the call runs here. A tool or a rule that raises counts as deny.

    `cut` says that its arguments were cut off: it runs only if it changes nothing. `ease` gives the ruling as a hook would
    have it.
    """
    tool = core.tools().get(call.name)
    if tool is None:
        return Refused(call, failure(_unknown(call.name, list(core.tools()))))
    if call.arguments is None:
        return Refused(call, failure(f"the arguments are not a JSON object: {call.raw[:200]}"))
    if cut and not tool.read_only:
        return Refused(call, failure(CUT))
    tuning = core.parts.settings.tunings.get(call.name, PLAIN)
    try:
        args = wire.arguments(tool.arguments, {**call.arguments, **tuning.args})
        proposal = Proposal(call.name, tool.read_only, tool.touches(args))
    except (ArgumentsError, ToolError) as problem:
        return Refused(call, failure(str(problem)))
    except Exception as problem:
        log.exception("tool %s cannot say what it would touch", call.name)
        return Refused(call, failure(CRASHED.format(name=call.name, problem=_named(problem))))
    ruling = judge(core, proposal)
    ruling = ease(proposal, ruling) if ease else ruling
    if ruling.verdict == "deny":
        return Refused(call, failure(denial(ruling)))
    if not core.tally.take(core.hub.turn, call.name, tuning.max_calls):
        return Refused(call, failure(OFTEN.format(name=call.name, most=tuning.max_calls)))
    if ruling.warning:
        core.record(ev.OperatorNote(ruling.warning, "warning"))
    return Ready(call, tool, args, proposal, ruling)


def judge(core: Core, proposal: Proposal, *, attended: bool = False) -> Ruling:
    """With `attended`, as if somebody were there to be asked."""
    try:
        facts = core.facts()
        return core.parts.judge(
            proposal, msgspec.structs.replace(facts, attended=True) if attended else facts
        )
    except Exception as problem:  # a rule that raises counts as deny, whatever it raised
        log.exception("permission rule failed")
        return Ruling(
            "deny", "rule-failed", f"a permission rule failed ({type(problem).__name__}: {problem})"
        )


def denial(ruling: Ruling, message: str = "") -> str:
    """What the model reads of a refusal."""
    told = [f"Refused ({ruling.rule}): {ruling.reason.rstrip('.')}.", message, ruling.remedy]
    return "\n".join(line for line in told if line)


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else ""
    return " ".join(filter(None, (f"There is no tool '{name}';", hint, f"the tools are {', '.join(known)}.")))


def room(core: Core, proposed: int) -> Room:
    """What the results of one step, of so many calls, may take together, less where the window is small."""
    limit = budget_for(core).limit
    return Room(min(BATCH_BYTES, limit * BATCH_BYTES_PER_TOKEN), proposed)


async def run(core: Core, ready: Ready, room: Room) -> None:
    """Runs a call that may run and records its one result, also when it is cancelled or crashes."""
    call, clock = ready.call, core.parts.clock
    core.record(
        ev.ToolCallStarted(call.call_id, call.name, ready.proposal.touches.subject, ready.ruling.rule)
    )
    begun = clock.monotonic()

    previews = Previews(core.hub.show, on=core.parts.armed.redact)

    def say(text: str) -> None:
        previews.feed(ev.ToolProgress(call.call_id, text))

    working = core.outside.begin(call.call_id, call.name)
    try:
        await rewinding.keep(core, ready.proposal.touches)
        with _in_its_name(core, call):
            output = await _weighed(core, ready, say)
        await rewinding.note(core, output)
    except asyncio.CancelledError as cancelled:
        rewinding.cut_short(core, ready.proposal.touches)
        so_far = str(cancelled.args[0]) if cancelled.args else ""  # a tool that had something says it there
        stop = tree.cut_off(core)
        why = f"since the turn was stopped: {stop}" if stop else BY_OPERATOR
        why = f"since {working.why}" if working and working.why else why
        told = failure("\n".join(filter(None, (CANCELLED.format(why=why), so_far))))
        within = partial(_bounded, core, ready, room)
        told = core.guards.cut_short(call, ready.proposal.touches.effect, _writable(call, told), within)
        settle(core, call, told, executed=True, seconds=clock.monotonic() - begun)
        raise
    except ToolError as problem:
        output = failure(str(problem))
    except Exception as problem:
        log.exception("tool %s crashed", call.name)
        output = failure(CRASHED.format(name=call.name, problem=_named(problem)))
    finally:
        previews.rest()
        core.outside.at_work.pop(call.call_id, None)
    await _enter(core, ready, output, room, clock.monotonic() - begun)


@contextmanager
def _in_its_name(core: Core, call: ToolCall) -> Generator[None]:
    """What runs here knows for which call, and asks the operator for it."""
    mark = running.set(call.call_id)
    voice = asking.set(asks(core, call.call_id, call.name))
    try:
        yield
    finally:
        running.reset(mark)
        asking.reset(voice)


async def _enter(core: Core, ready: Ready, output: ev.Output, room: Room, seconds: float) -> None:
    """Records the result as far as it may enter the conversation."""
    call, touches = ready.call, ready.proposal.touches
    try:
        within = partial(_bounded, core, ready, room)
        output = await core.guards.enters(call, touches.effect, _writable(call, output), within)
    except asyncio.CancelledError:
        settle(core, call, failure(UNSEEN), executed=True, seconds=seconds)
        raise
    if output.ok:
        core.state.past.know(tuple(use.path for use in touches.paths if use.access == "r"))
    settle(core, call, output, executed=True, seconds=seconds)
    if core.parts.hooks is not None:
        from agent_cli.engine.hooking import returned  # only who has hooks pays for them

        await returned(core, call, ready.args, output)


def _writable(call: ToolCall, output: ev.Output) -> ev.Output:
    """The same, or a few words in the place of what cannot be written down."""
    try:
        return wire.encodable(ev.Output, output)
    except wire.WireError as problem:
        log.exception("tool %s returned what is no result", call.name)
        return failure(UNWRITABLE.format(name=call.name, problem=str(problem)[:LONGEST_REASON]))


async def _weighed(core: Core, ready: Ready, say: Say) -> ev.Output:
    """What it wrote and deleted counts for the calls that come, where that is bounded; also if it fails."""
    scales, touches = core.parts.scales, ready.proposal.touches
    if scales is None or touches.effect != "execute":
        return await _in_time(core, ready, say)
    await asyncio.to_thread(scales.begin, tuple(use.path for use in touches.paths))
    try:
        return await _in_time(core, ready, say)
    finally:
        found = await asyncio.shield(asyncio.to_thread(scales.end))
        more = max(found.deleted - (touches.deletes or 0), 0)  # the rest was counted before it ran
        core.root.state.past.weighs(found.written, more)


async def _in_time(core: Core, ready: Ready, say: Say) -> ev.Output:
    """The tool's result within the time that the operator gave it. Expiry is a result, too."""
    seconds = core.parts.settings.tunings.get(ready.call.name, PLAIN).timeout
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await ready.tool.run(ready.args, say)
    except TimeoutError as late:
        if seconds is None or not limit.expired():
            raise
        told = expired(ready.call.name, seconds, late.__cause__)
        return failure(told) if isinstance(told, str) else told


def _bounded(core: Core, ready: Ready, room: Room, output: ev.Output) -> ev.Output:
    """A tool that pages by itself keeps nothing: what is cut here it can be asked for again."""
    settings = core.parts.settings
    of_its_own = settings.result_bytes.get(ready.call.name)
    if ready.tool.bounded:
        return room.take(output, of_its_own)
    call_id = ready.call.call_id
    how = f'{RETRIEVE}(id="{call_id}", offset={{offset}})' if RETRIEVE in core.tools() else ""
    keep = partial(core.parts.spill, call_id) if core.parts.spill else None
    return room.take(output, of_its_own or settings.max_result_bytes, keep, how)


def bounded_report(core: Core, output: ev.Output) -> ev.Output:
    """What comes without a call passes the same bound; nothing of it is kept elsewhere."""
    return room(core, 1).take(output, core.parts.settings.max_result_bytes)


def settle(core: Core, call: ToolCall, output: ev.Output, *, executed: bool, seconds: float = 0.0) -> None:
    core.record(ev.ToolReturned(call.call_id, call.name, output, executed, round(seconds, 4)))
    mark_pending(core)
    if executed and output.ok:
        core.tally.succeeded(core.hub.turn, call.name)


def _named(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"
