"""Real processes that speak the protocol, most of them badly."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.messages import Image, Text
from agent_cli.kernel.outputs import as_text
from agent_cli.mcp import connection
from agent_cli.mcp.servers import Server, Stdio
from tests.mcp.conftest import raw

Serve = Callable[..., Any]


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_in(file: Path) -> int:
    return int(file.read_text("utf-8").split()[1])


async def test_tools_are_listed_called_and_named_in_a_fixed_order(serve: Serve) -> None:
    served = await serve(raw(name="b"), raw(name="a"))
    names = list(served.hub.tools(None))
    assert names == sorted(names)
    assert names[0] == "mcp__a__die"
    assert await served.text("mcp__b__echo", text="hello") == "hello"
    assert await served.text("mcp__a__echo", text=None, n=1) == '{"text": null, "n": 1}', "null is told, too"
    assert served.hub.tools(None) is served.hub.tools(None)


async def test_what_a_tool_says_of_its_failure_is_a_failed_result(serve: Serve) -> None:
    served = await serve(raw())
    failed = await served.call("mcp__raw__fail")
    assert (failed.ok, as_text(failed)) == (False, "it went wrong")


async def test_a_server_cannot_say_that_nothing_had_to_be_done(serve: Serve) -> None:
    served = await serve(raw())
    odd = await served.call("mcp__raw__odd")
    assert not odd.no_op
    assert json.loads(as_text(odd)) == {"no_op": True, "found": 3}


async def test_pictures_are_shown_and_what_is_none_is_named(serve: Serve) -> None:
    served = await serve(raw())
    first, second = (await served.call("mcp__raw__picture")).for_model
    assert isinstance(first, Image)
    assert first.media_type == "image/png"
    assert isinstance(second, Text)
    assert "no picture" in second.text
    assert "note://one" in second.text


async def test_a_server_that_dies_at_its_start_says_why_and_keeps_nobody(serve: Serve) -> None:
    served = await serve(raw("dead", name="dead"), raw(name="well"))
    assert await served.text("mcp__well__echo", text="x") == "x"
    assert served.standing("dead").state == "failed"
    assert "exit code 3" in served.standing("dead").problem
    assert "no database" in served.standing("dead").problem
    assert len(served.hub.news()) == 1
    assert served.hub.news() == [], "it is told once"


async def test_a_program_that_is_not_there_is_not_tried_again(serve: Serve) -> None:
    served = await serve(Server("none", Stdio("no-such-program", (), {"PATH": "/usr/bin"}, "/")))
    assert served.standing("none").problem == "there is no program 'no-such-program' on its PATH"
    await asyncio.sleep(0)
    assert served.standing("none").restarts == 0


async def test_a_silent_server_does_not_hold_up_the_others(serve: Serve) -> None:
    served = await serve(raw("silent", name="silent", start_timeout=60), raw(name="well"), settle=False)
    served.hub._until = 0.0
    await served.hub.settle()
    assert any("still starting" in line for line in served.hub.news())
    await served.until(lambda: served.standing("well").state == "ready")
    assert await served.text("mcp__well__echo", text="x") == "x"


async def test_a_server_that_ends_at_an_unknown_first_word_is_spoken_to_as_before(serve: Serve) -> None:
    served = await serve(raw("strict"))
    assert served.standing().state == "ready"
    assert await served.text("mcp__raw__echo", text="old") == "old"


async def test_what_is_no_message_is_passed_over(serve: Serve, tmp_path: Path) -> None:
    served = await serve(raw("garbage", log=str(tmp_path / "logs" / "raw.log")))
    assert await served.text("mcp__raw__echo", text="x") == "x"
    kept = tmp_path / "logs" / "raw.log"
    assert "Welcome to the server!" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_a_server_that_dies_in_a_call_is_started_again(serve: Serve, tmp_path: Path) -> None:
    served = await serve(raw("plain", tmp_path / "said"))
    with pytest.raises(ToolError, match=r"in the middle of this call.*exit code 7.*not known"):
        await served.call("mcp__raw__die")
    assert await served.text("mcp__raw__echo", text="again") == "again"
    assert served.standing().restarts == 1
    assert (tmp_path / "said").read_text().count("pid") == 2


async def test_five_failures_open_the_breaker_and_it_is_asked_no_more(serve: Serve) -> None:
    breakers = Breakers()
    served = await serve(raw(timeout=0.3), breakers=breakers)
    for _ in range(5):
        with pytest.raises(ToolError, match="did not answer within"):
            await served.call("mcp__raw__hang", text="no progress")
    with pytest.raises(ToolError, match=r"failed 5 times in a row and is not asked now.*30 s$"):
        await served.call("mcp__raw__echo", text="x")
    patient = served.hub._connections["raw"]
    patient.server = replace(patient.server, timeout=30)
    breakers.of("mcp raw calls").opened_at = -1_000.0  # half a minute later one call may try
    assert await served.text("mcp__raw__echo", text="x") == "x"
    assert await served.text("mcp__raw__echo", text="y") == "y"


async def test_a_server_that_always_dies_is_left_alone_after_five_starts(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.0)
    breakers = Breakers()
    served = await serve(raw("dead", tmp_path / "said"), breakers=breakers)
    await served.until(lambda: breakers.of("mcp raw").standing() == "open")
    await served.until(lambda: served.standing().restarts == 5)
    assert (tmp_path / "said").read_text("utf-8").count("pid") == 6, (
        "at first it was also spoken to as of old"
    )
    assert served.standing().state == "failed"


async def test_it_is_told_when_it_is_there_again(serve: Serve) -> None:
    served = await serve(raw())
    with pytest.raises(ToolError):
        await served.call("mcp__raw__die")
    assert ["is not there: it ended" in line for line in served.hub.news()] in ([True], [])
    await served.until(lambda: served.standing().state == "ready")
    assert ["is there again" in line for line in served.hub.news()] in ([True], [])
    assert served.hub.news() == []


async def test_an_interrupt_tells_the_server(serve: Serve, tmp_path: Path) -> None:
    served = await serve(raw("plain", tmp_path / "said"))
    call = asyncio.create_task(served.call("mcp__raw__hang"))
    await served.until(lambda: bool(served.shown))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await served.until(lambda: "cancelled" in (tmp_path / "said").read_text())
    assert served.shown == ["busy (1 of 4)\n"]
    assert await served.text("mcp__raw__echo", text="x") == "x"


async def test_a_changed_list_counts(serve: Serve) -> None:
    served = await serve(raw("moving"))
    before = served.hub.tools(None)
    assert await served.text("mcp__raw__echo", text="x") == "x"
    await served.until(lambda: "mcp__raw__late" in served.hub.tools(None))
    assert list(before) == [name for name in served.hub.tools(None) if name != "mcp__raw__late"]


async def test_lists_that_never_rest_are_read_once_in_a_while(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CALM", 1_000.0)
    served = await serve(raw("restless", tmp_path / "said"))
    read = (tmp_path / "said").read_text
    await served.until(lambda: read("utf-8").count("listed") == 2)
    for _ in range(20):
        assert await served.text("mcp__raw__echo", text="x") == "x"
    assert read("utf-8").count("listed") == 2


async def test_what_services_would_refuse_is_left_out_or_mended(serve: Serve) -> None:
    served = await serve(raw("schemas"))
    tools = served.hub.tools(None)
    assert list(tools) == ["mcp__raw__either", "mcp__raw__fine", "mcp__raw__lists"]
    assert tools["mcp__raw__lists"].spec.schema["properties"] == {
        "a": {"type": "array", "items": {}},
        "items": {"anyOf": [{"type": ["array", "null"], "items": {}}]},
    }
    assert tools["mcp__raw__either"].spec.schema == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    assert [line.partition(":")[0] for line in served.standing().left_out] == ["wrong", "lost", "named"]


async def test_what_does_not_fit_the_protocol_is_told_with_its_place(serve: Serve) -> None:
    served = await serve(raw("shapeless"))
    await served.until(lambda: served.standing().state == "failed")
    assert "tools.1.inputSchema.type: Input should be 'object'" in served.standing().problem


async def test_names_fit_every_service_and_no_two_are_one(serve: Serve) -> None:
    served = await serve(raw("twins"))
    names = list(served.hub.tools(None))
    assert len(names) == 4
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in names)
    assert served.hub.tools(None)["mcp__raw__same"].spec.description == "one"


async def test_hints_count_only_where_the_operator_trusts_them(serve: Serve) -> None:
    served = await serve(raw("hints", name="some"), raw("hints", name="known", trusts_hints=True))
    tools = served.hub.tools(None)
    read_only = {name for name, tool in tools.items() if tool.read_only}
    assert read_only == {"mcp__known__look"}


async def test_tools_are_turned_on_and_off_by_name(serve: Serve) -> None:
    served = await serve(raw(allow=("e*", "d*"), deny=("die",)), withheld=frozenset({"mcp__raw__none"}))
    assert list(served.hub.tools(None)) == ["mcp__raw__echo"]


async def test_many_tools_are_found_by_search(serve: Serve) -> None:
    served = await serve(raw("many", name="large"), raw(name="small"))
    tools = served.hub.tools(200_000)
    assert len(tools) == 8
    assert list(tools)[-1] == "find_tools"
    assert "tool_499" in tools["find_tools"].spec.description
    assert served.standing("large").by_search
    args: Any = tools["find_tools"].arguments("thing 123")
    said = as_text(await tools["find_tools"].run(args, print))
    assert "mcp__large__tool_123" in said
    assert list(served.hub.tools(200_000))[:8] == list(tools), "what was there stays where it is"
    assert await served.hub.tools(200_000)["mcp__large__tool_123"].run({}, print) is not None


async def test_a_form_is_asked_field_by_field(serve: Serve) -> None:
    served = await serve(raw("form"))
    questions: list[str] = []
    answers = iter(["Ada", "many", "3", "(leave it out)"])

    async def ask(question: str, options: tuple[str, ...]) -> str | None:
        questions.append(question)
        return next(answers)

    said = json.loads(as_text(await served.call("mcp__raw__echo", ask)))
    assert said == {"action": "accept", "content": {"name": "Ada", "count": 3}}
    assert questions[0].startswith("raw asks: Who are you?")
    assert len(questions) == 4, "what does not fit is asked again"


async def test_a_form_is_declined_where_nobody_is_there(serve: Serve) -> None:
    served = await serve(raw("form"))
    assert json.loads(as_text(await served.call("mcp__raw__echo")))["action"] == "decline"


async def test_a_server_gets_no_keys(serve: Serve, tmp_path: Path) -> None:
    await serve(raw("env", tmp_path / "said"))
    assert set(json.loads((tmp_path / "said").read_text().splitlines()[1])) <= {"PATH", "LC_CTYPE"}


async def test_prompts_and_resources(serve: Serve) -> None:
    served = await serve(raw())
    (prompt,) = served.hub.prompts()
    assert (prompt.arguments, prompt.required) == (("what", "how"), ("what",))
    (said,) = await served.hub.prompt("raw", "review", {"what": "it"})
    assert said == Text("Review: what=it")
    (read,) = await served.hub.read("raw", "note://one")
    assert read == Text('<resource uri="note://one">\nwhat the note says\n</resource>')


async def test_processes_end_with_the_session_also_those_that_do_not_want_to(
    serve: Serve, tmp_path: Path
) -> None:
    served = await serve(raw("deaf", tmp_path / "said"))
    pid = pid_in(tmp_path / "said")
    assert lives(pid)
    await served.hub.close()
    assert not lives(pid)


async def test_it_is_started_anew_when_asked(serve: Serve, tmp_path: Path) -> None:
    served = await serve(raw("plain", tmp_path / "said"))
    served.hub.reconnect("raw")
    await served.until(lambda: (tmp_path / "said").read_text().count("pid") == 2)
    assert await served.text("mcp__raw__echo", text="x") == "x"
