"""Skills of the operator's, of the project and of the recipe, as the session takes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.config import trust
from agent_cli.config.sources import Loaded

if TYPE_CHECKING:
    from agent_cli.config.skills import Place, Scope, Skill, Skills
    from agent_cli.tools.skill import Kept

DIRECTORY = "skills"
TOOL = "skill"


def skills_of(loaded: Loaded) -> Skills | None:
    """None where there is no directory of skills, so that nobody pays for them. Raises nothing."""
    directories = list(_directories(loaded))
    if not directories:
        return None
    from agent_cli.config.skills import read_skills

    return read_skills(directories)


def kept(found: Skills | None) -> Mapping[str, Kept]:
    """As the tool takes them, by name."""
    if found is None or not found.found:
        return {}
    from agent_cli.tools.skill import Kept

    return {each.name: Kept(each.path, each.needs, each.body) for each in found.found}


def listing(found: Skills | None) -> str:
    """What stands of them in the system prompt, "" for nothing."""
    if found is None or not found.found:
        return ""
    from agent_cli.context.skills import Row, listed

    return listed(Row(each.name, each.description) for each in found.found)


def roots(found: Skills | None) -> tuple[tuple[str, str], ...]:
    """What a skill comes with may be read, wherever it lies."""
    return tuple((_directory(each), "r") for each in found.found) if found else ()


def _directory(skill: Skill) -> str:
    return os.path.realpath(Path(skill.path).parent)


def _directories(loaded: Loaded) -> Iterator[Place]:
    """The weakest first: of one scope what other agents keep there, then our own."""
    mine, beside = loaded.foreign(trust.SKILLS)
    own = loaded.scopes(DIRECTORY)
    project = loaded.project / DIRECTORY if loaded.project is not None else None
    found: list[tuple[Path | None, Scope, Path | None]] = [
        (mine, "user", None),
        (loaded.user / DIRECTORY, "user", None),
        (beside, "project", beside.parent.parent if beside else None),
        (project if project in own else None, "project", loaded.project and loaded.project.parent),
        (loaded.recipe and loaded.recipe / DIRECTORY, "recipe", loaded.recipe),
    ]
    for directory, scope, within in found:
        if directory is not None and directory.is_dir():
            from agent_cli.config.skills import Place

            yield Place(directory, scope, within)


def told(found: Skills | None) -> tuple[str, ...]:
    """The notices for a session in which skills were left out."""
    lost = [str(problem) for problem in found.problems if problem.fatal] if found else []
    return tuple(f"A skill was left out. {line}. /skills lists them." for line in lost)
