"""What a program that failed or hung seems to have waited for: there is no terminal and nobody to answer."""

from __future__ import annotations

import re

from agent_cli.permissions.shell import scan, verb_of

_REFUSED = (
    r"not a (tty|terminal|typewriter)|no tty|(a|requires?( a)?) terminal|inappropriate ioctl|error opening terminal"
    r"|/dev/tty|tty present|not from a terminal|not to a terminal|eof when reading a line|unexpected end of input"
    r"|terminal prompts disabled|could not read (username|password|passphrase)|password is required"
    r"|askpass|host key verification failed|permission denied \(publickey|non-interactive|noninteractive"
    r"|cannot prompt|not interactive|editor 'false'|problem with the editor"
)
"""Compiled when a command fails or hangs."""
_ASKING = (
    r"([?:>]|\[[yYnN]/[yYnN]\]|\([yYnN](es)?/[nN]o?\)|\(END\)|password.{0,40}|passphrase.{0,40}|continue)\s*$"
)
_TAIL = 4_000
_LONGEST = 160
_MOST = 3
"""Programs that are named."""
_ADVICE = "there is no terminal and nobody to type: give answers as options (such as --yes or -m), or through a pipe or file"


_EDITORS = frozenset({"vi", "vim", "nvim", "view", "vimdiff", "rvim", "gvim", "nvi", "elvis", "vile"})
_BEFORE = frozenset({"sudo", "doas", "env", "time", "nohup", "command", "exec"})
_BATCH = re.compile(r"-(es|Es|s|S|e|E|version|-version|-help|h|-headless|-cmd|c)|\+.*", re.DOTALL)
"""With such an option an editor may end by itself."""


def wants_a_screen(command: str) -> str:
    """The editor in the line that would wait for keys until its time is up, "" where none is: they do not fail by themselves."""
    for segment in scan(command).found:
        words = list(segment.words)
        while words and (words[0] in _BEFORE or "=" in words[0] or words[0].startswith("-")):
            del words[0]
        editor = verb_of(tuple(words))
        if editor in _EDITORS and not any(_BATCH.fullmatch(word) for word in words[1:]):
            return editor
    return ""


def refused_for(text: str) -> str:
    """What to tell of a command that failed; "" where nothing speaks of a terminal or an answer."""
    found = None
    for line in text[-_TAIL:].splitlines():
        found = line if re.search(_REFUSED, line, re.IGNORECASE) else found
    return f"it wanted a terminal or an answer ({_short(found)}); {_ADVICE}" if found else ""


def waited_for(text: str, running: tuple[str, ...] = ()) -> str:
    """What to tell of a command that ran out of time: its last words, if they are a question, else what still ran."""
    last = text.rstrip("\n").rpartition("\n")[2] if text and not text.endswith("\n") else ""
    if last.strip() and re.search(_ASKING, last, re.IGNORECASE):
        return f"its last words look like a question ({_short(last)}); {_ADVICE}"
    if not running:
        return ""
    more = f" and {len(running) - _MOST} more" if len(running) > _MOST else ""
    return f"what it still waited for: {', '.join(map(_short, running[-_MOST:]))}{more}"


def _short(line: str) -> str:
    bare = " ".join(line.split())
    return f"'{bare[:_LONGEST]}{'…' if len(bare) > _LONGEST else ''}'"
