"""One run of the program, with its bridge: what it says comes out in steps, each with the calls that it wants.

The program holds its calls open at the bridge until the engine has vetted and run them, and goes on with the results.
So every call takes the way that every other call takes, and is recorded before the program hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agent_cli.kernel.errors import ConnectionFailed, ProviderError, StreamCut
from agent_cli.kernel.events import Finished, Piece, SpentBeside
from agent_cli.kernel.messages import Block, Text, ToolResult, ToolSpec
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.catalog import normalised
from agent_cli.providers.claude import rpc, verdicts, words
from agent_cli.providers.claude.bridge import Bridge
from agent_cli.providers.claude.child import Child
from agent_cli.providers.claude.command import Files
from agent_cli.providers.claude.said import Answer, results_in
from agent_cli.providers.pile import parsed

Json = dict[str, Any]
QUIET = 1.0
"""Seconds without a word after which no more calls of one answer are waited for."""
STRANGER = "not run: this call is none that the model's answer announced"


class Terms(NamedTuple):
    """How the program is asked. Timeouts are seconds; `overrides` are fields of cards by model."""

    provider: str
    card: ModelCard
    first_byte_timeout: float
    stall_timeout: float
    overrides: Mapping[str, Mapping[str, Any]]


class Ended(NamedTuple):
    """Nothing more comes; `problem` is why, None where it only fell silent."""

    problem: ProviderError | None


class SessionLost(StreamCut):
    """The program does not know the session that it was to go on with."""


@dataclass(slots=True)
class Claim:
    """A call that the program holds open at the bridge."""

    asked: rpc.Invocation
    result: asyncio.Future[ToolResult]


@dataclass(slots=True)
class Calls:
    """The calls of one answer. `told` are results that the program gave by itself, `ready` ours by id."""

    ids: tuple[str, ...] = ()
    claims: dict[str, Claim] = field(default_factory=dict[str, Claim])
    told: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    ready: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])

    def open_of(self, wanted: Sequence[str]) -> list[str]:
        """Those that neither came to the bridge nor were answered."""
        return [call_id for call_id in wanted if call_id not in self.claims and call_id not in self.told]


class Attempt:
    """`tools` is all that the program may have. `end` must be awaited, or `kill` called, whatever happens."""

    def __init__(self, terms: Terms, tools: Sequence[ToolSpec], session: str) -> None:
        self.tools = tuple(tools)
        self.attested = False
        self.done = False
        self.calls = Calls()
        self._terms = terms
        self._session = session
        self._given = frozenset(rpc.PREFIX + tool.name for tool in tools)
        self.bridge = Bridge(self.tools, self._claim)
        self.files: Files | None = None
        self._child: Child | None = None
        self._reading: asyncio.Task[None] | None = None
        self._lines: asyncio.Queue[Json | Claim | Ended] = asyncio.Queue()
        self._counted: dict[str, Usage] = {}
        self._handed: set[str] = set()
        self._reported: dict[str, Usage] = {}
        self._unnamed = 0
        self._heard = False

    # ── life ──

    def begin(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """The bridge must be open. Raises OSError."""
        self._child = Child(argv, cwd, env)
        self._reading = asyncio.create_task(self._read(self._child))

    async def say(self, blocks: Sequence[Block]) -> None:
        if self._child is not None:
            self.done = False
            await self._child.say(words.line(blocks, self._session))

    def hand_back(self, results: Sequence[ToolResult]) -> None:
        """The results of the last answer's calls, in their order."""
        calls, self.calls = self.calls, Calls()
        self._handed.update(calls.ids)
        for call_id, result in zip(calls.ids, results, strict=False):
            claim = calls.claims.get(call_id)
            if claim is not None and not claim.result.done():
                claim.result.set_result(result)
            elif call_id not in calls.told:
                self.calls.ready[call_id] = result

    def kill(self) -> None:
        """Ends the program and all that it started, at once."""
        if self._child is not None:
            self._child.kill()
        if self._reading is not None:
            self._reading.cancel()

    async def end(self) -> None:
        """A program that is done may leave by itself; any other one is killed."""
        try:
            if self.done and self._child is not None:
                await self._child.leave()
        finally:
            self.kill()
            self._clear()
            await self.bridge.close()
            if self._reading is not None:
                await asyncio.gather(self._reading, return_exceptions=True)

    def _clear(self) -> None:
        """The program has read its files by the time it says which tools it has."""
        if self.files is not None:
            self.files.remove()

    # ── what it says ──

    async def _read(self, child: Child) -> None:
        """Looks at each line as it comes: a program with other tools is dead before its next line is read."""
        problem: ProviderError | None = None
        try:
            async with aclosing(child.lines()) as lines:
                async for line in lines:
                    told = _json(line)
                    self._attest(told)
                    self._lines.put_nowait(told)
        except ProviderError as broken:
            child.kill()
            problem = broken
        except OSError as broken:
            problem = StreamCut(f"{verdicts.LABEL} could not be read: {broken}")
        self._lines.put_nowait(Ended(problem))

    def _attest(self, told: Json) -> None:
        """Raises ToolSurface, and SessionLost."""
        if told.get("type") == "system" and told.get("subtype") == "init":
            reported = told.get("tools")
            problem = verdicts.surface(reported if is_list(reported) else (), self._given)
            if problem is not None:
                raise problem
            self.attested = True
            self._clear()
        elif told.get("type") == "result" and not self.attested:
            if verdicts.is_lost(told):
                raise SessionLost(f"{verdicts.LABEL} does not know its session any more.")
            raise verdicts.unproven("reported a result")
        elif told.get("type") in ("assistant", "stream_event") and not self.attested:
            raise verdicts.unproven("began to answer")

    async def step(self) -> AsyncGenerator[Piece | Finished, None]:
        """Up to the next calls, or to the end. Raises ProviderError."""
        answer = Answer(self._terms.provider, self._terms.card)
        while True:
            told = await self._next(answer)
            match told:
                case Ended(problem):
                    raise problem or await self._silent()
                case dict():
                    for piece in self._heed(told, answer):
                        yield piece
                    if told.get("type") == "result":
                        for piece in self._close(told, answer):
                            yield piece
                        yield self._finish(answer)
                        return
                case Claim() | None:
                    pass
            if self._is_settled(answer, quiet=told is None):
                yield self._finish(answer)
                return

    async def _next(self, answer: Answer) -> Json | Claim | Ended | None:
        """None where it is quiet and calls of it wait. Raises ConnectionFailed where it is silent for too long."""
        waits = bool(answer.calls()) and (bool(self.calls.claims or self.calls.told) or not answer.certain)
        terms = self._terms
        limit = terms.stall_timeout if self._heard else terms.first_byte_timeout
        try:
            async with asyncio.timeout(QUIET if waits else limit):
                told = await self._lines.get()
        except TimeoutError:
            if waits:
                return None
            raise ConnectionFailed(f"{verdicts.LABEL} said nothing for {limit:g} s.") from None
        self._heard = True
        return told

    def _heed(self, told: Json, answer: Answer) -> Sequence[Piece]:
        if told.get("parent_tool_use_id") is not None:
            return ()
        event, message = told.get("event"), told.get("message")
        match told.get("type"):
            case "stream_event" if is_object(event):
                return answer.event(event)
            case "assistant" if is_object(message):
                return answer.whole(message)
            case "user" if is_object(message):
                known = self.calls
                known.told.update(
                    (result.call_id, result)
                    for result in results_in(message)
                    if result.call_id not in known.claims and result.call_id not in self._handed
                )
            case _:
                pass
        return ()

    def _is_settled(self, answer: Answer, *, quiet: bool) -> bool:
        """Whether the calls of the answer can be run: all came to the bridge, or no more are to be expected."""
        calls = answer.calls()
        if not calls:
            return False
        self._match(answer)
        return quiet or (answer.certain and not self.calls.open_of([call.call_id for call in calls]))

    def _match(self, answer: Answer) -> None:
        """Claims without an id, of programs that tell none, belong to the first call that looks like them."""
        for key in [key for key, claim in self.calls.claims.items() if not claim.asked.use_id]:
            asked = self.calls.claims[key].asked
            for call in answer.calls():
                same = rpc.told(call.name) == asked.name and call.arguments == asked.arguments
                if same and call.call_id not in self.calls.claims:
                    self.calls.claims[call.call_id] = self.calls.claims.pop(key)
                    break

    def _finish(self, answer: Answer) -> Finished:
        claims = self.calls.claims
        asked = {call_id: claim.asked.arguments for call_id, claim in claims.items()}
        finished = answer.finish(asked, self.calls.told)
        name = normalised(finished.model)
        self._counted[name] = self._counted.get(name, Usage()) + finished.usage
        self.calls.ids = tuple(call.call_id for call in answer.calls())
        for call_id in [call_id for call_id in claims if call_id not in self.calls.ids]:
            claims.pop(call_id).result.set_result(_refusal())
        return finished

    def _close(self, result: Json, answer: Answer) -> Sequence[Piece]:
        """The run is over. Raises ProviderError where it failed; else what it spent besides its answers."""
        self.done = True
        problem = verdicts.problem_in(result, self._terms.card.id)
        if problem is not None:
            raise problem
        if not answer.ended and isinstance(result.get("result"), str):
            answer.text(result["result"])
        return self._beside(result, answer)

    def _beside(self, result: Json, answer: Answer) -> Sequence[Piece]:
        terms, known = self._terms, dict(self._counted)
        served = normalised(answer.model)
        known[served] = known.get(served, Usage()) + answer.usage
        pieces: list[Piece] = []
        rows = verdicts.spent_in(result) or {terms.card.id: verdicts.usage_in(result)}
        for name, whole in rows.items():
            key = normalised(name)
            more = verdicts.beyond(whole, known.get(key, Usage()) + self._reported.get(key, Usage()))
            if more != Usage():
                same = key == normalised(terms.card.id)
                self._reported[key] = self._reported.get(key, Usage()) + more
                pieces.append(
                    SpentBeside(terms.card if same else verdicts.card_of(name, terms.overrides), more)
                )
        return pieces

    async def _silent(self) -> ProviderError:
        told = await self._child.explain() if self._child is not None else ""
        return StreamCut(f"{verdicts.LABEL} exited without reporting a result{told}")

    # ── the bridge ──

    async def _claim(self, asked: rpc.Invocation) -> ToolResult:
        """Holds the call until the engine has its result. One call is claimed once."""
        key = asked.use_id or f"?{self._unnamed}"
        self._unnamed += not asked.use_id
        calls = self.calls
        ready = calls.ready.pop(key, None)
        if ready is not None:
            return ready
        if key in calls.claims or key in calls.told:
            return _refusal()
        claim = Claim(asked, asyncio.get_running_loop().create_future())
        calls.claims[key] = claim
        self._lines.put_nowait(claim)
        return await claim.result


def _refusal() -> ToolResult:
    return ToolResult("", "", (Text(STRANGER),), ok=False)


def _json(line: bytes) -> Json:
    """An object; the empty one for a line that is none, which says nothing then."""
    try:
        told = parsed(line) if line.strip() else None
    except ValueError:
        return {}
    return told if is_object(told) else {}
