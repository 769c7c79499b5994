"""One request as a handler sees it, and what it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from agent_cli.kernel.errors import SessionNotFound
from agent_cli.server.counters import Counters
from agent_cli.server.hosting import Hosting
from agent_cli.server.problems import Refused
from agent_cli.server.tokens import Scope, Token

T = TypeVar("T")


class Call(NamedTuple):
    """`place` are the names in the path, `query` those behind the question mark; `body` is what the route's type says."""

    hosting: Hosting
    counters: Counters
    token: Token
    place: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    @property
    def session(self) -> str:
        """Raises SessionNotFound, also where the token is not for it: whoever may not see it does not learn of it."""
        session = self.place["session"]
        if not self.token.sees(session):
            raise SessionNotFound(f"There is no session '{session}' that this token is for.")
        return session

    def of(self, kind: type[T]) -> T:
        """The body, which is one of that kind."""
        if not isinstance(self.body, kind):
            raise TypeError(f"the route's body is no {kind.__name__}")
        return self.body

    def need(self, scope: Scope, what: str) -> None:
        """Raises Refused."""
        if not self.token.may(scope):
            raise lacking(self.token, scope, what)


def lacking(token: Token, scope: Scope, what: str) -> Refused:
    return Refused(
        403,
        "scope",
        f"{what} takes a token of scope {scope}, and '{token.name}' has {token.scope}. "
        f"`agent-cli serve token add NAME --scope {scope}` makes one.",
        needs=scope,
    )


class Answer(NamedTuple):
    """`body` is a JSON value, or text of that `content_type`."""

    body: Any
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


class Stream(NamedTuple):
    """Frames that are sent as they come; where none does for a while, `idle` is sent."""

    frames: AsyncGenerator[bytes, None]
    idle: bytes
    content_type: str


Handler: TypeAlias = Callable[[Call], Awaitable[Answer | Stream]]
