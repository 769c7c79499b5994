"""Asks JSON with JMESPath."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Annotated, Any

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, describe, for_people, is_list, is_object
from agent_cli.ports import Say, Touches
from agent_cli.tools.disk import explain, open_file
from agent_cli.tools.prose import spec_of
from agent_cli.tools.text import decode, readable
from agent_cli.tools.workspace import Workspace

LARGEST = 50_000_000
INLINE = 200_000
"""More bytes are read in a thread."""
_NAMED = 20


class QueryArguments(Arguments, frozen=True):
    query: Annotated[str, for_people("a JMESPath expression; @ is everything")]
    path: Annotated[str, for_people("the JSON file")] = ""
    text: Annotated[str, describe("JSON, instead of a file")] = ""


class JsonQuery:
    arguments = QueryArguments
    read_only = True
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("json_query", QueryArguments, registered)
        self._workspace = workspace

    def touches(self, args: QueryArguments, /) -> Touches:
        if bool(args.path) == bool(args.text):
            raise ToolError("Give either `path` or `text`.")
        return self._workspace.touches("read", args.path) if args.path else Touches("none", args.query)

    def preview(self, args: QueryArguments, /) -> None:
        """Nothing to see: the question names the path."""

    async def run(self, args: QueryArguments, say: Say, /) -> Output:
        if not args.path:
            return _answer(args.text, args.query, "the text")
        path = self._workspace.target(args.path)
        shown = self._workspace.shown(path)
        try:
            if os.stat(path).st_size <= INLINE:  # noqa: PTH116  a look at one entry does not wait
                return _answer(_text(path, shown), args.query, shown)
            return await asyncio.to_thread(lambda: _answer(_text(path, shown), args.query, shown))
        except (FileNotFoundError, NotADirectoryError):
            raise self._workspace.missing(path) from None
        except OSError as problem:
            raise explain(problem, "read", shown) from None


def _text(path: str, shown: str) -> str:
    with open_file(path, shown) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ToolError(f"{shown} holds more than {LARGEST:,} bytes: query it with a program that streams.")
    decoded = decode(raw)
    if decoded is None:
        raise ToolError(f"{shown} is no text file.")
    return readable(decoded[0])


def _answer(text: str, query: str, shown: str) -> Output:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        data = _parsed(text, shown)
        found: Any = jmespath.search(query, data)
        told = json.dumps(found, indent=2, ensure_ascii=False)
    except JMESPathError as problem:
        raise ToolError(f"The query does not work: {problem}") from None
    except RecursionError:
        raise ToolError("The JSON or the query is nested too deeply.") from None
    if found is None:
        told = f"null\n[nothing is there; {_outline(data)}]"
    return Output((Text(told),), Shown(_outline(found)), empty=found in (None, [], {}))


def _parsed(text: str, shown: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines] if len(lines) > 1 else _fail(problem, shown)
        except json.JSONDecodeError:
            return _fail(problem, shown)


def _fail(problem: json.JSONDecodeError, shown: str) -> Any:
    where = f"line {problem.lineno}, column {problem.colno}"
    raise ToolError(f"{shown} is no JSON: {problem.msg} at {where}.") from None


def _outline(data: Any) -> str:
    """What a value is, in a few words."""
    if is_object(data):
        more = f" and {len(data) - _NAMED} more" if len(data) > _NAMED else ""
        return f"an object with {', '.join(list(data)[:_NAMED]) or 'no keys'}{more}"
    if is_list(data):
        return f"a list of {len(data):,}"
    return "null" if data is None else type(data).__name__
