"""The system prompt: facts of the session and the operator's instructions, as bytes that stay the same."""

from __future__ import annotations

from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.values import Plain

INSTRUCTIONS = "Instructions from "
"""What the text of each file of instructions begins with."""


class Instructions(Plain, frozen=True):
    """One file of instructions. `source` is shown to the model and to the person."""

    source: str
    text: str


def source_of(text: str) -> tuple[str, int] | None:
    """The file whose instructions a text brings, with the size of the text in bytes; None for any other text."""
    head, _, _ = text.partition("\n")
    if not (head.startswith(INSTRUCTIONS) and head.endswith(":")):
        return None
    return head.removeprefix(INSTRUCTIONS)[:-1], len(text.encode(errors="replace"))


def system_prompt(
    template: str,
    facts: SessionStarted,
    instructions: tuple[Instructions, ...] = (),
    appended: str = "",
    skills: str = "",
) -> tuple[str, ...]:
    """The blocks of the system prompt. `template` is the product's own text, or the one that replaces it; `skills` lists
    those that can be read.
    """
    surroundings = f"Working directory: {facts.cwd}\nPlatform: {facts.platform}\nToday: {facts.day}"
    blocks = [f"{template.strip()}\n\n{surroundings}"]
    blocks += [
        f"{INSTRUCTIONS}{file.source}:\n\n{file.text.strip()}" for file in instructions if file.text.strip()
    ]
    if skills:
        blocks.append(skills)
    if appended.strip():
        blocks.append(appended.strip())
    return ("\n\n".join(blocks),)
