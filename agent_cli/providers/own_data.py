"""What goes back to a service as it came: signatures, encrypted thinking, blocks and items of its own.

A service refuses a whole request for one of them that it cannot read, and refuses the next one, too. Where it says
nothing that is understood, all that was sent of them is left out from then on: the conversation goes on without.
"""

from __future__ import annotations

import msgspec

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.messages import Message, Opaque, Part, Prompt, Reasoning, ToolCall
from agent_cli.providers.memo import json_bytes

BAD_REQUEST = 400


class OwnData:
    """Of one model over one service."""

    def __init__(self) -> None:
        self._refused: set[bytes] = set()
        self._tried: set[bytes] = set()  # left out with the last refusal

    def readable(self, prompt: Prompt) -> Prompt:
        """Without what was refused."""
        if not self._refused:
            return prompt
        messages = tuple(self._message(message) for message in prompt.messages)
        return msgspec.structs.replace(prompt, messages=messages)

    def refused(self, refusal: RequestRefused, prompt: Prompt) -> bool:
        """Whether there was something in the prompt to leave out; it is left out from now on.

        Where the request is refused all the same, that was not the reason, and it is sent again the next time.
        """
        found = {
            json_bytes(part)
            for message in prompt.messages
            for part in message.parts
            if message.role == "assistant" and _is_own(part)
        }
        new = found - self._refused
        if refusal.status != BAD_REQUEST or not new:
            self._refused -= self._tried
            self._tried = set()
            return False
        self._tried = new
        self._refused |= new
        return True

    def _message(self, message: Message) -> Message:
        if message.role == "user":
            return message
        parts = [bare for part in message.parts if (bare := self._part(part)) is not None]
        return (
            message
            if len(parts) == len(message.parts) and parts == [*message.parts]
            else _with(message, parts)
        )

    def _part(self, part: Part) -> Part | None:
        if not _is_own(part) or json_bytes(part) not in self._refused:
            return part
        return msgspec.structs.replace(part, opaque=None) if isinstance(part, ToolCall) else None


def _with(message: Message, parts: list[Part]) -> Message:
    return msgspec.structs.replace(message, parts=tuple(parts))


def _is_own(part: Part) -> bool:
    match part:
        case Reasoning(signature=signature, opaque=opaque):
            return signature is not None or opaque is not None
        case ToolCall(opaque=opaque):
            return opaque is not None
        case Opaque():
            return True
        case _:
            return False
