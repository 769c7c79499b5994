"""Rules that can never match, or never do what they seem to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from agent_cli.permissions import globs
from agent_cli.permissions.bundle import risky
from agent_cli.permissions.rules import Rule, parse
from agent_cli.permissions.shell import read_command

BASH = "bash"
_OPERATORS = re.compile(r"&&|\|\||[;|<>`\n]|\$\(")
_LIKELY_TOOL = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")


class Dead(NamedTuple):
    """`list` is "allow" or "deny"."""

    list: str
    rule: str
    why: str


def dead(allow: Sequence[str], deny: Sequence[str], tools: Collection[str]) -> Iterator[Dead]:
    """`tools` are the names of all that there are; those of MCP servers are not known beforehand."""
    for name, rules in (("deny", deny), ("allow", allow)):
        for at, text in enumerate(rules):
            rule = parse(text)
            why = _unknown(rule, tools) or (_never_allows(rule) if name == "allow" else "")
            if not why and text in rules[:at]:
                why = "it stands there twice"
            if not why and name == "allow":
                why = _overruled(
                    _spelled_out(rule, tools), [_spelled_out(parse(each), tools) for each in deny]
                )
            if why:
                yield Dead(name, text, why)


def _unknown(rule: Rule, tools: Collection[str]) -> str:
    bare = not rule.tool and _LIKELY_TOOL.fullmatch(rule.pattern) is not None
    name = rule.tool or (rule.pattern if bare else "")
    if not name or name.startswith("mcp__") or any(globs.flat(name).fullmatch(tool) for tool in tools):
        return ""
    if bare:
        near = difflib.get_close_matches(name, list(tools), n=1)
        return f"it reads as a file name; is the tool {near[0]} meant?" if near else ""
    near = difflib.get_close_matches(name, list(tools), n=1)
    return f"there is no tool {name}" + (f"; is {near[0]} meant?" if near else "")


def _never_allows(rule: Rule) -> str:
    """A rule with a wildcard allows single commands of plain words only."""
    if rule.tool != BASH or rule.is_everything or globs.literal(rule.pattern) is not None:
        return ""
    head = globs.head(rule.pattern)
    if _OPERATORS.search(rule.pattern):
        return "a rule with a wildcard allows one simple command, and this one spells out several or a redirection"
    if "$" in head:
        return "a command with an expansion in it is always asked about"
    found = read_command(head.strip()) if head.strip() else None
    if found is not None and risky(found.simple[0]):
        return f"{found.simple[0][0]} runs other programs or writes, so each call is asked about"
    return ""


def _spelled_out(rule: Rule, tools: Collection[str]) -> Rule:
    """The bare name of a tool is a rule for all of its calls."""
    return Rule(rule.pattern, "*", rule.text) if not rule.tool and rule.pattern in tools else rule


def _overruled(rule: Rule, deny: Sequence[Rule]) -> str:
    for against in deny:
        same_tool = not against.tool or globs.flat(against.tool).fullmatch(rule.tool) is not None
        if same_tool and (against.is_everything or _covers(against.pattern, rule.pattern)):
            return f"the deny rule '{against.text}' forbids all of it"
    return ""


def _covers(wide: str, narrow: str) -> bool:
    """Whether the wide pattern matches whatever the narrow one does, as far as their text shows."""
    literal = globs.literal(narrow)
    if literal is not None:
        return globs.flat(wide).fullmatch(literal) is not None
    return wide == narrow or (
        wide.endswith("*")
        and globs.head(narrow).startswith(globs.head(wide))
        and globs.head(wide) == wide[:-1]
    )
