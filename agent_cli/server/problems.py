"""Why a request is refused, and what of that the caller reads."""

from __future__ import annotations

from typing import Any

from agent_cli.kernel.errors import (
    AgentError,
    ConfigError,
    NameTaken,
    SessionLocked,
    SessionNotFound,
    StoreError,
    TurnInFlightError,
)


class Refused(AgentError):
    """An answer with that HTTP `status`. `more` are fields of the error beside `kind` and `message`."""

    def __init__(
        self, status: int, kind: str, message: str, *, retry_after: int | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after
        self.more = more


STATUSES: tuple[tuple[type[AgentError], int], ...] = (
    (SessionNotFound, 404),
    (SessionLocked, 409),
    (NameTaken, 409),
    (StoreError, 503),
    (ConfigError, 422),
    (TurnInFlightError, 409),
)


def refusal(problem: AgentError) -> Refused:
    """The answer to a request that met that."""
    if isinstance(problem, Refused):
        return problem
    status = next((status for kind, status in STATUSES if isinstance(problem, kind)), 500)
    return Refused(status, problem.kind, str(problem))


def body_of(refused: Refused) -> dict[str, Any]:
    return {"error": {"kind": refused.kind, "message": str(refused), **refused.more}}
