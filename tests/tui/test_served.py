"""Servers in the conversation: /mcp, prompts as commands, resources behind an @."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agent_cli.kernel.commands import Say
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text
from agent_cli.kernel.serving import ServedPrompt, ServedResource, Standing
from agent_cli.talk.commands import book
from tests.fakes.session import FakeSession
from tests.tui.test_commands import Board


class Servers:
    """Two servers: one that is there, one that is not."""

    def __init__(self) -> None:
        self.again: list[str] = []

    def standings(self) -> tuple[Standing, ...]:
        tools = (("mcp__git__log", "Shows the log."),)
        return (
            Standing(
                "git", "ready", "git-mcp --all", "/p/.agents/mcp.json", tools, ("push: turned off",), 1, 1, 2
            ),
            Standing("web", "failed", "https://x.example", problem="it wants a login"),
        )

    def prompts(self) -> tuple[ServedPrompt, ...]:
        return (ServedPrompt("git", "re view", "Reviews\na commit.", ("commit", "how"), ("commit",)),)

    def resources(self) -> tuple[ServedResource, ...]:
        return (ServedResource("git", "git://head", "the head"),)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str], /) -> tuple[Block, ...]:
        return (Text(f"{server} {name} {sorted(arguments.items())}"),)

    async def read(self, server: str, uri: str, /) -> tuple[Block, ...]:
        if uri == "git://gone":
            raise AgentError("there is no such thing")
        return (Text(f"what {uri} holds"),)

    def reconnect(self, server: str, /) -> None:
        if server != "git":
            raise AgentError(f"there is no MCP server '{server}'; there are git")
        self.again.append(server)


@pytest.fixture
def session() -> FakeSession:
    session = FakeSession()
    session.servers = Servers()
    return session


async def finish(board: Board) -> None:
    for _, work in board.desk.stage.begun:  # type: ignore[attr-defined]  # the stage of tests keeps what was begun
        answer = await work()
        if answer is not None:
            board.tell(answer)


def test_how_they_are(session: FakeSession) -> None:
    board = Board(session)
    said = board.run("/mcp", 100)
    assert "2 MCP servers" in said
    assert "ready · 1 tool · 1 prompt · 1 resource · 2 restarts · 1 left out" in said
    assert "not there · it wants a login" in said
    one = board.run("/mcp git", 100)
    assert "mcp__git__log" in one
    assert "turned off" in one
    assert "no MCP server nix" in board.run("/mcp nix", 100)


def test_one_is_started_anew(session: FakeSession) -> None:
    board = Board(session)
    board.run("/mcp reconnect git")
    assert session.servers.again == ["git"]
    assert "there is no MCP server 'nix'" in board.run("/mcp reconnect nix", 100)


def test_without_servers_it_says_how_to_add_one() -> None:
    assert "agent-cli mcp add" in Board(FakeSession()).run("/mcp", 120)


async def test_a_prompt_is_a_command(session: FakeSession) -> None:
    board = Board(session)
    assert "/git:re-view commit [how]" in board.run("/help", 200)
    assert [each.name for each in book.matching("git", book.own_of(board.desk))] == ["git:re-view"]
    assert "needs commit" in board.run("/git:re-view", 100)
    assert board.run("/git:re-view abc very well") == ""
    await finish(board)
    assert session.commands == [Say((Text("git re view [('commit', 'abc'), ('how', 'very well')]"),))]


async def test_a_resource_goes_along(session: FakeSession) -> None:
    board = Board(session)
    board.run("see @git:git://head, please")
    assert session.commands == []
    await finish(board)
    assert session.commands == [Say((Text("see @git:git://head, please"), Text("what git://head holds")))]


async def test_what_cannot_be_read_does_not_lose_the_message(session: FakeSession) -> None:
    board = Board(session)
    board.run("see @git:git://gone")
    await finish(board)
    assert session.commands == [Say((Text("see @git:git://gone"),))]
    assert "there is no such thing" in str(board.items[-1])


def test_what_only_looks_like_one_is_sent_as_it_is(session: FakeSession) -> None:
    board = Board(session)
    board.run("mail me @other:mailto:x and @file.py")
    assert len(session.commands) == 1
