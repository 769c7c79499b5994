"""The script of the `scripted` provider: one model reply a line of JSON. Pure but for reading the file.

    {"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}
    {"fault": {"kind": "rate-limit", "retry_after": 2}}
    {"text": "Done.", "reasoning": "…", "usage": {"input": 900, "output": 12}, "expect": {"result": "hello"}}

`text` and `reasoning` come in small pieces, `calls` after them; `arguments` is an object, or a string that is
sent as it stands. A call with a `result` was answered by the program that the model speaks through, and is not run
(`failed`: with an error). `delay_ms` passes before the reply, `pace_ms` between its pieces. `fault` is a kind of the
error tree, or an object with `kind`, `message`, `retry_after`, `used`, `limit`, and `after`: so many pieces
come first. The kind `cut` is an answer that was broken off on purpose: it is not asked for again. `card` says what
the model is taken for, by the first line that has one: its window, its longest answer, its tier, its profile.
`expect` is checked in strict mode: regular expressions for the last text of the operator (`user`),
the last tool results (`result`) and the system prompt (`system`), and names of tools that must be on offer.
Recorded scripts have `digests` there: of exactly these texts and of the names of all tools. `request` says what was
asked when a line was recorded; it is for people.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_cli.kernel.errors import (
    AuthFailed,
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    GarbledResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    StreamCut,
)
from agent_cli.kernel.events import FinishReason
from agent_cli.kernel.messages import Message, Prompt, Text, ToolResult
from agent_cli.kernel.usage import ModelCard, Tier, Usage
from agent_cli.providers.redact import redacted


class AnswerCut(ProviderError):
    """Whoever asked did not wait for the end of it: an interrupt, or a ceiling that was reached."""

    kind = "cut"


KINDS: dict[str, type[ProviderError]] = {
    kind.kind: kind
    for kind in (
        ConnectionFailed,
        StreamCut,
        RateLimited,
        Overloaded,
        GarbledResponse,
        AuthFailed,
        QuotaExhausted,
        ModelNotFound,
        ContextOverflow,
        RequestRefused,
        AnswerCut,
    )
}


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base: a misspelt field is an error, not silence."""


class Call(Line, frozen=True):
    """`result` is what the model's own program answered, so that nobody runs the call; `failed` that it was an error."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""
    result: str | None = None
    failed: bool = False

    def answered(self, call_id: str) -> ToolResult | None:
        if self.result is None:
            return None
        return ToolResult(call_id, self.name, (Text(self.result),), not self.failed)


class Fault(Line, frozen=True):
    kind: str
    message: str = ""
    after: int = 0
    retry_after: float | None = None
    used: int | None = None
    limit: int | None = None

    def error(self) -> ProviderError:
        kind = KINDS[self.kind]
        told = self.message or f"scripted failure: {self.kind}"
        if kind is ContextOverflow:
            return ContextOverflow(told, used=self.used, limit=self.limit)
        return kind(told, retry_after=self.retry_after)


class Card(Line, frozen=True):
    """What a session takes from its model: by that it chooses prompt, tools, and when to reduce."""

    window: int | None = None
    max_output: int | None = None
    tier: Tier | None = None
    profile: Literal["full", "compact"] = "full"

    @classmethod
    def of(cls, card: ModelCard) -> Card:
        return cls(card.window, card.max_output, card.tier, card.profile)

    def over(self, card: ModelCard) -> ModelCard:
        return msgspec.structs.replace(
            card, window=self.window, max_output=self.max_output, tier=self.tier, profile=self.profile
        )


class Expect(Line, frozen=True):
    user: str = ""
    result: str = ""
    system: str = ""
    tools: tuple[str, ...] = ()
    digests: dict[str, str] = {}

    @classmethod
    def exactly(cls, prompt: Prompt) -> Expect:
        """Of that request and no other."""
        return cls(digests={name: digest(text) for name, text in _seen(prompt).items() if name != "system"})

    def mismatch(self, prompt: Prompt) -> str:
        """How the prompt differs from what the script was made for; "" where it does not."""
        seen = _seen(prompt)
        for name in ("user", "result", "system"):
            pattern = str(getattr(self, name))
            if pattern and not re.search(pattern, seen[name]):
                return f"{name} should match {pattern!r}, but is {seen[name][:200]!r}"
        missing = set(self.tools) - {tool.name for tool in prompt.tools}
        if missing:
            return f"the tools {', '.join(sorted(missing))} are not on offer"
        other = [name for name, wanted in self.digests.items() if digest(seen.get(name, "")) != wanted]
        return f"{other[0]} is not what was recorded; it is {seen.get(other[0], '')[:200]!r}" if other else ""


class Reply(Line, frozen=True):
    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage | None = None
    finish: FinishReason | None = None
    delay_ms: float = 0
    pace_ms: float = 0
    fault: Fault | str | None = None
    card: Card | None = None
    expect: Expect | None = None
    request: dict[str, Any] = {}


def read(path: Path) -> tuple[Reply, ...]:
    """Raises ConfigError naming file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise ConfigError(f"The script {path} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        raise ConfigError(
            f"The script {path} is not UTF-8 (byte {problem.start}). Save it as UTF-8, one reply a line."
        ) from None
    return parse(text, str(path))


def parse(text: str, name: str) -> tuple[Reply, ...]:
    """Empty lines are skipped. Raises ConfigError naming the line."""
    decoder = msgspec.json.Decoder(Reply)
    replies: list[Reply] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            reply = decoder.decode(line)
        except (msgspec.MsgspecError, RecursionError) as problem:
            raise ConfigError(f"{name}, line {number}: {problem}.") from None
        kind = reply.fault.kind if isinstance(reply.fault, Fault) else reply.fault
        if kind is not None and kind not in KINDS:
            raise ConfigError(
                f"{name}, line {number}: no fault is called '{kind}'; there are {', '.join(KINDS)}."
            )
        replies.append(reply)
    if not replies:
        raise ConfigError(f"{name} holds no reply.")
    return tuple(replies)


def digest(text: str) -> str:
    """Of a text without its secrets: keys may differ from one machine to the next."""
    import hashlib

    return hashlib.blake2b(redacted(text).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _seen(prompt: Prompt) -> dict[str, str]:
    """What expectations look at."""
    return {
        "user": _operator(prompt.messages),
        "result": _results(prompt.messages[-1:]),
        "system": "\n".join(prompt.system),
        "tools": " ".join(sorted(tool.name for tool in prompt.tools)),
    }


def _operator(messages: tuple[Message, ...]) -> str:
    for message in reversed(messages):
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role == "user" and texts:
            return "\n".join(texts)
    return ""


def _results(messages: tuple[Message, ...]) -> str:
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    return "\n".join(block.text for result in results for block in result.content if isinstance(block, Text))
