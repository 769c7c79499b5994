"""Shell lines that only search or read, for which there is a tool of ours."""

from __future__ import annotations

from collections.abc import Collection

from agent_cli.permissions.bundle import risky
from agent_cli.permissions.shell import read_command, verb_of

NATIVE: dict[str, str] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rgrep", "rg", "ag", "ack"), "grep"),
    **dict.fromkeys(("find", "fd", "fdfind"), "glob"),
    "cat": "read_file",
    "ls": "list_dir",
    "tree": "list_dir",
}


def native_for(line: str, registered: Collection[str]) -> str:
    """The tool to use instead, "" where the line is no search, or that tool is not there.

    A line that cannot be told for sure is none, and so is one in which any other program takes part.
    """
    commands = read_command(line)
    if commands is None:
        return ""
    simple = [words for words in commands.simple if words[0] != "cd"]
    found = [NATIVE.get(verb_of(words), "") for words in simple]
    if not found or any(name not in registered for name in found) or any(map(risky, simple)):
        return ""
    return found[0]
