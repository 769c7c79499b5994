"""`--json-schema FILE`: the answer is one JSON value that fits a schema, or the run has failed."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_list, is_object, is_too_deep

MOST_BYTES = 1_000_000
"""Of a schema: it is sent with the prompt."""
DATA = ("const", "enum", "default", "examples")
"""Keywords whose values are no schemas."""
MOST_PROBLEMS = 5
"""Are told to the model."""
FENCED = re.compile(r"^[ \t]*```[A-Za-z]*[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)

ASKED = """\
Your final answer has to be one JSON value that is valid under the JSON Schema below: the bare JSON, with nothing before or \
behind it, and no code fence.

<json-schema>
{schema}
</json-schema>"""
AGAIN = """\
Your answer is not what was asked for:
{problem}
Answer again with the whole JSON value that fits the schema, and nothing else."""


class Misfit(Exception):
    """The answer is no JSON, or does not fit; the message says where."""


class Fitting(NamedTuple):
    """The JSON text as the model wrote it, and its value."""

    text: str
    value: Any


class Shape:
    """What the answer has to be."""

    def __init__(self, schema: Any) -> None:
        """Raises ConfigError naming the place in the schema."""
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, validator_for
        from jsonschema_specifications import REGISTRY

        kind: Any = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema)
        except SchemaError as problem:
            raise ConfigError(f"at {_place(problem.absolute_path)}: {problem.message}") from None
        self._validator = kind(schema, registry=REGISTRY)  # which fetches nothing
        _resolve_all(schema, self._validator._resolver, ())  # noqa: SLF001  its public counterpart was removed
        self.asked = ASKED.format(schema=json.dumps(schema, ensure_ascii=False))

    def fit(self, answer: str) -> Fitting:
        """Raises Misfit."""
        text = _json_of(answer)
        value = _parsed(text)
        try:
            problems = [
                f"at {_place(each.absolute_path)}: {_short(each.message)}"
                for each in sorted(
                    self._validator.iter_errors(value), key=lambda each: list(map(str, each.path))
                )
            ]
        except RecursionError:
            raise Misfit("it, or the schema, is nested too deeply to be checked") from None
        if not problems:
            return Fitting(text, value)
        more = len(problems) - MOST_PROBLEMS
        kept = problems[:MOST_PROBLEMS] + ([f"and {more} more"] if more > 0 else [])
        raise Misfit("; ".join(kept))


def read(path: Path) -> Shape:
    """Raises ConfigError that says where the schema is wrong."""
    try:
        held = path.read_bytes()
    except OSError as problem:
        raise ConfigError(
            f"--json-schema {path}: {problem.strerror}. Name a file with a JSON Schema."
        ) from None
    if len(held) > MOST_BYTES:
        raise ConfigError(
            f"--json-schema {path}: it is larger than {MOST_BYTES:,} bytes, and the model has to read it."
        )
    try:
        schema = json.loads(held.decode("utf-8-sig"), parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise ConfigError(f"--json-schema {path}: it is no JSON: {problem.msg} at {where}.") from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"--json-schema {path}: it is no JSON: {problem}.") from None
    if not isinstance(schema, dict | bool):
        raise ConfigError(
            f'--json-schema {path}: a JSON Schema is an object like {{"type": "object"}}, and this is none.'
        )
    try:
        return Shape(schema)
    except ConfigError as problem:
        raise ConfigError(f"--json-schema {path}: it is no valid JSON Schema {problem}.") from None


def _json_of(answer: str) -> str:
    """The answer, or the one fenced block in it: models like to fence what they were told not to."""
    text = answer.strip()
    fenced = FENCED.findall(text)
    return fenced[0].strip() if len(fenced) == 1 and not _is_json(text) else text


def _is_json(text: str) -> bool:
    try:
        _parsed(text)
    except Misfit:
        return False
    return True


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_float)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise Misfit(f"it is no JSON: {problem.msg} at {where}") from None
    except ValueError as problem:
        raise Misfit(f"it is no JSON: {problem}") from None
    except RecursionError:
        raise Misfit("it is nested too deeply") from None
    if is_too_deep([value]):
        raise Misfit("it is nested too deeply")
    return value


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is too large a number")
    return number


def _resolve_all(schema: Any, resolver: Any, place: tuple[str | int, ...]) -> None:
    """A reference that leads nowhere is a mistake in the schema, not in an answer. Raises ConfigError."""
    from referencing.exceptions import Unresolvable

    inner: dict[Any, Any] = dict(enumerate(schema)) if is_list(schema) else {}
    if is_object(schema):
        inner = schema
        named: Any = inner.get("$id")
        resolver = resolver.lookup(named).resolver if place and isinstance(named, str) else resolver
    for key, held in inner.items():
        if key in DATA:
            continue
        if key != "$ref" or not isinstance(held, str):
            _resolve_all(held, resolver, (*place, key))
            continue
        try:
            resolver.lookup(held)
        except Unresolvable:
            raise ConfigError(
                f"at {_place((*place, key))}: '{held}' leads nowhere; references have to stay in the file"
            ) from None


def _place(path: Any) -> str:
    """A JSON pointer; "the top" where it is empty."""
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in path]
    return "/" + "/".join(steps) if steps else "the top"


def _short(message: str, most: int = 300) -> str:
    return message if len(message) <= most else f"{message[:most]}…"
