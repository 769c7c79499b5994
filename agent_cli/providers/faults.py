"""What a service said when it failed → the error tree, with words for the person who has to act on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from agent_cli.kernel.errors import (
    AuthFailed,
    ContextOverflow,
    GarbledResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
)
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.gemini_faults import details_of
from agent_cli.providers.overflow import Overflow, overflow_in

LONGEST_QUOTE = 300

STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
    "server_is_overloaded": 529,
    "invalid_prompt": 400,
    "model_not_found": 404,
    "exceed_context_size_error": 400,
    "context_length_exceeded": 400,
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""Statuses for errors that come inside a stream, where the HTTP status was 200."""

RATE_CODES = frozenset(
    ("rate_limit_error", "rate_limit_exceeded", "requests", "tokens", "RESOURCE_EXHAUSTED")
)
KEY_CODES = frozenset(("API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED"))
QUOTA_CODES = frozenset(
    (
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
    )
)
QUOTA_WORDS = re.compile(
    r"credit balance is too low|check your plan and billing|insufficient (?:credits|balance)", re.IGNORECASE
)
TRY_AGAIN = re.compile(r"try again in (\d+(?:\.\d+)?)(m?s)\b")


class Service(NamedTuple):
    """Who is talked to, as messages name it. `key_env` is the variable that holds the key, "" where none is.

    `sign_in` says how to get in where no key is asked for.
    """

    label: str
    url: str
    key_env: str = ""
    url_env: str = ""
    sign_in: str = ""


class Said(NamedTuple):
    """An error as its service words it. `retry_after` is seconds, where the error itself says so."""

    message: str = ""
    kind: str = ""
    code: str = ""
    overflow: Overflow | None = None
    retry_after: float | None = None


def from_response(
    service: Service, model: str, status: int, body: bytes, retry_after: float | None = None
) -> ProviderError:
    """The error of an HTTP answer other than a good one."""
    said = said_in(_json(body)) or Said()
    if 300 <= status < 400:
        return GarbledResponse(
            f"{service.label} at {service.url} redirects. {_check_url(service)}", status=status
        )
    if not said.message:
        said = said._replace(message=quoted(body))
    wait = said.retry_after if retry_after is None else retry_after
    return _classified(service, model, status, said, wait)


def in_stream(service: Service, model: str, event: Any) -> ProviderError:
    """The error that an event of a stream carries, which had begun with status 200."""
    said = said_in(event) or Said()
    status = STATUS_OF_KIND.get(said.code)
    if status is None and re.fullmatch(r"[1-5]\d\d", said.code):
        status = int(said.code)
    status = status or STATUS_OF_KIND.get(said.kind, 500)
    return _classified(service, model, status, said, said.retry_after)


def said_in(data: Any) -> Said | None:
    """The error object of a body or an event, in any of the shapes that services use; None: there is none."""
    if is_list(data):
        return said_in(data[0]) if data else None
    if not is_object(data):
        return None
    error = data.get("error")
    if isinstance(error, str):
        return Said(error, str(data.get("type") or ""), overflow=_overflow(error, "", "", data))
    if is_object(error):
        return _said(error)
    if data.get("object") == "error" or "detail" in data or ("message" in data and "code" in data):
        return _said(data)
    return None


def _said(error: dict[str, Any]) -> Said:
    message = error.get("message") or error.get("detail") or ""
    message = message if isinstance(message, str) else msgspec.json.encode(message).decode()
    details = error.get("metadata")
    if is_object(details) and isinstance(
        details.get("raw"), str
    ):  # OpenRouter hands on what its provider said
        inner = said_in(_json(details["raw"].encode()))
        message = inner.message if inner and inner.message else details["raw"]
    more = error.get("details")
    code = (
        error.get("code") or (more.get("error_code") if is_object(more) else None) or error.get("error_code")
    )
    kind = str(error.get("type") or error.get("status") or "")
    wait = _wait_in(message)
    if is_list(more):
        told = details_of(more)
        code, wait = told.reason or code, told.retry_after or wait
    return Said(message, kind, str(code or ""), _overflow(message, str(code or ""), kind, error), wait)


