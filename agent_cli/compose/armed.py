"""Settings, rules and installed packages → the content and action checks that are armed."""

from __future__ import annotations

from collections.abc import Mapping

from agent_cli.compose.models import key_names
from agent_cli.config import trust
from agent_cli.config.files import stands
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.guardrails.checks.armed import Actions, Armed
from agent_cli.guardrails.checks.check import Check, SlowCheck
from agent_cli.guardrails.checks.rules import Bypass, Rule, Ruled
from agent_cli.guardrails.secrets.in_use import know
from agent_cli.guardrails.secrets.variables import telling
from agent_cli.kernel.errors import ConfigError

GROUP = "agent_cli.guardrails"


def armed(loaded: Loaded) -> Armed:
    """Raises ConfigError for rules and checks that do not work."""
    said = loaded.settings.guardrails
    rules, bypasses = _rules(loaded)
    return Armed(
        redact=said.redact,
        gate=said.output.gate,
        untrusted_text=said.untrusted_text,
        actions=Actions(**said.actions.given()),
        deadline=said.deadline,
        own=(*(Ruled(rule) for rule in rules), *_installed(loaded.settings)),
        bypasses=bypasses,
    )


def know_secrets(environ: Mapping[str, str], loaded: Loaded) -> None:
    """Keys of services, and what variables named like secrets hold, are secrets wherever they stand."""
    keys = frozenset(key_names(loaded.settings))
    held = {name: value.strip() for name, value in environ.items()}
    know({name: value for name, value in held.items() if telling(name, value, in_use=name in keys)})


def _rules(loaded: Loaded) -> tuple[tuple[Rule, ...], tuple[Bypass, ...]]:
    """Rules of a project that is not trusted count, since they only forbid; what steps around a check does not."""
    rules: list[Rule] = []
    bypasses: list[Bypass] = []
    for directory in dict.fromkeys((loaded.user, loaded.project, loaded.recipe)):
        if directory is None or not stands(directory / trust.RULES):
            continue
        from agent_cli.config.guardrail_rules import read  # most have no such file

        found, around = read(directory)
        rules += found
        closed = directory == loaded.project and trust.RULES in loaded.left_out
        bypasses += () if closed else around
    return tuple(rules), tuple(bypasses)


def _installed(settings: Settings) -> list[Check | SlowCheck]:
    """Nothing is looked for where no name is given."""
    names = settings.guardrails.checks
    if not names:
        return []
    from importlib.metadata import entry_points

    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    found: list[Check | SlowCheck] = []
    for name in names:
        if name not in known:
            raise ConfigError(
                f"guardrails.checks names '{name}', and no installed package has such a check; there are: "
                f"{', '.join(sorted(known)) or 'none'}. Install it, or take the name out."
            )
        try:
            made = known[name].load()()
        except Exception as problem:
            raise ConfigError(
                f"the check '{name}' cannot be made: {type(problem).__name__}: {problem}. Update its package, or take the"
                " name out of guardrails.checks."
            ) from problem
        if not isinstance(made, SlowCheck | Check):
            raise ConfigError(f"the check '{name}' is none: {type(made).__name__} lacks what a check has.")
        found.append(made)
    return found
