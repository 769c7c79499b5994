"""Slash commands of the operator's own: `commands/NAME.md` in the user's directory and in the project's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from agent_cli.config import front_matter
from agent_cli.config.front_matter import NoFront
from agent_cli.kernel.values import Plain

LIMIT = 32 * 1024
"""Bytes; a larger file is no prompt and is left out."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
READ = ("description", "argument-hint", "model", "allowed-tools")


class Prompt(Plain, frozen=True):
    """`arguments` says what may be typed behind the name. `model` and `tools` count for the turn that it begins.

    `problem` says why it cannot be used; `remarks` are what is odd about it. Both have file and line.
    """

    name: str
    body: str
    path: str
    problem: str = ""
    description: str = ""
    arguments: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_prompts(directories: Iterable[Path]) -> tuple[Prompt, ...]:
    """Of two with one name the later counts. What cannot be read or is empty is left out."""
    found: dict[str, Prompt] = {}
    for directory in directories:
        for path in sorted(directory.glob("*.md")):
            prompt = _prompt(path)
            if prompt is not None:
                found[prompt.name] = prompt
    return tuple(found[name] for name in sorted(found))


def _prompt(path: Path) -> Prompt | None:
    name = path.stem.casefold()
    try:
        if not NAME.fullmatch(name) or not path.is_file() or path.stat().st_size > LIMIT:
            return None
        text = path.read_text("utf-8", "replace").removeprefix("\ufeff")
        front = front_matter.read(text)
    except OSError:
        return None
    except NoFront as problem:
        return Prompt(name, "", str(path), f"{path}:{problem.line}: {problem}")
    body = front.body if front else text.strip()
    if not body:
        return None
    if front is None:
        return Prompt(name, body, str(path))
    facts = front.facts
    hint = facts.get("argument-hint", "") or " ".join(f"[{each}]" for each in front.words("argument-hint"))
    return Prompt(
        name, body, str(path), "", facts.get("description", ""), hint, facts.get("model", ""), front.words("allowed-tools"),
        tuple(f"{path}:{front.lines[key]}: `{key}` has no meaning here" for key in front.lines if key not in READ),
    )  # fmt: skip