def _wait_in(message: str) -> float | None:
    """OpenAI words its rate limits as "Please try again in 1.054s"."""
    found = TRY_AGAIN.search(message)
    return float(found.group(1)) / (1000 if found.group(2) == "ms" else 1) if found else None


def _overflow(message: str, code: str, kind: str, error: dict[str, Any]) -> Overflow | None:
    found = overflow_in(message, code, kind)
    used, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
    if found and isinstance(used, int) and isinstance(limit, int):
        return Overflow(used, limit)
    return found


def _classified(
    service: Service, model: str, status: int, said: Said, retry_after: float | None
) -> ProviderError:
    """Rate limits before overflow: both speak of too many tokens."""
    words = f"{status}: {shortened(said.message)}" if said.message else str(status)
    codes = {said.code, said.kind}
    limits_rate = bool(codes & RATE_CODES)
    if status == 402 or codes & QUOTA_CODES or (not limits_rate and QUOTA_WORDS.search(said.message)):
        return QuotaExhausted(
            f"{service.label} says the account has no credit left ({words}). Requests fail until it is topped"
            " up or its spend limit is raised; another model or provider can be chosen meanwhile.",
            status=status,
        )
    if status == 429 or limits_rate:
        return RateLimited(
            f"{service.label} limits the rate of requests ({words}).", status=status, retry_after=retry_after
        )
    if said.overflow or (status in (400, 413) and not said.message) or status == 413:
        return _too_long(model, status, words, said.overflow or Overflow())
    if status in (401, 403) or codes & KEY_CODES:
        return AuthFailed(f"{service.label} {_shut(service)} ({words}). {_check_key(service)}", status=status)
    if status == 404 or said.code == "model_not_found":
        return ModelNotFound(
            f"{service.label} at {service.url} knows no model '{model}' ({words}).{_meant(model)} Check the name with"
            f" `agent-cli models`; if the address is wrong: {_check_url(service)}",
            status=status,
        )
    if status in (408, 409) or status >= 500:
        return Overloaded(
            f"{service.label} could not answer just now ({words}).", status=status, retry_after=retry_after
        )
    return RequestRefused(
        f"{service.label} refused the request for {model} ({words}). The same request would be refused again.",
        status=status,
    )


def _too_long(model: str, status: int, words: str, overflow: Overflow) -> ContextOverflow:
    return ContextOverflow(
        f"The conversation does not fit the context window of {model} ({words}).",
        status=status,
        used=overflow.used,
        limit=overflow.limit,
    )


def _shut(service: Service) -> str:
    if service.sign_in:
        return "refused the credentials"
    return "refused the key" if service.key_env else "wants a key, and none was sent"


def _check_key(service: Service) -> str:
    if service.sign_in:
        return service.sign_in
    if not service.key_env:
        return "Name the variable that holds it in the endpoint's config (`api_key_env`)."
    return f"Check that {service.key_env} holds a complete key that is not revoked and may use this model."


def _meant(model: str) -> str:
    """The nearest name, where the table does not have this one."""
    from agent_cli.providers import catalog

    near = [] if catalog.knows(model) else catalog.nearest(model)
    return f" Did you mean {near[0]}?" if near else ""


def _check_url(service: Service) -> str:
    return f"check {service.url_env or 'the base URL of the endpoint'}."


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait as the service asks for: `retry-after-ms`, or `retry-after` as seconds or as a date.

    `now` is seconds since the epoch.
    """
    millis = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", millis):
        return float(millis) / 1000
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    if not value:
        return None
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


def quoted(body: bytes) -> str:
    """The beginning of a body in one line, for a message."""
    text = body[:2000].decode("utf-8", "replace")
    if text.lstrip().startswith("<"):  # a page: its words, without its marks
        text = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return shortened(" ".join(text.split()))


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
