"""What a server wants to know of the operator, as questions: one for each field of its form."""

from __future__ import annotations

from typing import Any

from agent_cli.kernel.serving import Ask
from agent_cli.kernel.wire import is_list, is_object

ATTEMPTS = 3
MOST = 20
"""Fields of one form."""
YES = {
    "yes": True,
    "y": True,
    "true": True,
    "on": True,
    "no": False,
    "n": False,
    "false": False,
    "off": False,
}
SKIP = "(leave it out)"
GO, NO = "I have done it", "no"


class Declined(Exception):
    """The operator does not answer."""


async def filled(server: str, message: str, schema: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """The answers by field. Raises Declined."""
    properties: Any = schema.get("properties", {})
    required: Any = schema.get("required", [])
    found: dict[str, Any] = {}
    fields = list(properties.items())[:MOST] if is_object(properties) else []
    if not fields:
        if await ask(f"{server} asks: {message}", ("yes", "no")) in (None, "no"):
            raise Declined
        return found
    for at, (name, field) in enumerate(fields):
        needed = name in required if is_list(required) else False
        said = await _field(
            f"{server} asks: {message}" if at == 0 else f"{server}:", name, field, ask, needed=needed
        )
        if said is not None:
            found[name] = said
    return found


async def visited(server: str, message: str, url: str, ask: Ask) -> bool:
    """Whether the operator went to an address and did there what the server wants."""
    said = await ask(f"{server} asks you to open an address in your browser: {message}\n{url}", (GO, NO))
    return said not in (None, NO)


async def _field(head: str, name: str, field: Any, ask: Ask, *, needed: bool) -> Any:
    field = field if is_object(field) else {}
    options = _options(field)
    said = " — ".join(str(part) for part in (field.get("title") or name, field.get("description")) if part)
    trouble = ""
    for _ in range(ATTEMPTS):
        answer = await ask(
            "\n".join(filter(None, (head, said, trouble))), (*options, *(() if needed else (SKIP,)))
        )
        if answer is None:
            raise Declined
        if not needed and answer.strip() in ("", SKIP):
            return None
        try:
            return _value(answer.strip(), field, options)
        except ValueError as problem:
            trouble = f"({problem})"
    raise Declined


def _options(field: dict[str, Any]) -> tuple[str, ...]:
    if field.get("type") == "boolean":
        return ("yes", "no")
    choices: Any = field.get("enum")
    if choices is None and is_list(field.get("oneOf")):
        choices = [one.get("const") for one in field["oneOf"] if is_object(one)]
    return tuple(str(choice) for choice in choices[:9]) if is_list(choices) else ()


def _value(said: str, field: dict[str, Any], options: tuple[str, ...]) -> Any:
    """Raises ValueError that says what would fit."""
    match field.get("type"):
        case "boolean":
            if said.casefold() not in YES:
                raise ValueError("yes or no")
            return YES[said.casefold()]
        case "integer":
            number = float(said)
            if number != int(number):
                raise ValueError("a whole number")
            return int(number)
        case "number":
            return float(said)
        case "array":
            return [part.strip() for part in said.split(",") if part.strip()]
        case _:
            if options and len(options) < 9 and said not in options:
                raise ValueError(f"one of {', '.join(options)}")
            return said
