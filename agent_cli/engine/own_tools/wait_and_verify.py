"""Waits for something by making a reading call again and again, so that the model does not have to."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any

from msgspec import Meta

from agent_cli.engine import calls
from agent_cli.engine.core import Core
from agent_cli.engine.own_tools.words import spec_of
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown, as_text
from agent_cli.kernel.messages import Block, Text, ToolCall
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.permissions.rules import allows_line
from agent_cli.ports import Proposal, Say, Touches

NAME = "wait_and_verify"
MOST_SECONDS = 300
MOST_TRIES = 60
OK = "ok"
LOOKED_AT = 200_000
"""Characters of a result in which `until` is looked for: its end."""
GO_ON = "Make the call yourself where it may be asked for, or wait for something that a reading call shows."


class Check(Arguments, frozen=True):
    tool: Annotated[str, for_people("the tool to call")]
    arguments: Annotated[dict[str, Any], for_people("its arguments")]


class WaitArguments(Arguments, frozen=True):
    check: Annotated[Check, for_people("the call that looks")]
    until: Annotated[str, for_people('text or regular expression that its result must hold, or "ok"')] = OK
    interval: Annotated[
        float, Meta(gt=0, le=MOST_SECONDS), for_people("seconds between two tries, at least timeout / 60")
    ] = 2
    timeout: Annotated[float, Meta(gt=0, le=MOST_SECONDS), for_people("most seconds in all")] = 60


class WaitAndVerify:
    """Asks for nothing by itself: what it calls is judged, at every try, as the call of the model would be."""

    arguments = WaitArguments
    read_only = True
    bounded = False

    def __init__(self, core: Core) -> None:
        self.spec = spec_of(NAME, WaitArguments)
        self._core = core

    @staticmethod
    def touches(args: WaitArguments, /) -> Touches:
        told = args.check.arguments
        first = next((value for value in told.values() if isinstance(value, str)), "")
        return Touches("none", f"{args.check.tool} {first} until {args.until}")

    def preview(self, args: WaitArguments, /) -> None:
        """Nothing to see."""

    async def run(self, args: WaitArguments, say: Say, /) -> Output:
        holds = _condition(args.until)
        ready = self._vetted(args.check)
        clock = self._core.parts.clock
        begun, tries, last = clock.monotonic(), 0, Output(())
        interval = max(args.interval, args.timeout / MOST_TRIES)
        try:
            while True:
                tries += 1
                last = await self._looked(ready, args.timeout - (clock.monotonic() - begun))
                passed = clock.monotonic() - begun
                if holds(last):
                    return _told(f"It holds: {_count(tries, passed)}.", last, ok=True)
                left = args.timeout - passed
                if tries >= MOST_TRIES or left < interval:
                    break
                say(f"try {tries}, {passed:.0f} s: not yet\n")
                await clock.sleep(interval)
        except asyncio.CancelledError as cut:
            cut.args = (f"{_count(tries, clock.monotonic() - begun)}; it did not hold yet.\n{as_text(last)}",)
            raise
        what = "the call did not succeed" if args.until == OK else f"{args.until!r} was not in the result"
        return _told(f"Not yet: {_count(tries, passed)}, and {what}. The last result:", last, ok=False)

    def _vetted(self, check: Check) -> calls.Ready:
        """Raises ToolError where this call may not be made, or not be repeated unseen."""
        core = self._core
        if check.tool in core.parts.own_tools:
            raise ToolError(f"`{check.tool}` cannot be a check. {GO_ON}")
        call = ToolCall(calls.running.get() or NAME, check.tool, check.arguments)
        vetted = calls.vet(core, call)
        if isinstance(vetted, calls.Refused):
            raise ToolError(as_text(vetted.output))
        command = vetted.proposal.touches.command
        reads = vetted.tool.read_only or (command is not None and allows_line((), command) is not None)
        if not reads or check.arguments.get("background"):
            what = f"the line `{command}`" if command is not None else f"`{check.tool}`"
            raise ToolError(f"Nothing was run: it is not certain that {what} only reads. {GO_ON}")
        self._check_allowed(vetted)
        return vetted

    def _check_allowed(self, ready: calls.Ready) -> None:
        """Judges the call as things are now: mode, rules and links may have changed meanwhile."""
        touches = ready.tool.touches(ready.args)
        proposal = Proposal(ready.call.name, ready.tool.read_only, touches)
        ruling = calls.judge(self._core, proposal)
        if ruling.verdict == "deny":
            raise ToolError(calls.denial(ruling))
        if ruling.verdict == "ask":
            raise ToolError(f"Nothing was run: the operator would be asked ({ruling.reason}). {GO_ON}")

    async def _looked(self, ready: calls.Ready, left: float) -> Output:
        """One try. What the call itself fails at is its result."""
        self._check_allowed(ready)
        try:
            async with asyncio.timeout(max(left, 1.0)):
                return await ready.tool.run(ready.args, _unheard)
        except ToolError as problem:
            return calls.failure(str(problem))
        except TimeoutError:
            return calls.failure(f"{ready.call.name} did not return within the time that was left")


def _unheard(text: str) -> None:
    """What a try prints while it runs is in its result, too."""


class _Holds:
    """Whether a result holds what is waited for. Text that is also an expression counts as both."""

    def __init__(self, until: str, expression: re.Pattern[str] | None) -> None:
        self._until = until
        self._expression = expression

    def __call__(self, output: Output) -> bool:
        if self._until == OK:
            return output.ok
        text = as_text(output)[-LOOKED_AT:]
        return self._until in text or bool(self._expression and self._expression.search(text))


def _condition(until: str) -> _Holds:
    """Raises ToolError for an empty one."""
    if not until.strip():
        raise ToolError('`until` is empty: give a text that the result must hold, or "ok".')
    try:
        return _Holds(until, re.compile(until, re.MULTILINE))
    except re.error:
        return _Holds(until, None)


def _count(tries: int, seconds: float) -> str:
    return f"{tries} {'try' if tries == 1 else 'tries'} in {seconds:.0f} s"


def _told(head: str, last: Output, *, ok: bool) -> Output:
    blocks: tuple[Block, ...] = (Text(head), *last.for_model)
    return Output(blocks, Shown(f"{head}\n{as_text(last)}"), ok=ok)
