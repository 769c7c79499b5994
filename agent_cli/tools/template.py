"""Command templates: `{name}` stands for an argument, which is put in as one quoted word and as nothing else."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

_PLACE = re.compile(r"(?<![$\\{])\{([a-z_][a-z0-9_]*)\}")
_CLOSED = {
    "`": "backquotes: write $(…)",
    "$'": "$'…'",
    "<<": "a here-document: write it into a script",
    "((": "arithmetic, which runs what stands in it: write it into a script",
    "[[": "[[ … ]], which may run what stands in it: write [ … ]",
    "eval ": "eval, which reads its words a second time",
}
"""What no argument is safe beside, whatever its quotes."""


class TemplateError(Exception):
    """What is wrong with a template, and how to write it."""


def check(template: str, names: Collection[str]) -> None:
    """Raises TemplateError where an argument would not stand as a word of its own or in one."""
    used = [found for found in _PLACE.finditer(template) if found.group(1) in names]
    open_at = _quoted(template)
    for found in _PLACE.finditer(template):
        if found.group(1) not in names and found.start() not in open_at:
            raise TemplateError(
                f"{{{found.group(1)}}} is no argument of this tool; they are {_listed(names)}"
            )
    for found in used:
        if found.start() in open_at:
            raise TemplateError(
                f"{{{found.group(1)}}} stands in quotes or in a comment: leave the quotes out, each argument gets its own"
            )
    odd = next((why for sign, why in _CLOSED.items() if used and sign in template.replace("<<<", "")), None)
    if odd is not None:
        raise TemplateError(f"no argument can be put in safely beside {odd}")
    missing = [name for name in names if name not in {found.group(1) for found in used}]
    if missing:
        raise TemplateError(f"the argument '{missing[0]}' does not stand in the command as {{{missing[0]}}}")


def filled(template: str, given: Mapping[str, str]) -> str:
    """The line to run, of a template that was checked. A value is one word, also where it is empty."""
    return _PLACE.sub(
        lambda found: shlex.quote(given[found.group(1)]) if found.group(1) in given else found.group(0),
        template,
    )


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or "none"


def _quoted(text: str) -> set[int]:
    """The places of characters that stand in quotes or comments."""
    inside: set[int] = set()
    quote, at = "", 0
    while at < len(text):
        char = text[at]
        if quote:
            inside.add(at)
        if char == "\\" and quote not in {"'", "#"}:
            at += 1
        elif quote == "#":
            quote = "" if char == "\n" else "#"
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"" or (char == "#" and (at == 0 or text[at - 1] in " \t\n;|&(")):
            quote = char
        at += 1
    return inside
