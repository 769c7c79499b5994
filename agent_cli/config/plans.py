"""Plans as files: `.agents/plans/plan-<n>.md`, and `plan-<n>-revoked.md` of those that are in force no more."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agent_cli.kernel.errors import ToolError

PLANS = "plans"
_NUMBERED = re.compile(r"plan-(\d+)(?:-revoked(?:-\d+)?)?\.md")
_TRIES = 100


def keep(agents: Path, session: str, plan: str, agent: str = "main") -> str:
    """Writes the next plan of that `.agents/`; never over one that is there. Returns its path from beside `.agents/`.

    Raises ToolError.
    """
    directory = agents / PLANS
    try:
        directory.mkdir(exist_ok=True)
        number = 1 + max((_number(found.name) for found in directory.iterdir()), default=0)
        for taken in range(number, number + _TRIES):
            path = directory / f"plan-{taken}.md"
            if _written(path, _text(taken, agent, session, plan)):
                return str(path.relative_to(agents.parent))
    except OSError as problem:
        raise ToolError(f"The plan could not be written to {directory}: {problem.strerror}.") from problem
    raise ToolError(f"No free name for a plan was found in {directory}.")


def revoke(agents: Path, path: str) -> str:
    """Renames a plan to `…-revoked.md`; what is gone already stays gone. Returns the new path.

    Raises ToolError.
    """
    old = agents.parent / path
    names = (f"{old.stem}-revoked{f'-{count}' if count > 1 else ''}.md" for count in range(1, _TRIES))
    new = next((path for path in map(old.with_name, names) if not path.exists()), old)
    try:
        old.rename(new)
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise ToolError(f"{old} could not be renamed: {problem.strerror}.") from problem
    return str(new.relative_to(agents.parent))


def _written(path: Path, text: str) -> bool:
    """False where another session took the name just now."""
    try:
        with path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        return False
    return True


def _number(name: str) -> int:
    found = _NUMBERED.fullmatch(name)
    return int(found.group(1)) if found else 0


def _text(number: int, agent: str, session: str, plan: str) -> str:
    names = "\n".join(
        f"{key}: {json.dumps(value)}" for key, value in (("agent", agent), ("session", session))
    )
    return f"---\nplan: {number}\n{names}\n---\n\n{plan.strip()}\n"
