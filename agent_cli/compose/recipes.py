"""Whether a recipe is right: its texts, rules and models against what a run with it really has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_cli.compose.custom_tools import own_of
from agent_cli.compose.skills import skills_of
from agent_cli.compose.toolset import check, own_names, reach_of, withheld, world_tools
from agent_cli.config import places, recipes
from agent_cli.config.files import text_of
from agent_cli.config.instructions import read_instructions
from agent_cli.config.plans import PLANS
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded, load
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.usage import ModelCard
from agent_cli.permissions import lint
from agent_cli.providers import catalog
from agent_cli.tools.results import Results
from agent_cli.tools.workspace import Workspace

QUOTED = re.compile(r"(\b[Tt]ools? )?`([a-z][a-z0-9_]*)(\(?)[^`]*`( tools?\b)?")
OTHERS = (recipes.DIRECTORY, PLANS)
"""Below `.agents`, and not of this recipe: other recipes, and what agents wrote."""
FULL = ModelCard("", "", images=True, documents=True)


def problems(recipe: Path, environ: Mapping[str, str]) -> list[str]:
    """Sentences about all that is wrong, an empty list where nothing is."""
    clean = {name: value for name, value in environ.items() if not name.startswith("AGENT_CLI_")}
    clean["AGENT_CLI_HOME"] = str(recipe / ".nobody")  # only what the recipe itself says counts
    try:
        loaded = load(recipe, clean, {}, recipe=str(recipe))
        found = read_instructions(recipe / ".nobody", None, recipe / places.AGENTS)
    except AgentError as problem:
        return [str(problem)]
    settings = loaded.settings
    wrong = [] if (recipe / "README.md").is_file() else ["it has no README.md"]
    texts = {instruction.source: instruction.text for instruction in found}
    texts |= {str(file): text_of(file) for file in _texts(recipe) if str(file) not in texts}
    bare = load(recipe / ".nobody", clean, {})
    try:
        tools, every = _tools(recipe, loaded), _tools(recipe, bare)
        check(loaded)
    except AgentError as problem:
        return [*wrong, str(problem)]
    for source, text in texts.items():
        wrong += [f"{source}: {problem}" for problem in _unknown_tools(text, tools, every)]
    wrong += _skills(loaded, tools)
    wrong += _dead_rules(settings, tools)
    wrong += _unknown_models(settings)
    return wrong


def _texts(recipe: Path) -> Iterator[Path]:
    """What of the directory is the recipe: all else may be a whole project, with what others installed in it."""
    own = recipe / places.AGENTS
    yield from recipe.glob("README.md")
    for file in sorted(own.rglob("*.md")):
        if file.relative_to(own).parts[0] not in OTHERS:
            yield file


def _tools(recipe: Path, loaded: Loaded) -> frozenset[str]:
    """The names of all tools that a run with these settings registers."""
    left_out, space = withheld(loaded), Workspace(recipe, recipe)
    results, reach = Results(recipe / ".nobody"), reach_of(loaded.settings)
    made = world_tools(space, left_out, results, FULL, reach=reach, own=own_of(loaded))
    return frozenset(made) | own_names(left_out, plans=True)


def _skills(loaded: Loaded, tools: frozenset[str]) -> Iterator[str]:
    found = skills_of(loaded)
    if found is None:
        return
    from agent_cli.context.skills import missing

    yield from map(str, found.problems)
    for each in found.found:
        if lacks := missing(each.needs, tools):
            yield f"{each.path}: names tools that a run with this recipe does not have: {', '.join(lacks)}"


def _unknown_tools(text: str, tools: frozenset[str], every: frozenset[str]) -> Iterator[str]:
    """What stands in backquotes and is meant as a tool: it is called, it is called a tool, it is one elsewhere, or it nearly is one."""
    told: set[str] = set()
    for before, name, called, after in QUOTED.findall(text):
        near = _near(name, every)
        if name in tools or name in told or not (before or called or after or name in every or near):
            continue
        told.add(name)
        hint = f"; did you mean `{near[0]}`?" if near and near[0] != name else ""
        yield f"names the tool `{name}`, which a run with this recipe does not have{hint}"


def _near(name: str, every: frozenset[str]) -> list[str]:
    return difflib.get_close_matches(name, every, n=1, cutoff=0.85) if "_" in name else []


def _dead_rules(settings: Settings, tools: frozenset[str]) -> Iterator[str]:
    said = settings.permissions
    for dead in lint.dead(said.allow, said.deny, tools):
        yield f"permissions.{dead.list}: '{dead.rule}' never matches: {dead.why}"


def _unknown_models(settings: Settings) -> Iterator[str]:
    model = settings.model
    rows = {name: row.given() for name, row in settings.models.items()}
    named = {
        "model.name": model.name,
        **{f"model.tiers.{size}": name for size, name in model.tiers.given().items()},
    }
    named |= {
        "agentic.small_model": settings.agentic.small_model,
        "compaction.model": settings.compaction.model,
    }
    named |= {f"model.fallback[{at}]": name for at, name in enumerate(model.fallback)}
    for key, name in named.items():
        bare = (name or "").rpartition("/")[2]
        own = model.provider in settings.providers or (name or "").partition("/")[0] in settings.providers
        if (
            name
            and not own
            and not name.startswith("local:")
            and catalog.card(bare, model.provider, overrides=rows) is None
        ):
            yield f"{key}: the model {name} is unknown"
