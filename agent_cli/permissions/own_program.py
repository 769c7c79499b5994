"""Commands by which this program would change what it may do itself."""

from __future__ import annotations

from agent_cli.permissions.shell import Words, unwrapped
from agent_cli.permissions.variables import segments

_OWN = "agent-cli"
_MODULE = "agent_cli"
_CHANGES = {
    "config": frozenset({"set"}),
    "kill-switch": frozenset({"on", "off"}),
    "guardrails": frozenset({"reset"}),
    "pool": frozenset({"set"}),
}
"""Commands with the words by which they write settings or switches."""


def changes_itself(line: str) -> bool:
    """Whether the line has this program trust a project, or write its own settings or switches."""
    return any(_changes(words) for segment in segments(line) for words in unwrapped(segment.words))


def _changes(words: Words) -> bool:
    rest = frozenset(_behind(words))
    return "--trust" in rest or any(name in rest and rest & verbs for name, verbs in _CHANGES.items())


def _behind(words: Words) -> Words:
    """What stands behind the program's name, nothing for another program."""
    if words[0] == _OWN:
        return words[1:]
    at = words.index(_MODULE) if _MODULE in words else 0
    return words[at + 1 :] if at and words[at - 1] == "-m" else ()
