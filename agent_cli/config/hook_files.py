"""Files of the project that hooks run: whoever may change them decides what runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_cli.kernel.wire import is_list, is_object

HERE = ("$AGENT_CLI_PROJECT_DIR/", "${AGENT_CLI_PROJECT_DIR}/")


def files_of(rows: Any, root: Path) -> tuple[Path, ...]:
    """Of hooks as a config file holds them, also of such that are wrong. Paths in them begin at `root`."""
    words = [word for row in _rows(rows) for word in _words(row)]
    found = [root / _bare(word) for word in dict.fromkeys(words) if word and "\0" not in word]
    return tuple(path for path in found if _is_file(path))


def _rows(rows: Any) -> Iterable[dict[str, Any]]:
    return [row for row in rows if is_object(row)] if is_list(rows) else []


def _words(row: dict[str, Any]) -> list[str]:
    argv, command = row.get("argv"), row.get("command")
    if is_list(argv):
        return [word for word in argv if isinstance(word, str)]
    if not isinstance(command, str):
        return []
    import shlex

    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:
        return command.split()


def _bare(word: str) -> str:
    for start in HERE:
        word = word.removeprefix(start)
    return word


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
