"""`agent-cli doctor`: keys, services, the machine, the database, config; each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from agent_cli.compose.agent_files import are_offered
from agent_cli.compose.health_of_machine import of_machine
from agent_cli.compose.health_of_models import of_models
from agent_cli.compose.options import RunOptions
from agent_cli.compose.served import conditions
from agent_cli.compose.session import prepare
from agent_cli.compose.skills import skills_of
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import AgentError, ConfigError, StoreError
from agent_cli.talk.health import Condition


def examine(options: RunOptions) -> tuple[Condition, ...]:
    """Asks services, opens the database; writes nothing but what a start would. May take ten seconds."""
    return tuple(_examined(options))


def _examined(options: RunOptions) -> Iterator[Condition]:
    loaded = None
    try:
        loaded = prepare(options)
    except ConfigError as problem:
        yield Condition(
            "config",
            "wrong",
            str(problem),
            "Mend what it names; `agent-cli config validate` says when it is right.",
        )
    if loaded is not None:
        yield from _config(loaded)
        yield from of_models(options, loaded)
        yield from _switches(options, loaded)
        yield from conditions(options, loaded)
    yield from of_machine(options, loaded)


def _config(loaded: Loaded) -> Iterator[Condition]:
    read = ", ".join(map(str, loaded.files)) or "no files, everything as it comes"
    if loaded.notices:
        yield Condition(
            "config",
            "note",
            "\n".join(loaded.notices),
            "`agent-cli config show --origin` says what is in force.",
        )
    else:
        yield Condition("config", "ok", read)
    try:
        from agent_cli.compose.toolset import check

        check(loaded)
    except AgentError as problem:
        yield Condition("tools", "wrong", str(problem), "Correct the names in your config.")
    yield from _skills(loaded)
    yield from _hooks(loaded)
    yield from _prompts(loaded)
    yield from _agents(loaded)
    if loaded.left_out:
        yield Condition(
            "trust", "note", f"this project is not trusted; left out: {', '.join(loaded.left_out)}",
            "Look at them, then start once with --trust.",
        )  # fmt: skip


def _skills(loaded: Loaded) -> Iterator[Condition]:
    """Nothing where there are none."""
    found = skills_of(loaded)
    if found is None:
        return
    if found.problems:
        lines = "\n".join(
            f"{problem}{'; the skill is left out' if problem.fatal else ''}" for problem in found.problems
        )
        yield Condition(
            "skills",
            "note",
            lines,
            "Mend the files that are named; what is not left out can be used as it is.",
        )
    else:
        yield Condition("skills", "ok", ", ".join(each.name for each in found.found) or "none")


def _prompts(loaded: Loaded) -> Iterator[Condition]:
    """Nothing where the operator has no commands of his own."""
    if not any(place.is_dir() for place in loaded.scopes("commands")):
        return
    from agent_cli.config.prompts import read_prompts

    found = read_prompts(loaded.scopes("commands"))
    odd = [line for each in found for line in ((each.problem,) if each.problem else each.remarks)]
    if odd:
        yield Condition(
            "commands", "note", "\n".join(odd), "Mend the files that are named; docs/screen.md says how."
        )
    else:
        yield Condition("commands", "ok", ", ".join(f"/{each.name}" for each in found) or "none")


def _agents(loaded: Loaded) -> Iterator[Condition]:
    """Nothing where nobody defines any."""
    if not are_offered(loaded):
        return
    from agent_cli.compose.staff import found_agents, told_of_agents

    found = found_agents(loaded)
    if odd := told_of_agents(found, loaded.settings):
        yield Condition(
            "agents", "note", "\n".join(odd), "Mend the files that are named; docs/subagents.md says how."
        )
    elif defined := [each.name for each in found.agents.values() if each.source]:
        yield Condition("agents", "ok", ", ".join(defined))


def _hooks(loaded: Loaded) -> Iterator[Condition]:
    """Nothing where there are none."""
    if not loaded.settings.hooks:
        return
    from agent_cli.compose.hooks import line, strange

    if wrong := strange(loaded):
        yield Condition(
            "hooks", "note", "\n".join(wrong), "Correct them in the config; docs/hooks.md says how."
        )
    else:
        yield Condition("hooks", "ok", line(loaded.settings))


def _switches(options: RunOptions, loaded: Loaded) -> Iterator[Condition]:
    """What was stopped from outside: whoever wonders why nothing runs finds it here."""
    from agent_cli.compose.kill_switch import listed

    with suppress(StoreError):  # told of the database
        on = listed(options, loaded, every=False)
        if on:
            says = "\n".join(f"{switch.scope} is stopped by {switch.by}: {switch.why}" for switch in on)
            remedy = f"`agent-cli kill-switch off --scope {on[0].scope}`, once it may go on."
            yield Condition("kill switch", "note", says, remedy)
