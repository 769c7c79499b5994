"""What a session records and shows, without secrets."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from agent_cli.guardrails.secrets.flow import Flow
from agent_cli.guardrails.secrets.scrub import scrubbed, withheld
from agent_cli.kernel import events as ev

log = logging.getLogger("agent_cli.engine")

SECRETS = "secrets"
"""The name of the check."""


class Cleaner:
    """Of a session with all that runs in it. Every fact goes through it before it is written; no kind is left out.

    A fact that cannot be looked through loses its texts, and `broken` says why until somebody takes it.
    """

    def __init__(self, *, on: bool) -> None:
        self.on = on
        self.broken = ""
        self._found: list[str] = []

    def __call__(self, event: ev.Recorded) -> ev.Recorded:
        if not self.on:
            return event
        try:
            event, kinds = scrubbed(event)
        except Exception as problem:
            log.exception("a fact could not be looked through for secrets")
            self.broken = f"{type(problem).__name__}: {problem}"
            return withheld(event)
        self._found += kinds
        return event

    def taken(self) -> str:
        """Why the last fact could not be looked through."""
        broken, self.broken = self.broken, ""
        return broken

    def found(self) -> tuple[str, ...]:
        """Kinds of what was replaced since the last time."""
        kinds, self._found = tuple(self._found), []
        return kinds


def finding(event: ev.Recorded, kinds: tuple[str, ...]) -> ev.GuardrailFinding | None:
    """What the operator is told of secrets in that fact; None where another fact told it already."""
    match event:
        case ev.OperatorMessage() | ev.MessageQueued():
            return _finding(kinds, "input", "in your message", advice=IN_MESSAGE)
        case ev.ToolReturned(call_id=call_id, tool=tool):
            return _finding(kinds, "input", f"in the result of {tool}", call_id)
        case ev.AssistantMessage():
            return _finding(kinds, "output", "in what the model said")
        case _:
            return None


IN_MESSAGE = (
    "; the model does not see them. Put them into a file or an environment variable that commands read, or set"
    " guardrails.redact to false"
)


def _finding(
    kinds: tuple[str, ...], surface: ev.Surface, where: str, call_id: str = "", advice: str = ""
) -> ev.GuardrailFinding:
    return ev.GuardrailFinding(
        SECRETS, surface, "warn", f"{counted(kinds)} {where} replaced{advice}", call_id
    )


def counted(kinds: tuple[str, ...]) -> str:
    """Like "2 secrets (github-token, jwt)"."""
    names = ", ".join(
        f"{count} {kind}" if count > 1 else kind for kind, count in sorted(Counter(kinds).items())
    )
    return f"{len(kinds)} secret{'s' * (len(kinds) != 1)} ({names})"


class Previews:
    """Texts that come in pieces, each cleaned by itself; `show` gets what may be seen."""

    def __init__(self, show: Callable[[ev.Live], None], *, on: bool) -> None:
        self._show = show
        self._on = on
        self._flows: dict[tuple[type[ev.Live], str], Flow] = {}
        self._names: dict[str, str] = {}

    def feed(self, piece: ev.TextDelta | ev.ReasoningDelta | ev.ArgumentsDelta | ev.ToolProgress) -> None:
        if not self._on:
            self._show(piece)
            return
        match piece:
            case ev.TextDelta(text) | ev.ReasoningDelta(text):
                call_id = ""
            case ev.ArgumentsDelta(call_id, name, text):
                self._names[call_id] = name or self._names.get(call_id, "")
            case ev.ToolProgress(call_id, text):
                pass
        key = (type(piece), call_id)
        self._end(key)
        self._tell(key, self._flows.setdefault(key, Flow()).feed(text), whole=not text)

    def rest(self) -> None:
        """All of them are over."""
        self._end(None)

    def _end(self, but: tuple[type[ev.Live], str] | None) -> None:
        """Where another text goes on, those before it are over; those of calls may come side by side."""
        for key in [key for key in self._flows if key != but]:
            if but is None or key[0] in (ev.TextDelta, ev.ReasoningDelta):
                self._tell(key, self._flows.pop(key).rest())

    def _tell(self, key: tuple[type[ev.Live], str], text: str, *, whole: bool = False) -> None:
        kind, call_id = key
        if not text and not whole:
            return
        if kind is ev.TextDelta:
            self._show(ev.TextDelta(text))
        elif kind is ev.ReasoningDelta:
            self._show(ev.ReasoningDelta(text))
        elif kind is ev.ToolProgress:
            self._show(ev.ToolProgress(call_id, text))
        else:
            self._show(ev.ArgumentsDelta(call_id, self._names[call_id], text))
