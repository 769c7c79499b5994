"""Whether a line could run a command that cannot be read off it. A guess that sees more rather than less."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_cli.permissions import globs
from agent_cli.permissions.bundle import risky
from agent_cli.permissions.rules import Rule
from agent_cli.permissions.runners import MOST, starts
from agent_cli.permissions.shell import Segment, Words, scan, unwrapped

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "busybox"})
_CODE = re.compile(
    r"python[\d.]*|perl|ruby|node|nodejs|deno|bun|php|lua|g?awk|mawk|osascript|tclsh|Rscript|expect|gdb"
)
_INLINE = re.compile(r"-\w*[cerE]\w*|--eval|--exec|--print|-p|-pe|-ne|-ex|eval")
_WORKED_OUT = re.compile(r"[$`*?\[{\\]")
_NAMES = frozenset({"alias", "function", "hash", "enable"})
_READS_CODE = frozenset({"eval", "source", "."})
_TAKES_PROGRAMS = frozenset(
    [
        "awk",
        "gawk",
        "mawk",
        "tar",
        "rsync",
        "ssh",
        "scp",
        "sftp",
        "make",
        "gmake",
        "vim",
        "vi",
        "nvim",
        "ex",
        "sqlite3",
        "psql",
        "mysql",
        "mariadb",
        "crontab",
        "less",
        "man",
        "zip",
    ]
)
"""Programs with options, or a language, in which a whole command may stand."""
_TAKES_ASSIGNMENTS = re.compile(
    r"\w*(EDITOR|PAGER|COMMAND|ASKPASS|SHELL|BROWSER|VISUAL|PROXY_COMMAND)=.", re.DOTALL
)
_WHOLE = re.compile(r"[\s!;|(]")
"""In a word in which more than a name stands."""
_GIT_TAKES = frozenset({"-c", "config", "--config-env"})


def hides(line: str, rules: Iterable[Rule]) -> str:
    """Why a command that one of the rules forbids may be hidden in the line, "" where nothing is."""
    verbs = frozenset(filter(None, (_verb(rule.pattern) for rule in rules)))
    if not verbs:
        return ""
    piped = False
    for segment in scan(line).segments:
        set_first = next((word for word in segment.words if _TAKES_ASSIGNMENTS.match(word)), "")
        name = next((name for name in sorted(verbs) if set_first and _mentions((set_first,), name)), "")
        if name:
            return f"what it sets as {set_first.partition('=')[0]} names {name}"
        for words in unwrapped(segment.words):
            fed = line if "<<" in line else ""
            found = _in_command(words, segment, verbs, piped=piped) or _in_its_input(
                words, fed, verbs, piped=piped
            )
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
    here = words == (".",) and segment.words[:1] != (".",)  # the directory, as an argument of something else
    if verb in _READS_CODE and not here and any(_WORKED_OUT.search(word) for word in rest or ("$",)):
        return f"{verb} runs what is worked out only then"
    if verb in _SHELLS and any("$" in word or "`" in word for word in rest):
        return f"{verb} runs what is worked out only then"
    if verb in _SHELLS and any(word.startswith(("--rcfile", "--init-file")) for word in rest):
        return f"{verb} runs a file first that is named in an option"
    inline = _CODE.fullmatch(verb) and any(_INLINE.fullmatch(word.partition("=")[0]) for word in rest)
    if verb in _NAMES or inline or _takes_commands(words):
        named = next((name for name in sorted(verbs) if _mentions(rest, name)), "")
        return f"the code that it runs names {named}" if named else ""
    if _CODE.fullmatch(verb) and (piped or segment.sources) and _reads_input(rest):
        return f"{verb} runs what it is given on its input"
    return ""


def _in_its_input(words: Words, fed: str, verbs: frozenset[str], *, piped: bool) -> str:
    """`fed` is the line, where it holds a here-document. What is too long to be looked through could hide anything."""
    verb, rest = words[0], words[1:]
    if len(words) > MOST and starts(verb, words):
        return f"more than {MOST} words stand behind {verb}"
    if verb in ("at", "batch") and piped:
        return f"{verb} runs what it is given on its input"
    if not fed or not _CODE.fullmatch(verb) or not _reads_input(rest):
        return ""
    named = next((name for name in sorted(verbs) if _mentions((fed,), name)), "")
    return f"the code that it is given names {named}" if named else ""


def _takes_commands(words: Words) -> bool:
    """Whether a command may stand in its options: for `git` in settings, for `sed` in what is no plain script."""
    if words[0] == "git":
        return not _GIT_TAKES.isdisjoint(words)
    if words[0] == "sed":
        return risky(words)
    return words[0] in _TAKES_PROGRAMS and any(_WHOLE.search(word) for word in words[1:])


def _reads_input(rest: Words) -> bool:
    plain = [word for word in rest if not word.startswith("-")]
    return not plain or "-s" in rest or "-" in rest or "/dev/stdin" in plain


def _mentions(words: Words, name: str) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", word) for word in words)


def _verb(pattern: str) -> str:
    """The program that a rule for commands speaks of; "" for a path, and where a wildcard stands first."""
    head = globs.head(pattern).split()
    return head[0].rpartition("/")[2] if head else ""
