"""Commands of the operator's own: prompts in files, with a place for arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from agent_cli.talk.answers import Answer
from agent_cli.talk.commands.command import Command, Host, ordered
from agent_cli.talk.door import Prompt

PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")


def filled(body: str, rest: str) -> str:
    """`$ARGUMENTS` is everything that was typed, `$1` to `$9` its words; without a place it comes at the end."""
    words = rest.split()

    def value(found: re.Match[str]) -> str:
        if found[1] == "ARGUMENTS":
            return rest
        at = int(found[1]) - 1
        return words[at] if at < len(words) else ""

    if not PLACE.search(body):
        return f"{body}\n\n{rest}".rstrip()
    return PLACE.sub(value, body)


def commands(prompts: Sequence[Prompt], taken: frozenset[str]) -> tuple[Command, ...]:
    """Names that are `taken` stay what they are."""
    return tuple(_command(prompt) for prompt in prompts if prompt.name not in taken)


def _command(prompt: Prompt) -> Command:
    def run(host: Host, rest: str) -> Answer | None:
        return ordered(host, Say((Text(filled(prompt.body, rest)),)))

    return Command(
        prompt.name, prompt.description or f"your own ({prompt.path})", run, arguments=prompt.arguments
    )
