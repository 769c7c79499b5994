"""Whether a line could run a command that cannot be read off it. A guess that sees more rather than less."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_cli.permissions import globs
from agent_cli.permissions.rules import Rule
from agent_cli.permissions.shell import Segment, Words, scan, unwrapped

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "busybox"})
_CODE = re.compile(r"python[\d.]*|perl|ruby|node|nodejs|deno|bun|php|lua|g?awk|mawk|osascript|tclsh|Rscript")
_INLINE = re.compile(r"-\w*[cerE]|--eval|--exec|--print|-p|-pe|-ne|eval")
_WORKED_OUT = re.compile(r"[$`*?\[{\\]")
_NAMES = frozenset({"alias", "function", "hash", "enable"})
_READS_CODE = frozenset({"eval", "source", "."})


def hides(line: str, rules: Iterable[Rule]) -> str:
    """Why a command that one of the rules forbids may be hidden in the line, "" where nothing is."""
    verbs = frozenset(filter(None, (_verb(rule.pattern) for rule in rules)))
    if not verbs:
        return ""
    piped = False
    for segment in scan(line).segments:
        for words in unwrapped(segment.words):
            found = _in_command(words, segment, verbs, piped=piped)
            if found:
                return found
        piped = segment.joint == "|"
    return ""


def _in_command(words: Words, segment: Segment, verbs: frozenset[str], *, piped: bool) -> str:
    verb, rest = words[0], words[1:]
    if not verb or (_WORKED_OUT.search(verb) and verb not in ("[", "[[", "{")):
        return "which command it runs is worked out only when it runs"
    if verb in _SHELLS and (piped or segment.sources) and _reads_input(rest):
        return f"{verb} runs what it is given on its input"
    if verb in _READS_CODE and any(_WORKED_OUT.search(word) for word in rest or ("$",)):
        return f"{verb} runs what is worked out only then"
    if verb in _SHELLS and any("$" in word or "`" in word for word in rest):
        return f"{verb} runs what is worked out only then"
    if verb in _NAMES or (_CODE.fullmatch(verb) and any(_INLINE.fullmatch(word) for word in rest)):
        named = next((name for name in sorted(verbs) if _mentions(rest, name)), "")
        return f"the code that it runs names {named}" if named else ""
    if _CODE.fullmatch(verb) and (piped or segment.sources) and _reads_input(rest):
        return f"{verb} runs what it is given on its input"
    return ""


def _reads_input(rest: Words) -> bool:
    plain = [word for word in rest if not word.startswith("-")]
    return not plain or "-s" in rest or "-" in rest or "/dev/stdin" in plain


def _mentions(words: Words, name: str) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", word) for word in words)


def _verb(pattern: str) -> str:
    """The program that a rule for commands speaks of; "" for a path, and where a wildcard stands first."""
    head = globs.head(pattern).split()
    return head[0].rpartition("/")[2] if head else ""
