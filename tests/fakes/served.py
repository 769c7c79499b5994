"""A strict service in a thread, for programs that are called and not awaited."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager

from tests.fakes.http_server import FakeService, Say


@contextmanager
def served(answer: str) -> Generator[FakeService]:
    """It says that; `replies` may be set between two calls."""
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    service = FakeService([Say(answer)])

    async def serve() -> None:
        async with service:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()
