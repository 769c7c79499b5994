"""How the servers of tools are."""

from __future__ import annotations

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.serving import Standing
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, not_yet

NONE = "There are no MCP servers. `agent-cli mcp add NAME COMMAND…` adds one, and a session that is opened then has its tools."
STATES = {"starting": "starting …", "ready": "ready", "failed": "not there", "off": "off"}
AGAIN = "reconnect"


def state_of(each: Standing) -> str:
    """In one line: whether it is there, what it offers, what is wrong."""
    counts = ((len(each.tools), "tool"), (each.prompts, "prompt"), (each.resources, "resource"))
    offers = [f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count]
    more = ["found by search"] if each.by_search else []
    more += [f"{each.restarts} restart{'s' * (each.restarts != 1)}"] if each.restarts else []
    more += [f"{len(each.left_out)} left out"] if each.left_out else []
    return " · ".join((STATES[each.state], *offers, *more)) + (f" · {each.problem}" if each.problem else "")


def details(each: Standing) -> list[tuple[str, str]]:
    rows = [("state", state_of(each)), ("reached", each.where), ("named in", each.origin)]
    rows += [("says", each.log)] if each.log else []
    rows += [("", ""), *each.tools] if each.tools else []
    rows += [("", ""), ("left out", ""), *(tuple_of(line) for line in each.left_out)] if each.left_out else []
    return [row for row in rows if row[1] or row == ("", "") or row[0] == "left out"]


def tuple_of(line: str) -> tuple[str, str]:
    name, _, why = line.partition(": ")
    return name, why


def _mcp(host: Host, rest: str) -> Answer:
    if host.session is None:
        return not_yet()
    servers = host.session.servers
    if servers is None:
        return Note(NONE)
    word, _, name = rest.partition(" ")
    standings = servers.standings()
    if word == AGAIN:
        try:
            servers.reconnect(name.strip())
        except AgentError as problem:
            return Note(f"{problem}.", "error")
        return Note(f"{name.strip()} is started anew; /mcp says how it is.")
    if rest:
        one = next((each for each in standings if each.name == rest), None)
        if one is None:
            return Note(
                f"There is no MCP server {rest}; there are {', '.join(each.name for each in standings)}.",
                "error",
            )
        return Table(one.name, details(one))
    count = len(standings)
    return Table(
        f"{count} MCP server{'s' * (count != 1)}", [(each.name, state_of(each)) for each in standings]
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        "mcp",
        "servers of tools: how they are, one of them, start one anew",
        _mcp,
        arguments="[NAME | reconnect NAME]",
    ),
)
