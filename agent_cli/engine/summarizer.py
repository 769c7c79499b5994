"""Asks a model for a hand-over or a record of what was said: on the cached prefix, else folded in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from agent_cli.context import reduce
from agent_cli.context.budget import ASSUMED_WINDOW, Budget
from agent_cli.context.view import Item
from agent_cli.engine import killing
from agent_cli.engine.core import Core
from agent_cli.engine.request import record_usage
from agent_cli.engine.reserving import Hold, reserved, size_of
from agent_cli.engine.size import context_size
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError, ConfigError, ContextOverflow, RequestRefused, StreamCut
from agent_cli.kernel.messages import Message, Prompt, Text, ToolSpec, calls_of, text_of
from agent_cli.kernel.usage import Usage
from agent_cli.ports import OpenModel

SHRINK = (1.0, 0.7, 0.5, 0.35)
"""Sizes of a chunk that are tried, one after the other, where the summarizer's prompt is refused as too long."""
CHUNK_SHARE = 0.5
MOST_CHUNKS = 8
TERMINAL = frozenset({"length", "refusal", "safety", "context"})
"""Reasons for which the same request would be answered in the same way."""
UNEXPLAINED = ("", "unknown", "other")
MALFORMED = "MALFORMED"
SUMMARY_TOKENS = 8_000
WRITER = "You write hand-overs of conversations."


class Wanted(NamedTuple):
    """`dropped` is what the text is to stand for, `messages` the conversation as far as the model is to see it.

    `request` says what to write, `operation` names it in errors.
    """

    operation: str
    request: str
    dropped: tuple[Item, ...]
    messages: tuple[Message, ...]


