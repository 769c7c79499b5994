"""Prompts of servers as slash commands, and resources of servers that a message names with `@`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from agent_cli.kernel.commands import Say
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text
from agent_cli.kernel.serving import Served, ServedPrompt
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, ordered

RESOURCE = re.compile(r"(?:^|[\s(])@([^\s:@]+):([a-zA-Z][\w+.-]*:[^\s]+)")
LONGEST = 100_000
"""Characters of a resource that a message takes along."""
MOST = 10
ODD = re.compile(r"[^\w.-]+")


def commands(servers: Served) -> tuple[Command, ...]:
    """`/SERVER:PROMPT`, one for each."""
    return tuple(_command(servers, prompt) for prompt in servers.prompts())


def name_of(prompt: ServedPrompt) -> str:
    return f"{ODD.sub('-', prompt.server)}:{ODD.sub('-', prompt.name)}"


def _command(servers: Served, prompt: ServedPrompt) -> Command:
    shown = (name if name in prompt.required else f"[{name}]" for name in prompt.arguments)

    def run(host: Host, rest: str) -> Answer | None:
        given = given_in(prompt, rest)
        lacking = [name for name in prompt.required if not given.get(name)]
        if lacking:
            return Note(
                f"/{name_of(prompt)} needs {', '.join(lacking)}: {' '.join(prompt.arguments)}.", "error"
            )

        async def work() -> Answer | None:
            return ordered(host, Say(await servers.prompt(prompt.server, prompt.name, given)))

        host.stage.meanwhile(f"asks {prompt.server} for its prompt {prompt.name}", work)
        return None

    told = " ".join(prompt.description.split()) or f"a prompt of the server {prompt.server}"
    return Command(name_of(prompt), told, run, arguments=" ".join(shown))


def given_in(prompt: ServedPrompt, rest: str) -> dict[str, str]:
    """By name (`what=x`), else in their order; the last one takes the rest."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    named = dict(
        word.split("=", 1) for word in words if word.partition("=")[0] in prompt.arguments and "=" in word
    )
    plain = [word for word in words if word.partition("=")[0] not in prompt.arguments or "=" not in word]
    left = [name for name in prompt.arguments if name not in named]
    for at, name in enumerate(left):
        value = " ".join(plain[at:]) if at == len(left) - 1 else "".join(plain[at : at + 1])
        if value:
            named[name] = value
    return named


def named_in(text: str, servers: Served) -> list[tuple[str, str]]:
    """Server and address of each resource that the text names as `@SERVER:URI`; of servers that there are."""
    known = {each.name for each in servers.standings()}
    found = dict.fromkeys(
        (server, uri.rstrip(".,;!?)")) for server, uri in RESOURCE.findall(text) if server in known
    )
    return list(found)[:MOST]


async def read(servers: Served, found: list[tuple[str, str]]) -> tuple[Block, ...]:
    """What they hold, the end of long ones cut. Raises AgentError."""
    blocks: list[Block] = []
    for server, uri in found:
        for block in await servers.read(server, uri):
            long = isinstance(block, Text) and len(block.text) > LONGEST
            blocks.append(
                Text(f"{block.text[:LONGEST]}\n[cut here]") if isinstance(block, Text) and long else block
            )
    return tuple(blocks)


def reading(typed: str, host: Host, say: Say) -> tuple[str, Callable[[], Awaitable[Answer | None]]] | None:
    """What is to be read before this can be said; None for nothing."""
    servers = host.session.servers if host.session is not None else None
    found = named_in(typed, servers) if servers is not None and "@" in typed else []
    if servers is None or not found:
        return None

    async def work() -> Answer | None:
        try:
            blocks = await read(servers, found)
        except AgentError as problem:
            return (
                Note(f"It was said without what it names: {problem}", "warning") if _said(host, say) else None
            )
        ordered(host, replace(say, content=(*say.content, *blocks)))
        return None

    return f"reads {', '.join(uri for _, uri in found)}", work


def _said(host: Host, say: Say) -> bool:
    ordered(host, say)
    return True
