"""A vendor's program: lines in, lines out, in a process group of its own that dies with us."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress

from agent_cli.kernel.errors import GarbledResponse

CHUNK = 65_536
LONGEST_LINE = 64 * 1024 * 1024
"""A tool's result comes back in one line, images included."""
LAST_WORDS = 4_000
LOOK = 0.02
GRACE = 2.0
"""Seconds that a program that said its last word has to leave."""

LAUNCHER = """\
import os, sys
alive, group = int(sys.argv[1]), os.getpid()
if os.fork() == 0:
    os.closerange(0, 3)
    os.read(alive, 1)
    try:
        os.killpg(group, 9)
    finally:
        os._exit(0)
os.close(alive)
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Becomes the program, after leaving a watcher behind that kills its group when our end of the pipe closes.

That happens with our last breath, however we die, on every POSIX system.
"""


class Child:
    """One running program. `kill` must be called, whatever happens. Construction raises OSError."""

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        watched, self._alive = os.pipe()
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(watched), *argv]
        try:
            self._process = subprocess.Popen(
                launch,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=env,
                bufsize=0,
                pass_fds=(watched,),
                start_new_session=True,
            )
        except OSError:
            os.close(self._alive)
            raise
        finally:
            os.close(watched)
        self._loose = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._heard: list[asyncio.ReadTransport] = []
        self._stdin: asyncio.WriteTransport | None = None
        self._words = bytearray()
        self._over = False

    @property
    def pid(self) -> int:
        """Of the program, and of its group."""
        return self._process.pid

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """What it says, line by line, until it closes its end. Raises GarbledResponse for a line without an end."""
        loop, process = asyncio.get_running_loop(), self._process
        reader = asyncio.StreamReader()
        for pipe, protocol in (
            (process.stdout, asyncio.StreamReaderProtocol(reader)),
            (process.stderr, _Tail(self._words)),
        ):
            transport, _ = await loop.connect_read_pipe(lambda made=protocol: made, pipe)
            self._loose.remove(pipe)
            self._heard.append(transport)
        rest: list[bytes] = []
        size = 0
        while chunk := await reader.read(CHUNK):
            *ended, last = chunk.split(b"\n")
            for line in ended:
                yield b"".join([*rest, line])
                rest, size = [], 0
            rest.append(last)
            size += len(last)
            if size > LONGEST_LINE:
                raise GarbledResponse(f"it wrote a line of more than {LONGEST_LINE >> 20} MiB")
        yield b"".join(rest)

    async def say(self, line: bytes) -> None:
        """A line to its standard input; nothing where it does not listen any more."""
        if self._over:
            return
        if self._stdin is None:
            pipe = self._process.stdin
            loop = asyncio.get_running_loop()
            self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
            self._loose.remove(pipe)
        if not self._stdin.is_closing():
            self._stdin.write(line + b"\n")

    async def leave(self) -> None:
        """Lets it go after its last word, then ends what is left of it."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.close()
        await self._ended(GRACE)
        self.kill()

    async def _ended(self, seconds: float) -> None:
        """Waits that long for it to end; nothing tells, so it is looked at now and then."""
        for _ in range(int(seconds / LOOK)):
            if self._over or self._process.poll() is not None:
                return
            await asyncio.sleep(LOOK)

    def kill(self) -> None:
        """Ends the whole group at once. Idempotent."""
        if self._over:
            return
        self._over = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.abort()
        for transport in self._heard:
            transport.close()
        for pipe in self._loose:
            if pipe is not None:
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=GRACE)
        os.close(self._alive)

    async def explain(self) -> str:
        """How it ended, with the last it wrote to standard error."""
        await self._ended(GRACE / 4)
        code = self._process.poll()
        how = "" if code is None else f" (exit code {code})" if code >= 0 else f" (killed by signal {-code})"
        words = self._words.decode("utf-8", "replace").strip()
        return f"{how}. Its last words: {words}" if words else how


class _Tail(asyncio.Protocol):
    """Keeps the end of what comes."""

    def __init__(self, kept: bytearray) -> None:
        self._kept = kept

    def data_received(self, data: bytes) -> None:
        self._kept += data
        del self._kept[:-LAST_WORDS]
