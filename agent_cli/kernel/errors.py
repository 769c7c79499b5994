"""Every error that this product raises on purpose.

AgentError
├── ConfigError                 a flag, a key or a file of the operator is wrong            exit 2
│   ├── NoModel                 there is no key and no local model                          exit 2
│   └── ModelGone               the model of a recorded session cannot be used any more     exit 2
├── TurnInFlightError           asked of a session between turns only, and a turn runs
├── ArgumentsError              a model's arguments do not fit a tool's schema              data for the model
├── ToolError                   a tool could not do its work                                data for the model
├── StoreError                  the session database                                        exit 1
│   ├── SessionLocked           another process writes this session
│   ├── SessionNotFound         none of that id or name, or no such entry in it             exit 2
│   ├── NameTaken               another session is called so                                exit 2
│   ├── StoreCorrupt            unreadable, or not ours: never overwritten
│   ├── StoreTooNew             written by a newer version: never overwritten
│   └── StoreUnwritable         no space, read-only, no permission
└── ProviderError               a model service                                             see `retryable`
    ├── ConnectionFailed        unreachable, reset, first byte or stream timed out          retryable
    ├── StreamCut               a stream that ended without its terminal event              retryable
    ├── RateLimited             429; with `retry_after` where the service said so           retryable
    ├── CircuitOpen             not asked: the service failed too often just now            retryable
    ├── Overloaded              5xx, 529, also inside a 200 stream                          retryable
    ├── GarbledResponse         not the protocol: HTML, broken JSON, another API
    ├── AuthFailed              401, 403
    ├── QuotaExhausted          402, spend limits, insufficient_quota
    ├── ModelNotFound           404
    ├── ToolSurface             a vendor's program does not have exactly the tools that it was given
    ├── ContextOverflow         the prompt does not fit; with `used` and `limit` where known
    └── RequestRefused          400 and the rest: the request itself is wrong
"""

from __future__ import annotations


class AgentError(Exception):
    """Root of the tree. The message says what happened, what it means and what to do."""

    kind = "error"


class ConfigError(AgentError):
    kind = "config"


class NoModel(ConfigError):
    kind = "no-model"


class ModelGone(ConfigError):
    """The session can go on with another model."""

    kind = "model-gone"


class TurnInFlightError(AgentError):
    kind = "turn-in-flight"


class ArgumentsError(AgentError):
    kind = "arguments"


class ToolError(AgentError):
    """The message is the result that the model reads."""

    kind = "tool"


class StoreError(AgentError):
    kind = "store"


class SessionLocked(StoreError):
    kind = "session-locked"


class SessionNotFound(StoreError):
    kind = "session-not-found"


class NameTaken(StoreError):
    kind = "name-taken"


class StoreCorrupt(StoreError):
    kind = "store-corrupt"


class StoreTooNew(StoreError):
    kind = "store-too-new"


class StoreUnwritable(StoreError):
    kind = "store-unwritable"


class ProviderError(AgentError):
    """`status` is the HTTP status where there was one; `retry_after` is seconds as the service asked for."""

    kind = "provider"
    retryable = False

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class ConnectionFailed(ProviderError):
    kind = "connection"
    retryable = True


class StreamCut(ProviderError):
    kind = "stream-cut"
    retryable = True


class RateLimited(ProviderError):
    kind = "rate-limit"
    retryable = True


class Overloaded(ProviderError):
    kind = "overloaded"
    retryable = True


class CircuitOpen(ProviderError):
    kind = "circuit-open"
    retryable = True


class GarbledResponse(ProviderError):
    kind = "garbled"


class AuthFailed(ProviderError):
    kind = "auth"


class QuotaExhausted(ProviderError):
    kind = "quota"


class ModelNotFound(ProviderError):
    kind = "model-not-found"


class ContextOverflow(ProviderError):
    """`used` and `limit` are tokens, None where the service did not say."""

    kind = "overflow"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        used: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message, status=status, retry_after=retry_after)
        self.used = used
        self.limit = limit


class ToolSurface(ProviderError):
    kind = "tool-surface"


class RequestRefused(ProviderError):
    kind = "request"
