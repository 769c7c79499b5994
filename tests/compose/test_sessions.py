"""The sessions that a screen goes to, on a real database and with the real engine."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_cli.compose import RunOptions, lines, open_session
from agent_cli.compose.known import history
from agent_cli.compose.sessions import Sessions
from agent_cli.config.settings import Settings
from agent_cli.kernel.commands import Say
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Text
from agent_cli.store.memory import MemoryStore
from agent_cli.talk.history import History
from agent_cli.talk.resumed import moved
from agent_cli.talk.stage import Wish


@pytest.fixture
def options(tmp_path):
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    return RunOptions(tmp_path, environ, True, {"model.provider": "echo"})


async def said(session, *texts: str) -> None:
    for text in texts:
        session.send(Say((Text(text),)))
        await session.idle()


async def test_from_one_session_to_a_new_one_to_a_fork_and_back(options, tmp_path):
    used: list[Settings] = []
    kept = Sessions(options, lambda settings, _session: used.append(settings))
    first = open_session(options).session
    await said(first, "the first word", "the second word")
    second = await kept.open(Wish())
    assert used
    await said(second, "something else")
    listed = kept.listed()
    assert {(known.title, known.turns) for known in listed} == {("the first word", 2), ("something else", 1)}
    assert kept.preview(first.id).splitlines()[0] == "you: the second word"
    assert kept.preview(first.id).splitlines()[1].startswith("agent:")
    kept.rename(first.id, "words")
    with pytest.raises(AgentError):
        await kept.open(Wish(resume="words"))  # it is still open
    fork = await kept.open(Wish(fork=f"{first.id}@{first.state.spoken[1].seq - 2}"))
    assert [spoken.text for spoken in fork.state.spoken] == ["the first word"]
    kept.export(fork, "markdown", tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text("utf-8")
    assert "the first word" in text
    assert "the second word" not in text
    for session in (first, second, fork):
        await session.close()
    again = await kept.open(Wish(resume="words"))
    assert again.id == first.id
    assert again.state.turn == 2
    await again.close()


async def test_a_session_that_is_gone_on_with_elsewhere_works_there_in_everything(options, tmp_path):
    first, here = open_session(options).session, tmp_path / "b"
    here.mkdir()
    await said(first, "the first word")
    await first.close()
    await _goes_on(replace(options, cwd=here, resume=first.id), begun=tmp_path, here=here)
    await _goes_on(replace(options, resume=first.id), begun=tmp_path, here=tmp_path)


async def _goes_on(options, begun, here) -> None:
    session = open_session(options).session
    state = session.state
    assert (state.begun_in, state.cwd, state.past.cwd) == (str(begun), str(here), str(here))
    told = "" if begun == here else f"this session was begun in {begun}; it goes on in {here}"
    assert moved(state) == told
    assert f"Working directory: {here}\n" in session._core.prefix().system[0]
    await session.close()


async def test_a_first_message_is_remembered_line_by_line_too(options, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert await lines._converse(options, "repair it", terminal=True) == 0
    assert History(str(history(options))).older("") == "repair it"


async def test_a_session_in_memory_can_be_written_out_and_left_for_one_on_disk(options, tmp_path):
    stored = open_session(options).session
    await said(stored, "on disk")
    await stored.close()
    kept = Sessions(replace(options, ephemeral=True), lambda *_: None)
    memory = await kept.open(Wish())
    await said(memory, "in memory")
    assert [known.title for known in kept.listed()] == ["on disk"]
    kept.export(memory, "jsonl", tmp_path / "m.jsonl")
    assert "in memory" in (tmp_path / "m.jsonl").read_text("utf-8")
    await memory.close()
    found = await kept.open(Wish(resume=stored.id))
    assert [spoken.text for spoken in found.state.spoken] == ["on disk"]
    await found.close()


async def test_a_session_in_memory_is_opened_anew_and_forked_with_all_that_was_said(options):
    options = replace(options, ephemeral=True, memory=MemoryStore())
    kept = Sessions(options, lambda *_: None)
    session = open_session(options).session
    await said(session, "the first word", "the second word")
    await session.close("it is opened anew")
    again = await kept.open(Wish(resume=session.id, anew=True))
    assert [spoken.text for spoken in again.state.spoken] == ["the first word", "the second word"]
    await said(again, "the third word")
    fork = await kept.open(Wish(fork=f"{again.id}@{again.state.spoken[1].seq}"))
    assert [spoken.text for spoken in fork.state.spoken] == ["the first word", "the second word"]
    assert kept.listed() == [], "nothing of it is on disk"
    await again.close()
    await fork.close()
