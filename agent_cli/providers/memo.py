"""What was encoded for the last request, so that the next one encodes only what is new."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from agent_cli.kernel.messages import Message

Entry = TypeVar("Entry")

CONVERSATIONS = 8


class Memo(Generic[Entry]):
    """The wire entries of one conversation, in order. `ends[i]` entries stand for the first i + 1 messages.

    Messages are kept and compared, identity first: the view hands out the same objects again.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._ends: list[int] = []
        self._seen: tuple[Message, ...] = ()

    def keep_common(self, messages: tuple[Message, ...]) -> int:
        """Forgets what does not begin these messages. Returns how many of them are encoded already."""
        kept = self._common(messages)
        while 0 < kept < len(self._ends) and self._ends[kept] == self._ends[kept - 1]:
            kept -= 1  # the first one to go had been merged into an entry before it
        self._seen = self._seen[:kept]
        del self._ends[kept:]
        del self.entries[self._ends[-1] if self._ends else 0 :]
        return kept

    def remember(self, messages: tuple[Message, ...], ends: list[int]) -> None:
        """`ends` are those of the messages behind the ones that were kept."""
        self._seen = messages
        self._ends += ends

    def _common(self, messages: tuple[Message, ...]) -> int:
        seen = self._seen
        for kept in (len(seen), len(seen) - 1):
            if 0 <= kept <= len(messages) and messages[:kept] == seen[:kept]:
                return kept
        pairs = enumerate(zip(seen, messages, strict=False))
        return next((at for at, (old, new) in pairs if old != new), min(len(seen), len(messages)))


class Memos(Generic[Entry]):
    """One memo for each conversation (`Prompt.session`), the latest few of them."""

    def __init__(self) -> None:
        self._memos: dict[str, Memo[Entry]] = {}

    def of(self, session: str) -> Memo[Entry]:
        memo = self._memos.pop(session, None) or Memo[Entry]()
        self._memos[session] = memo
        while len(self._memos) > CONVERSATIONS:
            del self._memos[next(iter(self._memos))]
        return memo


def json_bytes(value: object) -> bytes:
    """Compact JSON. Half of a surrogate pair, which is no text, becomes a question mark."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        plain = msgspec.to_builtins(value)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
