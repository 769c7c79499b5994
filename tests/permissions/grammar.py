"""What the bash grammar of tree-sitter says of a line: the judge of our own reader, in tests only."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

PLAIN = frozenset({
    "program", "list", "pipeline", "redirected_statement", "command", "command_name", "word", "raw_string", "string", "string_content",
    "concatenation", "number", "file_redirect", "file_descriptor", "test_command", "&&", "||", "|", ";", ">", ">>", "<", "&>", "&>>", ">&", "<&",
    '"', "[", "]",
})  # fmt: skip
"""Nodes of a line in which nothing has to be worked out. All others are more than that."""
HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\])')


class Reading(NamedTuple):
    """`commands` by their words; `more` are the kinds of nodes that make the line more than plain commands."""

    commands: tuple[tuple[str, ...], ...]
    more: frozenset[str]


@cache
def _parser() -> Parser:
    return Parser(Language(language()))


def reading(line: str) -> Reading:
    root = _parser().parse(line.encode("utf-8", "surrogatepass")).root_node
    more: set[str] = {"ERROR"} if root.has_error else set()
    commands: list[tuple[str, ...]] = []
    _walk(root, commands, more)
    return Reading(tuple(commands), frozenset(more))


def _walk(node: Node, commands: list[tuple[str, ...]], more: set[str]) -> None:
    if node.type not in PLAIN:
        more.add(node.type)
    if node.type == "file_redirect":
        _redirection(node, more)
        return
    if node.type in ("command", "test_command"):
        commands.append(tuple(_text(child) for child in node.children if child.type != "file_redirect"))
    for child in node.children:
        _walk(child, commands, more)


def _redirection(node: Node, more: set[str]) -> None:
    """To a stream or to nowhere is no redirection to a file."""
    target = node.child_by_field_name("destination")
    text = _text(target) if target is not None else ""
    operator = next((child.type for child in node.children if child.type != "file_descriptor"), "")
    copies = operator in (">&", "<&") and (text.isdigit() or text == "-")
    if not copies and text not in HARMLESS:
        more.add(f"redirection {operator}")
    for child in node.children:
        _walk(child, [], more)


def _text(node: Node) -> str:
    """A word as the program gets it."""
    text = (node.text or b"").decode("utf-8", "surrogatepass")
    match node.type:
        case "raw_string":
            return text[1:-1]
        case "string":
            return _IN_QUOTES.sub(r"\1", text[1:-1].replace("\\\n", ""))
        case "concatenation" | "command_name":
            return "".join(map(_text, node.children)) if node.children else _ESCAPED.sub(_kept, text)
        case _:
            return _ESCAPED.sub(_kept, text)


def _kept(found: re.Match[str]) -> str:
    return "" if found.group(1) == "\n" else found.group(1)
