"""A server as a child process: one message a line on its standard input and output.

It differs from the SDK's own in what may go wrong: lines that are no message are passed over, endless ones are cut,
standard error goes to a journal, and the end of the process is told at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from agent_cli.mcp.journal import Journal
from agent_cli.mcp.servers import Stdio

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

LONGEST_LINE = 64_000_000
"""Bytes of one message."""
CHUNK = 65_536
SHOWN = 200
GRACE = 1.5
"""Seconds for a server to end by itself when its input ends, as the protocol has it."""
A_MOMENT = 0.2
FORCE = 0.5
"""Seconds from asking its processes to end to ending them."""


class Ward(Protocol):
    """What ends process groups should this program die without a word."""

    @property
    def mark(self) -> str: ...
    def begin(self) -> None: ...
    def watch(self, group: int, /) -> None: ...
    def forget(self, group: int, /) -> None: ...
    def close(self) -> None: ...


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Sets `gone` when the process has ended."""

    def __init__(self) -> None:
        super().__init__(limit=CHUNK, loop=asyncio.get_running_loop())
        self.gone = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.gone.set()


class _Process(asyncio.subprocess.Process):
    """`gone` is not `wait`, which also waits for pipes that children of it may hold."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Protocol) -> None:
        super().__init__(transport, protocol, asyncio.get_running_loop())
        self.gone = protocol.gone


@asynccontextmanager
async def connected(
    launch: Stdio, journal: Journal, ended: Callable[[str], None], ward: Ward | None
) -> AsyncGenerator[TransportStreams]:
    """The streams of a new process, which is gone when this is left. `ended` is told how it ended. Raises OSError."""
    import anyio

    process = await _started(launch, ward)
    spoke = asyncio.Event()
    to_us, ours = anyio.create_memory_object_stream[Any](64)
    out, from_us = anyio.create_memory_object_stream[Any](64)
    pipes = [
        asyncio.create_task(_read(process, to_us, journal, spoke)),
        asyncio.create_task(_write(process, from_us)),
        asyncio.create_task(_listen(process, journal)),
    ]
    watching = asyncio.create_task(_watch(process, ended))
    try:
        yield ours, out
    finally:
        watching.cancel()
        await _told_end(process, pipes[0], ended)
        ending = asyncio.ensure_future(_end(process, ward, GRACE if spoke.is_set() else A_MOMENT))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending
            raise
        finally:
            for task in pipes:
                task.cancel()
            await asyncio.gather(*pipes, watching, return_exceptions=True)
            for stream in (to_us, ours, out, from_us):
                stream.close()


async def _started(launch: Stdio, ward: Ward | None) -> _Process:
    env = dict(launch.env)
    if ward is not None:
        ward.begin()
        env["AGENT_CLI_CALL"] = f"{ward.mark}.mcp"
    transport, protocol = await asyncio.get_running_loop().subprocess_exec(
        _Protocol,
        _program(launch),
        *launch.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=launch.cwd,
        env=env,
        start_new_session=True,
    )
    process = _Process(transport, protocol)
    if ward is not None:
        ward.watch(process.pid)
    return process


def _program(launch: Stdio) -> str:
    """Found by the PATH that the server gets, not by ours. Raises FileNotFoundError."""
    import shutil

    if os.sep in launch.command:
        return os.path.join(launch.cwd, os.path.expanduser(launch.command))  # noqa: PTH111, PTH118 - a Path drops the ./ of it
    found = shutil.which(launch.command, path=launch.env.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(2, "there is no such program on PATH", launch.command)
    return found


async def _read(
    process: asyncio.subprocess.Process, to_us: Any, journal: Journal, spoke: asyncio.Event
) -> None:
    """Message by message; `spoke` is set with the first. When the output ends, so does the stream."""
    stdout, line = process.stdout, bytearray()
    try:
        while stdout is not None and (data := await stdout.read(CHUNK)):
            *whole, rest = data.split(b"\n")
            for part in whole:
                line += part
                await _deliver(bytes(line).strip(), to_us, journal, spoke)
                line.clear()
            line += rest
            if len(line) > LONGEST_LINE:
                journal.note(f"[stdout] a line of more than {LONGEST_LINE:,} bytes: the server is ended")
                break
    except (OSError, ValueError) as problem:
        journal.note(f"[stdout] {problem}")
    finally:
        to_us.close()


async def _deliver(line: bytes, to_us: Any, journal: Journal, spoke: asyncio.Event) -> None:
    """What is no message is noted, and passed over."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    if not line:
        return
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        journal.note(f"[stdout, no message] {line[:SHOWN].decode('utf-8', 'replace')}")
    else:
        spoke.set()
        await to_us.send(SessionMessage(message))


async def _write(process: asyncio.subprocess.Process, from_us: Any) -> None:
    stdin = process.stdin
    if stdin is None:
        return
    with suppress(OSError):
        async for sent in from_us:
            stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await stdin.drain()


async def _listen(process: asyncio.subprocess.Process, journal: Journal) -> None:
    stderr = process.stderr
    with suppress(OSError, ValueError):
        while stderr is not None and (data := await stderr.read(CHUNK)):
            journal.feed(data)


async def _watch(process: _Process, ended: Callable[[str], None]) -> None:
    await process.gone.wait()
    ended(_how(process.returncode or 0))


async def _told_end(process: _Process, reading: asyncio.Task[None], ended: Callable[[str], None]) -> None:
    """Of one that ended by itself, also where nobody had looked yet."""
    if reading.done():
        await _within(A_MOMENT, process)
    if process.returncode is not None:
        ended(_how(process.returncode))


def _how(code: int) -> str:
    return f"it was killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"


async def _end(process: _Process, ward: Ward | None, grace: float) -> None:
    """First its input ends, which it has some time for; whoever is left of its group then is asked to end, and ended."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    await _within(grace, process)
    if sys.platform == "win32" and process.returncode is None:
        process.kill()
    if _group_lives(process.pid):
        _signal(process.pid, signal.SIGTERM)
        deadline = asyncio.get_running_loop().time() + FORCE
        while _group_lives(process.pid) and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - grandchildren: their end is told to nobody
            await asyncio.sleep(0.02)
        _signal(process.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    await _within(FORCE, process)
    transport: Any = getattr(
        process, "_transport", None
    )  # nothing public lets go of pipes that others still hold
    if transport is not None:
        transport.close()
    if ward is not None:
        ward.forget(process.pid)


async def _within(seconds: float, process: _Process) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.gone.wait()


def _group_lives(group: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(group, number)
        else:
            os.killpg(group, number)
