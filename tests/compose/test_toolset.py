"""Which tools the model gets: turned off, dropped by a task class, given back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_cli.compose import RunOptions, open_session
from agent_cli.engine.session import Session
from agent_cli.kernel import wire
from agent_cli.kernel.errors import ConfigError, ToolError
from agent_cli.kernel.events import as_text
from tests.fakes.web_server import Page, serving


def opened(tmp_path: Path, **flags: Any) -> Session:
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": "done"}), encoding="utf-8")
    given = {
        "model.provider": "scripted",
        **{name.replace("__", "."): value for name, value in flags.items()},
    }
    return open_session(RunOptions(tmp_path, environ, True, given, script=script)).session


async def names(tmp_path: Path, **flags: Any) -> set[str]:
    session = opened(tmp_path, **flags)
    found = set(session._core.tools())
    await session.close()
    return found


async def test_what_each_request_pays_for_the_tools(tmp_path: Path):
    """Each call of the model carries all of it: 2,900 tokens, where four bytes are one."""
    session = opened(tmp_path)
    specs = [tool.spec for tool in session._core.tools().values()]
    size = sum(len(msgspec.json.encode((spec.name, spec.description, spec.schema))) for spec in specs)
    await session.close()
    assert len(specs) >= 23
    assert size / 4 < 2_900


async def test_a_task_class_leaves_tools_out_and_enabling_gives_them_back(tmp_path: Path):
    assert "bash" not in await names(tmp_path, session__task_class="review")
    assert "bash" in await names(tmp_path, session__task_class="review", tools__enable=("bash",))
    assert "bash" in await names(tmp_path, tools__enable=("bash",))


async def test_what_was_turned_off_cannot_be_enabled(tmp_path: Path):
    with pytest.raises(ConfigError, match="'bash' is both enabled and disabled"):
        opened(tmp_path, tools__enable=("bash",), tools__disable=("bash",))
    with pytest.raises(ConfigError, match=r"no tool 'bsh'.*The tools are read_file"):
        opened(tmp_path, tools__enable=("bsh",))


async def test_none_of_the_tools_of_this_program(tmp_path: Path):
    assert await names(tmp_path, tools__builtin=False) == set()


async def test_the_system_prompt_and_the_tools_stay_small(tmp_path: Path):
    """About three bytes are a token."""
    session = opened(tmp_path)
    specs = [msgspec.structs.replace(tool.spec, brief="") for tool in session._core.tools().values()]
    size = sum(len(msgspec.json.encode(spec)) for spec in specs)
    size += sum(len(text.encode()) for text in session._core.prefix().system)
    await session.close()
    assert size / 3 < 6_000


async def test_host_rules_hold_at_every_hop_of_a_fetch(tmp_path: Path):
    """A page of this machine is read where its host is named exactly; a redirect to a host that is not is refused."""
    pages = {"/a": Page(b"<p>hello"), "/b": Page(status=302, headers={"location": "http://other.example/"})}
    async with serving(pages) as site:
        flags = {"permissions__mode": "yolo", "url_scope__deny": ("denied.example",)}
        for allow, path, told in (
            ((), "/a", "this machine itself"),
            (("127.0.0.*",), "/a", "this machine itself"),
            (("127.0.0.1",), "/a", "hello"),
            (("127.0.0.1",), "/b", "do not allow other.example"),
        ):
            session = opened(tmp_path, **flags, **({"url_scope__allow": allow} if allow else {}))
            tool = session._core.tools()["fetch_url"]
            args = wire.arguments(tool.arguments, {"url": site.url(path)})
            try:
                output = as_text(await tool.run(args, print))
            except ToolError as problem:
                output = str(problem)
            await session.close()
            assert told in output
