"""Rules of the operator: `tool:glob`, or a glob for any tool.

What a rule is held against:
- of tools that name files, the resolved absolute path. A pattern without a slash is a name at any depth, one
  with a slash is relative to each root unless it starts with `/` or `**/`; a trailing slash is the directory
  with everything below;
- of `bash`, the command: see `allows_line` and `denies`;
- of every other tool, the subject as flat text.

Refusals read a rule as widely as it can be meant, permissions as narrowly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from agent_cli.permissions import globs
from agent_cli.permissions.bundle import read_only, risky
from agent_cli.permissions.shell import Words, joined, read_command, trimmed, unwrapped
from agent_cli.permissions.variables import segments
from agent_cli.ports import PathUse, Proposal

_HEAD = re.compile(r"([A-Za-z_][\w*-]*):(?!//)(.*)", re.DOTALL)
_ALL_IN_IT = re.compile(r"(?<=[^/*])(/\*+)+$")
_WRITING = ("write_file", "edit_file", "apply_patch", "delete_file")
SHELL = "bash"
Roots = tuple[tuple[str, str], ...]


class Rule(NamedTuple):
    """`tool` is a glob over names, empty for any tool."""

    tool: str
    pattern: str
    text: str

    def is_about(self, tool: str) -> bool:
        return not self.tool or globs.flat(self.tool).fullmatch(tool) is not None

    @property
    def is_everything(self) -> bool:
        return self.pattern in ("*", "**")


@lru_cache(1024)
def parse(text: str) -> Rule:
    found = _HEAD.fullmatch(trimmed(text))
    if found is None:
        return Rule("", trimmed(text), text)
    return Rule(found.group(1), trimmed(found.group(2)), text)


def about(rules: Iterable[str], proposal: Proposal) -> Iterator[Rule]:
    """The rules that speak of this tool. A bare tool name is a rule for all of its calls.

    Whatever runs a command line is spoken of as `bash` is.
    """
    named = {proposal.tool} if proposal.touches.command is None else {proposal.tool, SHELL}
    for text in rules:
        rule = parse(text)
        if not rule.tool and (rule.pattern in named or _of_server(rule.pattern, proposal.tool)):
            yield Rule(rule.pattern, "*", text)
        elif any(map(rule.is_about, named)):
            yield rule


def _of_server(pattern: str, tool: str) -> bool:
    """`mcp__SERVER` and `mcp__SERVER__*` are all tools of that server; a star may stand for a part of the name, too."""
    if not (pattern.startswith("mcp__") and tool.startswith("mcp__")):
        return False
    return tool.startswith(f"{pattern}__") or globs.flat(pattern).fullmatch(tool) is not None


# ── refusals ──


def denies(rule: Rule, proposal: Proposal, roots: Roots) -> bool:
    """Also for a file below what the rule names, and for a command anywhere in the line or behind a prefix."""
    touches = proposal.touches
    if rule.is_everything:
        return True
    if any(below(rule.pattern, use.path, roots) for use in touches.paths):
        return True
    if touches.command is not None:
        return any(_denies_command(rule.pattern, seen) for seen in views(touches.command))
    return globs.flat(rule.pattern).fullmatch(touches.subject) is not None


def closes(rule: Rule, uses: Iterable[PathUse], roots: Roots) -> str:
    """The first path that it closes, "" for none.

    What may not be read or written with one tool for files may not be with another, nor with a shell.

    A rule for all files refuses the tool, not every other one. One for all that lies in a directory closes the directory
    itself: a command that is given that takes what is in it. What may not be read may not be edited: that shows it.
    """
    if not is_about_files(rule):
        return ""
    reads, writes = rule.is_about("read_file"), any(map(rule.is_about, _WRITING))
    pattern = _ALL_IN_IT.sub("", rule.pattern) or rule.pattern
    touched = (use for use in uses if reads or (writes and use.access == "w"))
    return next((use.path for use in touched if below(pattern, use.path, roots)), "")


def told_of(rule: str, path: str, proposal: Proposal) -> str:
    """Why a call is refused that touches what the rule closes."""
    way = "; leave it out, as with --exclude, or take the tools for files, which pass it by"
    return f"the rule '{rule}' closes {path}{way if proposal.touches.command is not None else ''}"


def is_about_files(rule: Rule) -> bool:
    """Whether it closes single files or directories, not a tool."""
    return bool(rule.tool) and not rule.is_everything and any(map(rule.is_about, ("read_file", *_WRITING)))


def below(pattern: str, path: str, roots: Roots) -> bool:
    """Whether a path is what the pattern names, or lies below it; letter case does not count."""
    regexes = [globs.path(anchored, fold=True) for anchored in _anchored(pattern.rstrip("/"), roots)]
    while len(path) > 1:
        if any(regex.fullmatch(path) for regex in regexes):
            return True
        path = path.rpartition("/")[0]
    return False


def closed(deny: tuple[str, ...], roots: Roots) -> Callable[[str], bool]:
    """Whether a deny rule closes a file to reading: what tools that walk a tree have to pass by."""
    held = tuple(rule for rule in map(parse, deny) if rule.is_about("read_file") or rule.is_about("grep"))

    def closes(path: str) -> bool:
        return any(rule.is_everything or below(rule.pattern, path, roots) for rule in held)

    return closes


def views(line: str) -> Iterator[str]:
    """The line as it stands, and every command that can be made out in it, in plain words."""
    yield line.strip()
    yield " ".join(line.split())
    for segment in segments(line):
        yield " ".join(segment.words)
        for words in unwrapped(segment.words):
            yield " ".join(words)
            yield joined(words)
            if words[0] == "git":
                yield " ".join(without_git_options(words))


def _denies_command(pattern: str, seen: str) -> bool:
    if globs.flat(pattern).fullmatch(seen) or globs.flat(f"{pattern} *").fullmatch(seen):
        return True
    return pattern.endswith(" *") and globs.flat(pattern[:-2]).fullmatch(seen) is not None


def without_git_options(words: Words) -> Words:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-c", "-C", "--git-dir", "--work-tree", "--namespace") else 1
    return (words[0], *words[at:])


# ── permissions ──


def allows_path(rule: Rule, path: str, roots: Roots) -> bool:
    if rule.is_everything:
        return True
    pattern = f"{rule.pattern}**" if rule.pattern.endswith("/") else rule.pattern
    return any(globs.path(anchored).fullmatch(path) for anchored in _anchored(pattern, roots))


def names_place(rule: Rule) -> bool:
    """Whether the rule spells out a directory of the file system: it then speaks of that place on purpose."""
    return globs.head(rule.pattern).count("/") > 1 and rule.pattern.startswith("/")


def allows_line(
    rules: Iterable[Rule], line: str, foreign: Collection[str] = frozenset()
) -> tuple[str, ...] | None:
    """Which rules allow a shell line, in order; the word "read-bundle" for what only reads; None if they do not.

    A rule without wildcard is the whole line exactly; `*` is every line. Any other rule allows one simple
    command of literal words; a line of several is allowed when each of them is. `foreign` are names that stand for
    other programs here than the ones that only read.
    """
    held = tuple(rules)
    for rule in held:
        if rule.is_everything or globs.literal(rule.pattern) == trimmed(line):
            return (rule.text,)
    commands = read_command(line)
    if commands is None:
        return None
    used: dict[str, None] = {}
    for words in commands.simple:
        reads = words[0] not in foreign and read_only(words)
        allowed = "read-bundle" if reads else _allowing(held, words)
        if allowed is None:
            return None
        used[allowed] = None
    return tuple(used)


def _allowing(rules: tuple[Rule, ...], words: Words) -> str | None:
    if risky(words):
        return None
    command = joined(words)
    return next((rule.text for rule in rules if _allows_command(rule.pattern, command)), None)


def _allows_command(pattern: str, command: str) -> bool:
    """A trailing star ends at a word: `git diff*` is `git diff` and `git diff x`, not `git difftool`."""
    if globs.literal(pattern) is not None:
        return globs.literal(pattern) == command
    if pattern.endswith(" *"):
        pattern = pattern[:-2] + "*"
    if pattern.endswith("*") and len(pattern) > 1 and (pattern[-2].isalnum() or pattern[-2] == "_"):
        prefix = pattern[:-1]
        return any(globs.flat(form).fullmatch(command) is not None for form in (prefix, f"{prefix} *"))
    return globs.flat(pattern).fullmatch(command) is not None


def _anchored(pattern: str, roots: Roots) -> tuple[str, ...]:
    if pattern.startswith(("/", "**/")):
        return (pattern,)
    if "/" not in pattern:
        return (f"**/{pattern}",)
    return tuple(f"{globs.escape(root)}/{pattern.removeprefix('./')}" for root, _ in roots)