class Summarizer:
    """One a session. `budget` is that of the session's model."""

    def __init__(self, core: Core, budget: Callable[[], Budget]) -> None:
        self._core = core
        self._budget = budget
        self._other: OpenModel | None = None

    @property
    def model(self) -> OpenModel:
        """The model of `compaction.model`, else the session's own."""
        name = self._core.parts.compaction.model
        if not name:
            return self._core.model
        if self._other is None:
            self._other = self._opened(name)
        return self._other or self._core.model

    async def write(self, wanted: Wanted) -> str:
        """The text. Raises AgentError with the service's reason where none came.

        Only the session's own model has read the conversation: another one has none of it in its cache. Where it refuses
        the conversation as it is, it is asked once more with a transcript of it and nothing else.
        """
        core, own = self._core, self.model is self._core.model
        problem: ContextOverflow | None = None
        if own and context_size(core) + self._room() < self._window():
            try:
                return await self._ask(wanted.operation, self._on_prefix(wanted))
            except ContextOverflow as too_long:
                problem = too_long
            except RequestRefused:
                pass
        for share in SHRINK:
            try:
                return await self._folded(wanted, share)
            except ContextOverflow as too_long:
                problem = too_long
        raise AgentError(
            f"{wanted.operation}: the conversation is too long for the model to read ({problem})"
        )

    def _opened(self, name: str) -> OpenModel | None:
        core = self._core
        if name == core.model.card.id:
            return None
        try:
            opened = core.parts.models.open(name)
        except ConfigError as unknown:
            core.record(
                ev.OperatorNote(f"compaction.model: {unknown}; the session's own model is asked", "warning")
            )
            return core.model
        core.left[id(opened.provider)] = opened
        return opened

    def _window(self) -> int:
        if self.model is self._core.model:
            return self._budget().window
        return self.model.card.window or ASSUMED_WINDOW

    def _room(self) -> int:
        """Tokens that a summary may take."""
        return min(SUMMARY_TOKENS, self._window() // 10)

    def _on_prefix(self, wanted: Wanted) -> Prompt:
        """The same system text, tools and messages, so that they are read from the cache, then what is wanted.

        Where writing a cache has a price, forbidding the tools would write the messages anew: they are only asked
        not to be called.
        """
        core = self._core
        tools = tuple(tool.spec for tool in core.tools().values())
        prompt = self._prompt(core.prefix().system, tools, _with_request(wanted.messages, wanted.request))
        written = any(price.cache_write for price in self.model.card.prices)
        return msgspec.structs.replace(prompt, tool_choice="auto") if written else prompt

    async def _folded(self, wanted: Wanted, share: float) -> str:
        """A text that each chunk of the transcript is folded into; the newest chunks where there are many."""
        room = int(self._window() * CHUNK_SHARE * share) * reduce.SAFE_BYTES_PER_TOKEN
        summary = ""
        for chunk in reduce.chunks(reduce.transcript(wanted.dropped), room)[-MOST_CHUNKS:]:
            told = [f"The hand-over so far:\n\n{summary}"] if summary else []
            told += [f"The conversation, or the next part of it:\n\n{chunk}", wanted.request]
            message = Message("user", (Text("\n\n".join(told)),))
            summary = await self._ask(wanted.operation, self._prompt((WRITER,), (), (message,)))
        return summary

    def _prompt(
        self, system: tuple[str, ...], tools: tuple[ToolSpec, ...], messages: tuple[Message, ...]
    ) -> Prompt:
        card = self.model.card
        return Prompt(
            model=card.id,
            system=system,
            tools=tools,
            messages=messages,
            max_output=min(card.max_output or SUMMARY_TOKENS, self._room()),
            tool_choice="none" if tools else "auto",
            session=self._core.key,
        )

    async def _ask(self, operation: str, prompt: Prompt) -> str:
        """Asked again once where no text came and nothing explains it, or a tool was called that was not forbidden."""
        attempt = 1
        while True:
            finished = await self._stream(prompt)
            text = text_of(finished.parts).strip()
            called = bool(calls_of(finished.parts)) and prompt.tool_choice == "auto" and bool(prompt.tools)
            if text and not called:
                return text
            if called:  # what stands beside a call is no hand-over
                prompt = msgspec.structs.replace(prompt, tool_choice="none")
            elif attempt > 1 or _explained(finished):
                reason = finished.native_reason or finished.finish_reason
                times = f"{attempt} attempt{'s' * (attempt != 1)}"
                raise AgentError(
                    f"{operation}: model returned no summary text (finish_reason={reason}) after {times}"
                )
            attempt += 1

    async def _stream(self, prompt: Prompt) -> ev.Finished:
        with reserved(self._core, self.model.card, prompt, 0, size_of(prompt)) as hold:
            finished = await self._read(prompt, hold)
        if finished is None:
            raise StreamCut("the summary broke off before its end")
        return finished

    async def _read(self, prompt: Prompt, hold: Hold) -> ev.Finished | None:
        core, model = self._core, self.model
        usage, finished = Usage(), None
        killing.before_model(core)
        stream = model.provider.stream(prompt)
        try:
            async for piece in stream:
                match piece:
                    case ev.UsageSoFar(so_far):
                        usage = so_far
                    case ev.Finished():
                        usage, finished = piece.usage, piece
                    case _:
                        pass  # a summary is not shown while it is written
        finally:
            await stream.aclose()
            if usage != Usage():
                record_usage(core, model.card, usage, "summary")
            hold.paid = usage != Usage()
        return finished


def _explained(finished: ev.Finished) -> bool:
    """Whether the service said why there is no text: a missing reason, and one that nobody knows, explain nothing."""
    if finished.finish_reason in TERMINAL or MALFORMED in finished.native_reason.upper():
        return True
    if finished.finish_reason == "other":
        return False
    return finished.native_reason.lower() not in UNEXPLAINED


def _with_request(messages: tuple[Message, ...], wanted: str) -> tuple[Message, ...]:
    """The request as the last text of the last user message."""
    if messages and messages[-1].role == "user":
        return (*messages[:-1], Message("user", (*messages[-1].parts, Text(wanted))))
    return (*messages, Message("user", (Text(wanted),)))
