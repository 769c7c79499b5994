"""Servers of tools: what the settings say of all of them, and what `mcp.json` says of each."""

from typing import Annotated, Literal

from msgspec import Meta

from agent_cli.config.kinds import Duration, Endpoint, File, Name, Section, Share, Switch, says


class Mcp(Section, frozen=True):
    enabled: Annotated[Switch, says("Whether the servers of `mcp.json` are started.")] = True
    wait: Annotated[
        Annotated[Duration, Meta(ge=0, le=60)],
        says(
            "Most time that the first request of a session waits for servers that are still starting; later ones join when "
            "they are there."
        ),
    ] = 5
    share: Annotated[
        Share,
        says(
            "Share of the window that the schemas of servers' tools may take; the largest servers beyond it are found by search."
        ),
    ] = 0.1


class ToolNames(Section, frozen=True):
    allow: Annotated[
        tuple[Name, ...], says("Tools that are offered, by name or glob; without any, all.")
    ] = ()
    deny: Annotated[tuple[Name, ...], says("Tools that are not offered.")] = ()


class ServerEntry(Section, frozen=True):
    """An entry of `mcpServers`."""

    type: Annotated[
        Literal["stdio", "http", "streamable-http", "streamableHttp"] | None,
        says("How it is reached; without it that is told by `command` or `url`."),
    ] = None
    command: Annotated[Name | None, says("Program to start.")] = None
    args: Annotated[tuple[str, ...], says("Its arguments.")] = ()
    env: Annotated[
        dict[Name, str], says("Variables that it gets beside the few that every server gets.")
    ] = {}
    cwd: Annotated[File | None, says("Where it runs; relative to the project.")] = None
    url: Annotated[Endpoint | None, says("Address of a server that is reached over HTTP.")] = None
    headers: Annotated[dict[Name, str], says("Headers of every request to it.")] = {}
    enabled: Annotated[Switch, says("Whether it is started.")] = True
    tools: Annotated[ToolNames, says("Which of its tools are offered.")] = ToolNames()
    timeout: Annotated[
        Annotated[Duration, Meta(gt=0)], says("Most time of one call without a sign of life.")
    ] = 120
    start_timeout: Annotated[Annotated[Duration, Meta(gt=0)], says("Most time until it is there.")] = 30
    trust_hints: Annotated[
        Switch,
        says("Whether tools that it calls read-only run without asking. Only for servers that you know."),
    ] = False


class ServersFile(Section, frozen=True):
    mcpServers: Annotated[dict[Name, ServerEntry], says("Servers by name.")] = {}  # noqa: N815 - what everybody calls it
