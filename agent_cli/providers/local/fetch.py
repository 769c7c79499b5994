"""One file over HTTP into a file that may hold its beginning already."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, TypeVar

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 8.0
"""For the first answer, name resolution included, which no client's own timeout covers."""
STALL_SECONDS = 45.0


class Broken(Exception):
    """A download that cannot go on; the words follow a host name. `passing`: another try may help."""

    def __init__(self, words: str, *, passing: bool = False) -> None:
        super().__init__(words)
        self.passing = passing


def new_client() -> httpx2.Client:
    import httpx2

    return httpx2.Client(
        timeout=httpx2.Timeout(STALL_SECONDS, connect=CONNECT_SECONDS), follow_redirects=True
    )


def size_of(file: BinaryIO) -> int:
    """Bytes in an unbuffered file."""
    return os.fstat(file.fileno()).st_size


def fetch(
    client: httpx2.Client, url: str, file: BinaryIO, total: int | None, progress: Callable[[int], None]
) -> None:
    """Completes `file`, which is unbuffered and open for appending, by the rest of what lies at `url`.

    `total` is the size that the whole must have, None where it is not known. Raises Broken; what came so
    far stays in the file.
    """
    start = size_of(file)
    response = answered(lambda: _request(client, url, start))
    try:
        _check(response, file, start, total)
        for piece in _pieces(response):
            file.write(piece)
            progress(size_of(file))
    finally:
        response.close()


def answered(ask: Callable[[], T]) -> T:
    """What `ask` returns, or Broken where it takes too long or does not get through."""
    import httpx2

    answers: list[T] = []
    troubles: list[Exception] = []

    def run() -> None:
        try:
            answers.append(ask())
        except Exception as trouble:  # noqa: BLE001 - raised again in the thread that waits
            troubles.append(trouble)

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    asking.join(ANSWER_SECONDS)
    if answers:
        return answers[0]
    match troubles:
        case [httpx2.HTTPError() | httpx2.InvalidURL() as trouble]:
            raise Broken(f"cannot be reached ({trouble})") from None
        case [trouble]:
            raise trouble
        case _:
            raise Broken(f"does not answer within {ANSWER_SECONDS:g} s")


def _request(client: httpx2.Client, url: str, start: int) -> httpx2.Response:
    headers = {"range": f"bytes={start}-"} if start else {}
    headers["accept-encoding"] = "identity"
    return client.send(client.build_request("GET", url, headers=headers), stream=True)


def _check(response: httpx2.Response, file: BinaryIO, start: int, total: int | None) -> None:
    """That what comes continues what is there; a server that sends all of it again begins a new file."""
    if response.status_code == 416:
        file.truncate(0)
        raise Broken("has less than was downloaded before", passing=True)
    if response.status_code not in (200, 206):
        raise Broken(f"answered with status {response.status_code}")
    if response.status_code == 206:
        span = response.headers.get("content-range", "")
        if not span.startswith(f"bytes {start}-"):
            raise Broken(f"sent another part than the one asked for ({span})")
    length = response.headers.get("content-length", "")
    begun = start if response.status_code == 206 else 0
    if total is not None and length != str(total - begun):
        raise Broken("offers another file there: its size is not the published one")
    if response.status_code == 200 and start:
        file.truncate(0)


def _pieces(response: httpx2.Response) -> Iterator[bytes]:
    import httpx2

    try:
        yield from response.iter_bytes()
    except httpx2.HTTPError as trouble:
        raise Broken(f"broke off ({trouble or type(trouble).__name__})", passing=True) from None
