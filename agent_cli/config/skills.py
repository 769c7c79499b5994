"""Skills: instructions for kinds of work, each a directory with a SKILL.md, of the user's and of the project's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.config import front_matter
from agent_cli.config.files import text_of
from agent_cli.config.front_matter import Front, NoFront
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain

FILE = "SKILL.md"
LIMIT = 256 * 1024
"""Bytes; a larger file is no skill."""
LONGEST = 1024
"""Characters of a description that the model is told."""
MOST = 200
"""Skills that count; what describes them stands in every prompt."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
READ = ("name", "description", "allowed-tools")
ELSEWHERE = ("license", "compatibility", "metadata", "version")
"""What the format has beside, and nothing here uses."""

Scope: TypeAlias = Literal["user", "project", "recipe"]


class Place(NamedTuple):
    """A directory of skills. What a file in it leads to must lie in `within`, None for anywhere."""

    directory: Path
    scope: Scope
    within: Path | None = None


class Problem(Plain, frozen=True):
    """`fatal` says that the skill is left out for it."""

    path: str
    line: int
    text: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Skill(Plain, frozen=True):
    """`needs` are the tools that it names, in its own spelling; `size` is bytes of the file."""

    name: str
    description: str
    scope: Scope
    path: str
    size: int
    needs: tuple[str, ...] = ()

    def body(self) -> str:
        """As the file is now, without its front matter. Raises ConfigError."""
        try:
            found = front_matter.read(_content(Path(self.path)))
        except NoFront as wrong:
            raise ConfigError(f"{self.path}:{wrong.line}: {wrong}. Mend it.") from None
        if found is None:
            raise ConfigError(f"{self.path}: it has no front matter any more. Mend it.")
        return found.body


class Skills(Plain, frozen=True):
    """In the order of their names. `problems` stand with file and line; none of them ends a session."""

    found: tuple[Skill, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_skills(places: Iterable[Place]) -> Skills:
    """Of two with one name the later counts."""
    found: dict[str, Skill] = {}
    problems: list[Problem] = []
    for place in places:
        for directory in _below(place.directory, problems):
            made = _skill(directory, place, problems)
            if made is not None:
                found[made.name] = made
    names = sorted(found)
    if len(names) > MOST:
        told = f"there are {len(names)} skills, and only the first {MOST} by name count"
        problems.append(Problem(found[names[MOST]].path, 1, told))
    return Skills(tuple(found[name] for name in names[:MOST]), tuple(problems))


def _below(directory: Path, problems: list[Problem]) -> list[Path]:
    try:
        return sorted(each for each in directory.iterdir() if each.name[0] != "." and each.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        problems.append(Problem(str(directory), 1, f"it cannot be read: {problem.strerror}"))
        return []


def _skill(directory: Path, place: Place, problems: list[Problem]) -> Skill | None:
    path = directory / FILE

    def wrong(text: str, line: int = 1, *, fatal: bool = True) -> None:
        problems.append(Problem(str(path), line, text, fatal))

    if not path.exists() and not path.is_symlink():
        return wrong(f"there is no {FILE} in this directory")
    if place.within is not None and not _lies_in(path, place.within):
        return wrong(f"it leads out of {place.within}")
    name = directory.name
    if not NAME.fullmatch(name):
        return wrong("a skill's directory is named in small letters, digits and hyphens, at most 64")
    try:
        front = front_matter.read(_content(path))
    except ConfigError as problem:
        return wrong(str(problem).removeprefix(f"{path} ").removeprefix(f"{path}: "))
    except NoFront as problem:
        return wrong(str(problem), problem.line)
    if front is None:
        return wrong("it begins with no front matter: ---, name, description, ---")
    for problem in _odd(front, path, name):
        problems.append(problem)
        if problem.fatal:
            return None
    described = front.facts["description"][:LONGEST]
    size = path.stat().st_size
    return Skill(
        name, " ".join(described.split()), place.scope, str(path), size, front.words("allowed-tools")
    )


def _odd(front: Front, path: Path, name: str) -> Iterable[Problem]:
    said = front.facts.get("name", name)
    if not front.facts.get("description", "").strip():
        line = front.lines.get("description", 1)
        yield Problem(str(path), line, "it has no description, by which a model could choose it")
        return
    if said != name:
        text = f"it names itself '{said}', but its directory is '{name}', and that counts"
        yield Problem(str(path), front.lines["name"], text, fatal=False)
    if len(front.facts["description"]) > LONGEST:
        text = f"only the first {LONGEST:,} characters of the description are told to the model"
        yield Problem(str(path), front.lines["description"], text, fatal=False)
    for key in front.lines:
        if key not in (*READ, *ELSEWHERE):
            yield Problem(str(path), front.lines[key], f"`{key}` has no meaning here", fatal=False)
    if not front.body:
        yield Problem(str(path), 1, "there is nothing behind its front matter", fatal=False)


def _content(path: Path) -> str:
    """Raises ConfigError."""
    text = text_of(path)
    if len(text.encode()) > LIMIT:
        raise ConfigError(f"{path} holds more than {LIMIT:,} bytes, which is no skill")
    return text


def _lies_in(path: Path, within: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(within))
    except OSError:
        return False
