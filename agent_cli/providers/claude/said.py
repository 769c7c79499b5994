"""One answer of the program's model, as its lines tell it piece by piece, and what its calls came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agent_cli.kernel.events import ArgumentsDelta, Finished, Piece, UsageSoFar
from agent_cli.kernel.messages import Text, ToolCall, ToolResult, calls_of
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.anthropic_stream import MessagesDecoder
from agent_cli.providers.claude import rpc

Json = dict[str, Any]
SYNTHETIC = "<synthetic>"
"""The model of messages that the program itself made up."""


class Answer:
    """All that the model says until it wants calls, or until the program is done: one message, or several.

    A message that broke off is withdrawn when the next one begins; what it cost stays.
    """

    def __init__(self, provider: str, card: ModelCard) -> None:
        self._provider = provider
        self._card = card
        self._id = ""
        self._decoder: MessagesDecoder | None = None
        self._streamed = False
        self._blocks = 0
        self._earlier: list[Finished] = []
        self._lost = Usage()

    @property
    def ended(self) -> bool:
        """The message is complete, as far as can be told from its own lines."""
        decoder = self._decoder
        return decoder is not None and (decoder.done or (not self._streamed and self._finished() is not None))

    @property
    def certain(self) -> bool:
        """It said itself that it is complete."""
        return self._decoder is not None and self._decoder.done

    @property
    def model(self) -> str:
        """The one that served the last message."""
        finished = self._finished()
        return finished.model if finished else self._card.id

    @property
    def usage(self) -> Usage:
        whole = self._decoder.so_far if self._decoder is not None else Usage()
        return sum((done.usage for done in self._earlier), self._lost) + whole

    def calls(self) -> tuple[ToolCall, ...]:
        finished = self._finished()
        return calls_of(finished.parts) if finished and self.ended else ()

    def event(self, event: Json) -> Sequence[Piece]:
        """An event of the service, as the program hands it on."""
        if event.get("type") == "message_start":
            message = event.get("message")
            self._begin(str(message.get("id") or "") if is_object(message) else "", streamed=True)
        if self._decoder is None:
            return ()
        return [self._own(piece) for piece in self._decoder.feed(event)]

    def whole(self, message: Json) -> Sequence[Piece]:
        """A block of a message, told by its own line: heard before if it was streamed."""
        name = str(message.get("id") or "")
        if message.get("model") == SYNTHETIC or (name == self._id and self._streamed):
            return ()
        pieces: list[Piece] = []
        if name != self._id:
            self._begin(name, streamed=False)
            pieces += self._feed({"type": "message_start", "message": {**message, "content": []}})
        for block in _objects(message.get("content")):
            pieces += self._feed_block(block)
        delta = {"stop_reason": message.get("stop_reason"), "stop_details": message.get("stop_details")}
        pieces += self._feed({"type": "message_delta", "delta": delta, "usage": message.get("usage")})
        return pieces

    def finish(self, asked: dict[str, Json], told: dict[str, ToolResult]) -> Finished:
        """`asked` are arguments by call as they came to the bridge; `told` what the program answered by itself."""
        last = self._finished()
        messages = [*self._earlier, *([last] if last else [])]
        parts = [part for message in messages for part in message.parts]
        if not messages:
            return Finished((), self.usage, self._card.id)
        own = tuple(_named(part, asked) if isinstance(part, ToolCall) else part for part in parts)
        answered = tuple(told[call.call_id] for call in calls_of(own) if call.call_id in told)
        return msgspec.structs.replace(messages[-1], parts=own, usage=self.usage, answered=answered)

    def text(self, text: str) -> None:
        """The answer as the program reports it at its end, where none was heard."""
        self._earlier.append(Finished((Text(text),), Usage(), self._card.id))

    def _begin(self, name: str, *, streamed: bool) -> None:
        finished, decoder = self._finished(), self._decoder
        if finished is not None and self.ended:
            self._earlier.append(finished)
        elif decoder is not None:
            self._lost += decoder.so_far
        self._id, self._streamed, self._blocks = name, streamed, 0
        self._decoder = MessagesDecoder(self._provider, self._card)

    def _finished(self) -> Finished | None:
        return self._decoder.finished() if self._decoder is not None else None

    def _feed(self, event: Json) -> Sequence[Piece]:
        return [self._own(piece) for piece in self._decoder.feed(event)] if self._decoder else ()

    def _feed_block(self, block: Json) -> Sequence[Piece]:
        at, self._blocks = self._blocks, self._blocks + 1
        return self._feed({"type": "content_block_start", "index": at, "content_block": block})

    def _own(self, piece: Piece) -> Piece:
        match piece:
            case ArgumentsDelta(call_id, name, text):
                return ArgumentsDelta(call_id, rpc.told(name), text)
            case UsageSoFar():
                return UsageSoFar(self.usage)
            case _:
                return piece


def results_in(message: Json) -> Iterator[ToolResult]:
    """The results of calls in a message that the program shows its model."""
    for block in _objects(message.get("content")):
        if block.get("type") == "tool_result":
            text = block.get("content")
            words = text if isinstance(text, str) else "\n".join(_texts(text))
            content = (Text(words or "(no output)"),)
            yield ToolResult(str(block.get("tool_use_id") or ""), "", content, not block.get("is_error"))


def _named(call: ToolCall, asked: dict[str, Json]) -> ToolCall:
    """With our name for the tool, and the arguments that the program really handed over."""
    given = asked.get(call.call_id)
    own = msgspec.structs.replace(call, name=rpc.told(call.name))
    return (
        own
        if given is None or given == own.arguments
        else msgspec.structs.replace(own, arguments=given, raw="")
    )


def _objects(value: Any) -> list[Json]:
    return [item for item in value if is_object(item)] if is_list(value) else []


def _texts(value: Any) -> Iterator[str]:
    for block in _objects(value):
        if isinstance(block.get("text"), str):
            yield block["text"]
