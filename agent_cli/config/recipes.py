"""Recipes: directories with a README and a complete `.agents/`, that shape the agent for one job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_cli.config import files, places
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain

DIRECTORY = "recipes"
SHIPPED = Path(__file__).parent.parent / DIRECTORY


class Recipe(Plain, frozen=True):
    """`path` is the directory that holds `.agents/`; `origin` is "shipped", "user" or "project"."""

    name: str
    path: str
    origin: str
    title: str


def find(wanted: str, cwd: Path, environ: Mapping[str, str], *, trusted: bool = True) -> Path:
    """The directory of a recipe, by its path or its name: the project's, then the user's, then the shipped ones.

    A project that is not `trusted` has none: it could give a known name another meaning.

    Raises ConfigError.
    """
    if wanted.startswith(("/", ".", "~")) or "/" in wanted:
        found = Path(places.expanded(wanted, cwd, environ))
        if (found / places.AGENTS).is_dir():
            return found
        raise ConfigError(f"{found} is no recipe: it holds no {places.AGENTS} directory. Name another one.")
    known = {recipe.name: recipe for recipe in reversed(every(cwd, environ, trusted=trusted))}
    if wanted in known:
        return Path(known[wanted].path)
    from difflib import get_close_matches

    if not trusted and (held := _of_project(wanted, cwd, environ)):
        raise ConfigError(
            f"the recipe '{wanted}' is in {held}, and this project is not trusted, so its recipes do not count. "
            "Look at what is in it, then start with --trust."
        )
    names = ", ".join(sorted(known)) or "none"
    near = get_close_matches(wanted, known, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ConfigError(
        f"there is no recipe '{wanted}'; there are: {names}.{hint} A path needs a slash: ./{wanted}"
    )


def _of_project(wanted: str, cwd: Path, environ: Mapping[str, str]) -> str:
    """Where the project has a recipe of that name, "" where it has none."""
    found = (one.path for one in every(cwd, environ) if one.origin == "project" and one.name == wanted)
    return next(found, "")


def every(cwd: Path, environ: Mapping[str, str], *, trusted: bool = True) -> tuple[Recipe, ...]:
    """The strongest first. One name may come more than once: the first counts."""
    project = places.project_dir(cwd, environ)
    scopes = [("project", project / DIRECTORY)] if project and trusted else []
    scopes += [("user", places.user_dir(environ) / DIRECTORY), ("shipped", SHIPPED)]
    return tuple(
        Recipe(each.name, str(each), origin, _title(each))
        for origin, scope in scopes
        if scope.is_dir()
        for each in sorted(scope.iterdir())
        if (each / places.AGENTS).is_dir()
    )


def _title(recipe: Path) -> str:
    """The first line of text under the heading of its README."""
    try:
        lines = files.text_of(recipe / "README.md").splitlines()
    except ConfigError:
        return ""
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")
