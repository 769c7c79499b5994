"""What the program says of itself: which tools it has, and how its run ended. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent_cli.kernel.errors import AuthFailed, ConnectionFailed, ProviderError, RequestRefused, ToolSurface
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers import catalog, faults
from agent_cli.providers.faults import Service
from agent_cli.providers.memo import json_bytes

Json = dict[str, Any]
LABEL = "Claude Code"
SIGN_IN = "Sign in with `claude auth login`, or set ANTHROPIC_API_KEY."
SERVICE = Service(LABEL, "its own service", sign_in=SIGN_IN)
SIGNED_OUT = re.compile(r"not logged in|/login|api key|authenticat|credential|oauth", re.IGNORECASE)
UNREACHED = re.compile(
    r"connect|network|timed? ?out|fetch failed|socket|ECONN|ENOTFOUND|EAI_AGAIN", re.IGNORECASE
)
NO_SESSION = re.compile(r"no conversation found", re.IGNORECASE)
ON_TRUST = f"{LABEL} was ended: nothing it does can be trusted to go through the rules. Update it, or choose another model."


def surface(reported: Iterable[Any], given: frozenset[str]) -> ToolSurface | None:
    """What is wrong where the program does not have exactly the tools that it was given."""
    has = {str(name) for name in reported}
    more, less = sorted(has - given), sorted(given - has)
    if not (more or less):
        return None
    told = [
        f"it has {', '.join(more)} besides" if more else "",
        f"it lacks {', '.join(less)}" if less else "",
    ]
    return ToolSurface(
        f"{LABEL} reports other tools than it was given: {' and '.join(filter(None, told))}. {ON_TRUST}"
    )


def unproven(what: str) -> ToolSurface:
    return ToolSurface(f"{LABEL} {what} without having said which tools it has. {ON_TRUST}")


def is_lost(result: Json) -> bool:
    """Whether it knows nothing of the session that it was to go on with."""
    return any(NO_SESSION.search(str(line)) for line in (result.get("result"), *_lines(result.get("errors"))))


def problem_in(result: Json, model: str) -> ProviderError | None:
    """The error that a result reports."""
    kind = str(result.get("subtype") or "")
    if not result.get("is_error") and kind == "success":
        return None
    words = "; ".join(filter(None, [str(result.get("result") or ""), *_lines(result.get("errors"))])) or kind
    status = result.get("api_error_status")
    if isinstance(status, int):
        body = json_bytes({"error": {"message": words}})
        return faults.from_response(SERVICE, model, status, body)
    if SIGNED_OUT.search(words):
        return AuthFailed(f"{LABEL} is not signed in ({faults.shortened(words)}). {SIGN_IN}")
    if UNREACHED.search(words):
        return ConnectionFailed(f"{LABEL} could not reach its service ({faults.shortened(words)}).")
    return RequestRefused(f"{LABEL} ended its run without an answer ({faults.shortened(words)}).")


def spent_in(result: Json) -> dict[str, Usage]:
    """Tokens of the whole run by model, requests of its own included."""
    rows = result.get("modelUsage")
    known = rows if is_object(rows) else {}
    return {name.partition("[")[0]: _usage(row) for name, row in known.items() if is_object(row)}


def usage_in(result: Json) -> Usage:
    """Tokens of the whole run, where nothing else tells."""
    from agent_cli.providers.anthropic_stream import usage_of

    usage = result.get("usage")
    return usage_of(usage) if is_object(usage) else Usage()


def beyond(whole: Usage, known: Usage) -> Usage:
    """What the whole has more than what is known already. Reasoning is not told apart in it."""
    return Usage(
        input=max(0, whole.input - known.input),
        cache_read=max(0, whole.cache_read - known.cache_read),
        cache_write=max(0, whole.cache_write - known.cache_write),
        output=max(0, whole.output - known.output),
    )


def card_of(name: str, overrides: Mapping[str, Mapping[str, Any]]) -> ModelCard:
    """What is known of a model that the program asked; unpriced where it is a stranger."""
    return catalog.card(name, "anthropic", overrides) or ModelCard(id=name, provider="anthropic")


def _usage(row: Json) -> Usage:
    def number(name: str) -> int:
        value = row.get(name)
        return value if isinstance(value, int) else 0

    return Usage(
        input=number("inputTokens"),
        cache_read=number("cacheReadInputTokens"),
        cache_write=number("cacheCreationInputTokens"),
        output=number("outputTokens"),
    )


def _lines(value: Any) -> list[str]:
    return [str(item) for item in value] if is_list(value) else []
