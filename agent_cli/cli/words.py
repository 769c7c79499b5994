"""Reads a command line by the table of options, without Typer: most of the time there is nothing to explain."""

from __future__ import annotations

from collections import deque

import msgspec

from agent_cli.cli.options import ALIASES, COMMANDS, FLAGS, Flag

BY_NAME: dict[str, Flag] = {name: flag for flag in FLAGS for name in flag.names}


class Line(msgspec.Struct):
    """What was typed. `values` by the option's `dest`: a text, a list of texts where it repeats, True for a switch.

    `words` are the rest; `literal` says that they came after `--`. Of an option that is given twice, the last
    one counts.
    """

    values: dict[str, str | list[str] | bool] = msgspec.field(
        default_factory=dict[str, "str | list[str] | bool"]
    )
    words: list[str] = msgspec.field(default_factory=list[str])
    literal: bool = False


class Unreadable(Exception):
    """Not a plain start: a command, a call for help, or a mistake."""


def read(argv: list[str]) -> Line:
    """Raises Unreadable. The rules are those of Typer: `--a=b`, `--a b`, `-ab`, `-a=b` is "=b", `--` ends options."""
    line, left = Line(), deque(argv)
    while left:
        word = left.popleft()
        if word == "--":
            line.words += left
            line.literal = True
            break
        if word.startswith("--"):
            _long(line, word, left)
        elif word.startswith("-") and len(word) > 1:
            _short(line, word, left)
        elif (word in COMMANDS or word in ALIASES) and not line.words and "print" not in line.values:
            raise Unreadable(word)
        else:
            line.words.append(word)
    return line


def _long(line: Line, word: str, left: deque[str]) -> None:
    name, equals, value = spelled_out(word).partition("=")
    flag = BY_NAME.get(name)
    if flag is None or (equals and flag.kind == "switch"):
        raise Unreadable(word)
    if equals:
        left.appendleft(value)
    _take(line, flag, left)


def spelled_out(word: str) -> str:
    """`--x=false` as `--no-x`, where there is one, and `--x=true` as `--x`. Everything else stays."""
    name, _, value = word.partition("=")
    opposite = name.replace("--", "--no-", 1)
    if opposite not in BY_NAME or BY_NAME.get(name, BY_NAME[opposite]).kind != "switch":
        return word
    switched = {"true": name, "on": name, "yes": name, "1": name}
    switched |= dict.fromkeys(("false", "off", "no", "0"), opposite)
    return switched.get(value.lower(), word)


def _short(line: Line, word: str, left: deque[str]) -> None:
    """Switches may stand together; the first option that takes a value takes the rest."""
    for place, letter in enumerate(word[1:], start=2):
        flag = BY_NAME.get(f"-{letter}")
        if flag is None:
            raise Unreadable(word)
        if flag.kind == "switch":
            _take(line, flag, left)
            continue
        if word[place:]:
            left.appendleft(word[place:])
        _take(line, flag, left)
        return


def _take(line: Line, flag: Flag, left: deque[str]) -> None:
    if flag.kind == "switch":
        line.values[flag.dest] = True
        return
    if flag.alone and (not left or left[0].startswith("-")):
        line.values[flag.dest] = ""
        return
    if not left:
        raise Unreadable(flag.name)
    value = left.popleft()
    if flag.kind not in ("many", "names"):
        line.values[flag.dest] = value
        return
    held = line.values.setdefault(flag.dest, [])
    if isinstance(held, list):
        held.append(value)
