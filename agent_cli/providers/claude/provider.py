"""A provider that hands the turn to Claude Code, with our tools and none of its own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import NamedTuple

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import Block, Document, Image, Message, Prompt, Text, ToolResult
from agent_cli.providers import options
from agent_cli.providers.claude import command, words
from agent_cli.providers.claude.attempt import Attempt, SessionLost, Terms
from agent_cli.providers.claude.command import Files, Named, Program
from agent_cli.providers.claude.names import NAME

LANDING = "Answer now, without tools."


class New(NamedTuple):
    """What the program does not know yet: results of calls that it waits for, then words of its operator."""

    messages: tuple[Message, ...]

    @property
    def results(self) -> list[ToolResult]:
        return [part for message in self.messages for part in message.parts if isinstance(part, ToolResult)]

    @property
    def blocks(self) -> list[Block]:
        parts = [part for message in self.messages for part in message.parts]
        return [part for part in parts if isinstance(part, Text | Image | Document)]


@dataclass(slots=True)
class Talk:
    """One conversation: `session` is the program's name for it, `known` what stands in it, `begun` that it does."""

    session: str
    known: tuple[Message, ...] = ()
    answered: bool = False
    begun: bool = False
    running: Attempt | None = None

    def new_in(self, prompt: Prompt) -> New | None:
        """None where the conversation is not what the program knows."""
        messages, count = prompt.messages, len(self.known)
        if self.answered and _longer(messages[:count], self.known):
            return New(messages[count:])
        if messages[:count] != self.known:
            return None
        if self.answered and len(messages) > count:
            return New(messages[count + 1 :]) if messages[count].role == "assistant" else None
        return New(messages[count:])


def _longer(messages: tuple[Message, ...], known: tuple[Message, ...]) -> bool:
    """Whether an answer at the end has gone on since: it was asked for more without a word in between."""
    if not known or messages[:-1] != known[:-1] or known[-1].role != "assistant":
        return False
    before, now = known[-1].parts, messages[-1].parts
    return messages[-1].role == "assistant" and len(now) > len(before) and now[: len(before)] == before


class Claude:
    """Each session of ours is one of the program's own. A run of it lasts for one turn at most."""

    def __init__(self, program: Program, terms: Terms) -> None:
        self._program = program
        self._terms = terms
        self._talks: dict[str, Talk] = {}

    @property
    def name(self) -> str:
        return NAME

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """One step. The program goes on with it where it waits for just that; else it is started anew."""
        options.check(prompt, self._terms.card)
        talk = self._talks.setdefault(prompt.session, Talk(_minted()))
        finished = False
        try:
            async with aclosing(self._step(talk, prompt)) as pieces:
                async for piece in pieces:
                    finished = isinstance(piece, Finished)
                    yield piece
        except SessionLost:
            self._forget(prompt.session)
            raise
        finally:
            if not finished:
                await self._ended(talk)

    async def _step(self, talk: Talk, prompt: Prompt) -> AsyncGenerator[Piece | Finished, None]:
        attempt = await self._going_on(talk, prompt) or await self._begun(talk, prompt)
        async with aclosing(attempt.step()) as pieces:
            async for piece in pieces:
                if isinstance(piece, Finished):
                    talk.known, talk.answered = prompt.messages, True
                yield piece

    async def after_turn(self, session: str) -> None:
        """What runs for the turn of that session ends."""
        talk = self._talks.get(session)
        if talk is not None:
            await self._ended(talk)

    async def close(self) -> None:
        for session in tuple(self._talks):
            await self.after_turn(session)
            self._forget(session)

    # ── runs ──

    async def _going_on(self, talk: Talk, prompt: Prompt) -> Attempt | None:
        """The program that runs, if what is new is what it waits for."""
        attempt, new = talk.running, talk.new_in(prompt)
        if attempt is None or new is None or prompt.tool_choice == "none" or attempt.tools != prompt.tools:
            return None
        if any(message.role != "user" for message in new.messages) or len(new.results) != len(
            attempt.calls.ids
        ):
            return None
        blocks = [*new.blocks, *_wanted(prompt)]
        if blocks or attempt.done:
            await attempt.say(blocks or [Text(words.GO_ON)])  # before the results: it is read with them then
        attempt.hand_back(new.results)
        return attempt

    async def _begun(self, talk: Talk, prompt: Prompt) -> Attempt:
        """A new run: of the session where it knows the conversation, else of a new one that is told of it."""
        await self._ended(talk)
        new = talk.new_in(prompt)
        if new is None:
            self._remove(talk.session)
            talk.session, talk.known, talk.answered, talk.begun = _minted(), (), False, False
            new = New(prompt.messages)
        tools = () if prompt.tool_choice == "none" else prompt.tools
        attempt = talk.running = Attempt(self._terms, tools, talk.session)
        try:
            await attempt.bridge.open()
            files = attempt.files = Files(attempt.bridge, prompt.system)
            argv = command.argv(self._program, prompt, files, Named(talk.session, talk.begun), tools)
            attempt.begin(argv, self._program.cwd, command.environment(self._program.environ, prompt))
        except OSError as problem:
            raise ConfigError(f"{self._program.path} cannot be run: {problem.strerror or problem}.") from None
        await attempt.say([*words.to_say(new.messages), *_wanted(prompt)])
        return attempt

    async def _ended(self, talk: Talk) -> None:
        attempt, talk.running = talk.running, None
        if attempt is not None:
            talk.begun = talk.begun or attempt.attested
            await attempt.end()

    # ── its sessions ──

    def _forget(self, session: str) -> None:
        self._remove(self._talks.pop(session).session)

    def _remove(self, session: str) -> None:
        """Its own file of the session, wherever it keeps that; best effort."""
        for path in command.kept(self._program.environ).glob(f"projects/*/{session}.jsonl"):
            with suppress(OSError):
                path.unlink()


def _minted() -> str:
    return str(uuid.uuid4())


def _wanted(prompt: Prompt) -> list[Block]:
    """What a request asks for besides, in words: the program has no other way to hear of it."""
    match prompt.tool_choice:
        case "auto":
            return []
        case "none":
            return [Text("\n".join(filter(None, (prompt.status, LANDING))))]
        case tool:
            return [Text(f"Call {tool} next: it is required.")]
