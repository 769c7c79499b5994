"""`guardrails.toml`: rules of the user and of the project, and what steps around a check for a while."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.config.files import stands, text_of
from agent_cli.config.trust import RULES as FILE
from agent_cli.guardrails.checks.rules import Bypass, Rule, Ruled, fresh
from agent_cli.kernel.errors import ConfigError


class _Bypass(msgspec.Struct, forbid_unknown_fields=True):
    check: str
    tool: str
    owner: str
    reason: str
    until: datetime


class _Tables(msgspec.Struct, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()
    bypass: tuple[_Bypass, ...] = ()


def read(directory: Path) -> tuple[tuple[Rule, ...], tuple[Bypass, ...]]:
    """Raises ConfigError that names the file and the table."""
    path = directory / FILE
    if not stands(path):
        return (), ()
    try:
        tables = msgspec.convert(tomllib.loads(text_of(path)), _Tables)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ConfigError(f"{path}: this is no TOML: {problem}. Correct the file, or take it away.") from None
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{path}: {problem}. {SHAPE}") from None
    rules = tuple(fresh(rule, str(path)) for rule in tables.rule)
    for at, rule in enumerate(rules, 1):
        _check(path, at, rule)
    return rules, tuple(_bypass(path, each) for each in tables.bypass)


SHAPE = (
    "A [[rule]] has name, surface (input, action, output), match and severity (warn, block, halt), and may have message,"
    " tools and ignore_case; a [[bypass]] has check, tool, owner, reason and until."
)


def _check(path: Path, at: int, rule: Rule) -> None:
    where = f"{path}, [[rule]] {at} ({rule.name or 'without a name'})"
    if not rule.name or not rule.match:
        raise ConfigError(f"{where}: `name` and `match` must not be empty.")
    if rule.surface == "output" and rule.tools:
        raise ConfigError(f"{where}: answers come from no tool; leave `tools` out.")
    try:
        Ruled(rule)
    except ValueError as problem:
        raise ConfigError(f"{where}: {problem}.") from None


def _bypass(path: Path, each: _Bypass) -> Bypass:
    said: dict[str, Any] = {
        name: getattr(each, name).strip() for name in ("check", "tool", "owner", "reason")
    }
    empty = [name for name, value in said.items() if not value]
    if empty:
        raise ConfigError(f"{path}, [[bypass]]: {', '.join(empty)} must not be empty.")
    until = each.until if each.until.tzinfo else each.until.astimezone()
    return Bypass(**said, until=until.timestamp())
