"""What goes to an attach server and comes from it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry, Event, Live, OperatorNote, Recorded
from agent_cli.kernel.wire import is_object

if TYPE_CHECKING:
    import httpx2

WITHIN = 20.0
"""Seconds in which the server has to answer."""
SILENT = 60.0
"""Seconds without a word on a stream; the server says every quarter of a minute that it is still there."""


class Unreachable(AgentError):
    """The server could not be asked; it may be there again later."""

    kind = "unreachable"


class Declined(AgentError):
    """The server's own words. `status` is that of HTTP."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Told(dict[str, Any]):
    """What the server answered. A field that is missing shows that it is none of ours. Raises Declined."""

    def __init__(self, url: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self._url = url

    def __missing__(self, key: str) -> Any:
        raise _foreign(self._url)


class Placed(NamedTuple):
    """An event with its turn and step."""

    event: Event
    place: tuple[int, int]


class Wire:
    """One server. `token` is "" where it takes none. What is not async blocks. Raises Unreachable and Declined."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client: httpx2.Client | None = None

    def get(self, path: str, **query: object) -> Told:
        return self._told(self._ask("GET", path, query=query))

    def post(self, path: str, body: object = None) -> Told:
        return self._told(self._ask("POST", path, body))

    def _told(self, answer: httpx2.Response) -> Told:
        try:
            found = answer.json()
        except (ValueError, RecursionError):
            raise _foreign(self.url) from None
        if not is_object(found):
            raise _foreign(self.url)
        return Told(self.url, found)

    def facts(self, session: str, since: int) -> list[Entry]:
        """What the log has behind that entry."""
        answer = self._ask("GET", f"/sessions/{session}/events", query={"since": since, "follow": 0})
        found = (placed_in(line, self.url) for line in answer.text.split("\n"))
        return [placed.event for placed in found if placed is not None and isinstance(placed.event, Entry)]

    async def stream(
        self, session: str, since: int, opened: Callable[[], None]
    ) -> AsyncGenerator[Placed, None]:
        """Facts behind that entry, then facts and previews as they come, until the server ends it.

        `opened` is called when the server has begun to answer.
        """
        import httpx2

        limit = httpx2.Timeout(WITHIN, read=SILENT)
        asked = ("GET", f"{self.url}/sessions/{session}/events")
        try:
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=limit) as client,
                client.stream(*asked, params={"since": since}) as answer,
            ):
                async for placed in _events(answer, opened, self.url):
                    yield placed
        except (httpx2.HTTPError, OSError) as problem:
            raise _unreachable(self.url, problem) from None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _ask(
        self, method: str, path: str, body: object = None, query: dict[str, object] | None = None
    ) -> httpx2.Response:
        import httpx2

        if self._client is None:
            self._client = httpx2.Client(headers=self._headers, timeout=WITHIN)
        params = {name: str(value) for name, value in (query or {}).items()}
        try:
            answer = self._client.request(method, f"{self.url}{path}", json=body, params=params)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as problem:
            raise _unreachable(self.url, problem) from None
        if answer.status_code >= 300:
            raise _declined(answer.status_code, answer.content)
        return answer


async def _events(
    answer: httpx2.Response, opened: Callable[[], None], url: str
) -> AsyncGenerator[Placed, None]:
    if answer.status_code != 200:
        raise _declined(answer.status_code, await answer.aread())
    opened()
    async for line in answer.aiter_lines():
        if (placed := placed_in(line, url)) is not None:
            yield placed


def placed_in(line: str, url: str) -> Placed | None:
    """The event in a line; None for every other line, and for a preview that this version does not know.

    Raises Declined for what no attach server sends.
    """
    if not line.startswith("data: "):
        return None
    try:
        record: Any = json.loads(line[6:])
        int(record.get("seq", 0))
        return Placed(event_of(record), (int(record["turn"]), int(record["step"])))
    except msgspec.ValidationError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _foreign(url) from None


def event_of(record: dict[str, Any]) -> Event:
    """The event of a record. One that this version does not know becomes a note in its place."""
    kind = str(record.get("type", ""))
    plain = {**record, "kind": kind}
    if "seq" not in record:
        return msgspec.convert(plain, Live)
    try:
        event = msgspec.convert(plain, Recorded)
    except msgspec.ValidationError:
        event = OperatorNote(f"an entry of a kind that this version does not know: {kind}", "detail", kind)
    return Entry(
        record["session"],
        record["seq"],
        record["time"],
        record["turn"],
        record["step"],
        event,
        record["branch"],
    )


def _unreachable(url: str, problem: Exception) -> Unreachable:
    return Unreachable(
        f"The attach server at {url} cannot be asked: {problem or type(problem).__name__}. Look whether it runs there."
    )


def _foreign(url: str) -> Declined:
    return Declined(
        200,
        "foreign",
        f"What answers at {url} is no attach server of this version: it says something else. Look at the address.",
    )


def _declined(status: int, body: bytes) -> Declined:
    try:
        error = json.loads(body)["error"]
        return Declined(status, str(error["kind"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return Declined(
            status, "http", f"The server answered with status {status}, and not in its own words."
        )
