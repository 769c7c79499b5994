"""What every benchmark needs: the command, a server, a home of its own, and processes that are measured."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COMMAND = Path(sys.executable).with_name("agent-cli")
MODELS = {"openai": "gpt-4.1", "anthropic": "claude-sonnet-5"}
MEGABYTE = 1e6


class BenchmarkFailed(Exception):
    """What was to be timed did not happen; its time would mean nothing."""


class Ran(NamedTuple):
    """A whole process, exec to exit. CPU is its own and that of children it waited for; `rss` is the peak, in MB.

    `first_request` is seconds from exec to the first request at the server, None where there was none.
    """

    wall: float
    cpu: float
    rss: float
    first_request: float | None
    requests: int
    output: str


class Server:
    """`server.py` in a process of its own."""

    def __init__(self) -> None:
        script = str(Path(__file__).with_name("server.py"))
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def url(self, plan: str) -> str:
        return f"http://127.0.0.1:{self.port}/{plan}"

    def arrivals(self) -> list[float]:
        """Of the requests since the last time this was asked, on the clock of `time.monotonic`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/requests", timeout=10) as answer:
            return json.load(answer)

    def close(self) -> None:
        self._process.communicate()


@dataclass(slots=True)
class Bench:
    """`runs` is how often each thing is measured, `full` asks for the long versions, `peers` are (name, command)."""

    runs: int
    full: bool
    peers: Sequence[tuple[str, str]]
    place: Path
    server: Server

    @property
    def cwd(self) -> Path:
        return self.place / "project"

    def env(self, plan: str) -> dict[str, str]:
        """Nothing of the caller's but the PATH: bytecode is written, no key is real."""
        url = self.server.url(plan)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.place / "home"),
            "AGENT_CLI_HOME": str(self.place / "home" / "agent-cli"),
            "OPENAI_API_KEY": "test",
            "OPENAI_BASE_URL": f"{url}/v1",
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": url,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }

    def ours(self, *words: str, family: str = "openai") -> list[str]:
        return [str(COMMAND), *words, "--provider", family, "--model", MODELS[family]]

    def peer(self, command: str, prompt: str, plan: str) -> list[str]:
        """{prompt} and {url} (the server's, without /v1) in a peer's command are filled in."""
        return [word.format(prompt=prompt, url=self.server.url(plan)) for word in shlex.split(command)]

    def run(
        self, command: Sequence[str], plan: str = "say", *, expect: str = "", timeout: float = 60.0
    ) -> Ran:
        """Raises BenchmarkFailed unless the process ends with 0 and says what is expected."""
        self.server.arrivals()
        with (self.place / "output").open("w+b") as sink:
            began = time.monotonic()
            process = subprocess.Popen(
                command,
                cwd=self.cwd,
                env=self.env(plan),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            alarm = Timer(timeout, end_group, (process.pid,))
            alarm.start()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            alarm.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            end_group(process.pid)  # what it left behind would disturb the next
            sink.seek(0)
            output = sink.read().decode("utf-8", "replace")
        if process.returncode != 0 or expect not in output:
            raise BenchmarkFailed(f"{shlex.join(command)} ended with {process.returncode}:\n{output[-2000:]}")
        arrivals = self.server.arrivals()
        first = arrivals[0] - began if arrivals else None
        rss = usage.ru_maxrss * 1024 / MEGABYTE
        return Ran(wall, usage.ru_utime + usage.ru_stime, rss, first, len(arrivals), output)

    def interleaved(self, things: Mapping[str, Callable[[], Any]]) -> dict[str, list[Any]]:
        """Each thing `runs` times, by turns, after one round that does not count."""
        for thing in things.values():
            thing()
        got: dict[str, list[Any]] = {name: [] for name in things}
        for _ in range(self.runs):
            for name, thing in things.items():
                got[name].append(thing())
        return got

    def inside(self, script: str, *words: object) -> Any:
        """What a script prints as JSON; for measurements within a process, which must not grow this one."""
        command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, words)]
        env = {**self.env("say"), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, env=env, cwd=self.cwd, check=False, capture_output=True, text=True, timeout=120
        )
        if done.returncode != 0:
            raise BenchmarkFailed(f"{script} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])


def end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def opened(runs: int, peers: Sequence[tuple[str, str]], *, full: bool) -> Iterator[Bench]:
    """A place and a server that are gone afterwards. Our modules are byte-compiled, as an installation has them."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "agent_cli")], check=False)
    with TemporaryDirectory(prefix="agent-cli-bench-") as name:
        place = Path(name)
        (place / "home").mkdir()
        (place / "project").mkdir()
        (place / "project" / "notes.txt").write_text("One line of notes.\n" * 40, encoding="utf-8")
        server = Server()
        try:
            yield Bench(runs, full, peers, place, server)
        finally:
            server.close()
