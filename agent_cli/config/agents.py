"""Agents that the operator or the project defines: `agents/NAME.md`, facts at the top and instructions below."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from agent_cli.config import durations
from agent_cli.config.front_matter import Front, NoFront, read
from agent_cli.kernel.agents import SMALL, AgentDefinition, Isolation
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.wire import is_list

DIRECTORY = "agents"
"""Beside the config. What a project brings counts only where it is trusted."""
LIMIT = 64 * 1024
"""Bytes of one file."""
LONGEST = 600
"""Characters of a description: it stands in every prompt."""
_BUDGET = re.compile(r"([A-Za-z][\w-]*):[ \t]+(\S+)")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Found(NamedTuple):
    """`problems` are sentences about files that cannot be used, and about what in others cannot."""

    agents: dict[str, AgentDefinition]
    problems: tuple[str, ...]


class _Wrong(ValueError):
    """`line` is 0 where no line has it."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def read_agents(
    directories: Iterable[tuple[Path, bool]], known: Iterable[str], tool_of: Callable[[str], str]
) -> Found:
    """By name; what a later directory has wins. `known` are the names of tools that there can be.

    With each directory stands whether its files are another agent's: `tool_of` gives our name for one of its tools.
    """
    found: dict[str, AgentDefinition] = {}
    problems: list[str] = []
    names = tuple(known)
    for directory, theirs in directories:
        found |= _in(directory, names, problems, tool_of if theirs else None)
    return Found(found, tuple(problems))


def _in(
    directory: Path, known: tuple[str, ...], problems: list[str], tool_of: Callable[[str], str] | None
) -> dict[str, AgentDefinition]:
    here: dict[str, AgentDefinition] = {}
    for file in _files(directory, problems):
        try:
            text = _text(file)
            made = foreign(text, str(file), known, tool_of) if tool_of else definition(text, str(file), known)
        except _Wrong as wrong:
            place = f"{file}:{wrong.line}" if wrong.line else str(file)
            problem = str(wrong)
            problems.append(
                f"{place}: {problem}{'' if problem.endswith('?') else '.'} The agent is left out."
            )
            continue
        if made.name in here:
            other = Path(here[made.name].source).name
            problems.append(f"{file}: {other} defines an agent '{made.name}', too. This one is left out.")
            continue
        here[made.name] = made
    return here


def _files(directory: Path, problems: list[str]) -> list[Path]:
    try:
        return sorted(path for path in directory.glob("*.md") if path.name.casefold() != "readme.md")
    except OSError as problem:
        problems.append(f"{directory} cannot be read: {problem.strerror}. Its agents are left out.")
        return []


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            raise _Wrong(0, "it is no file")
        with file.open("rb") as opened:
            data = opened.read(LIMIT + 1)
    except OSError as problem:
        raise _Wrong(0, f"it cannot be read ({problem.strerror})") from None
    if len(data) > LIMIT:
        raise _Wrong(0, f"it holds more than {LIMIT:,} bytes; keep the instructions of an agent short")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _Wrong(0, "it is no UTF-8 text") from None


def definition(text: str, source: str, known: tuple[str, ...]) -> AgentDefinition:
    """What a file says. Raises ValueError with the line."""
    try:
        front = read(text.removeprefix("\ufeff"))
    except NoFront as problem:
        raise _Wrong(problem.line, str(problem)) from None
    if front is None:
        raise _Wrong(1, "it does not begin with facts between two lines of ---, such as `description: …`")
    facts = _facts(front, text)
    facts.setdefault("name", Path(source).stem.casefold())
    if not _NAME.fullmatch(facts["name"]):
        line = front.lines.get("name", 0)
        raise _Wrong(line, f"'{facts['name']}' is no name: small letters, digits, - and _, at most 32")
    if not facts.get("description"):
        raise _Wrong(1, "there is no description, by which the model chooses it: add `description: …`")
    if not front.body:
        raise _Wrong(
            0, "there are no instructions below the facts: say there what the agent is to do, and how"
        )
    for tool in facts.get("tools") or ():
        if tool not in known and not tool.startswith("mcp__"):
            raise _Wrong(front.lines["tools"], f"there is no tool '{tool}'{_near(tool, known)}")
    return AgentDefinition(instructions=front.body, source=source, **facts)


def foreign(text: str, source: str, known: tuple[str, ...], tool_of: Callable[[str], str]) -> AgentDefinition:
    """Of a file in the form of another agent: name, description and tools hold, as far as they mean something here.

    Raises ValueError with the line.
    """
    try:
        front = read(text.removeprefix("\ufeff"))
    except NoFront as problem:
        raise _Wrong(problem.line, str(problem)) from None
    said = front.facts if front else {}
    name = said.get("name", Path(source).stem).casefold()
    if front is None or not front.body or not said.get("description") or not _NAME.fullmatch(name):
        raise _Wrong(1, "an agent needs a name in small letters, a description, and instructions below them")
    tools = None
    if "tools" in front.lines:
        wanted = (tool_of(tool.partition("(")[0]) for tool in front.words("tools"))
        tools = tuple(dict.fromkeys(tool for tool in wanted if tool in known or tool.startswith("mcp__")))
        if not tools:
            raise _Wrong(front.lines["tools"], "none of its tools is there in this program")
    return AgentDefinition(
        name=name,
        description=" ".join(said["description"].replace("\\n", " ").split())[:LONGEST],
        instructions=front.body,
        model=SMALL if said.get("model") == "haiku" else "",
        tools=tools,
        mode="plan" if said.get("permissionMode") == "plan" else "yolo",
        source=source,
    )


def _facts(front: Front, text: str) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for key, line in front.lines.items():
        name = key.replace("-", "_")
        if name == "budgets":
            facts |= _budgets(front.facts.get(key, ""), line, text)
        elif name in READERS:
            take = READERS[name]
            said = list(front.lists[key]) if key in front.lists else front.facts.get(key, "")
            facts[take.name or name] = _taken(take, key, said, line)
        else:
            raise _Wrong(line, f"there is no fact '{key}'{_near(name, (*READERS, 'budgets'))}")
    return facts


def _budgets(said: str, line: int, text: str) -> dict[str, Any]:
    """They stand below the key, one a line; the reader has joined them."""
    facts: dict[str, Any] = {}
    found = _BUDGET.findall(said)
    if not found or _BUDGET.sub("", said).strip():
        raise _Wrong(line, f"budgets are lines of `key: value` below it: {', '.join(BUDGETS)}")
    for key, value in found:
        name, at = key.replace("-", "_"), _line_of(key, line, text)
        if name not in BUDGETS:
            raise _Wrong(at, f"there is no budget '{key}'{_near(name, BUDGETS)}")
        facts[name] = _taken(BUDGETS[name], key, value, at)
    return facts


def _line_of(key: str, above: int, text: str) -> int:
    rows = enumerate(text.split("\n"), 1)
    return next((at for at, row in rows if at > above and row.strip().startswith(f"{key}:")), above)


def _taken(take: _Taker, key: str, said: Any, line: int) -> Any:
    try:
        return take.read(said)
    except ValueError as problem:
        raise _Wrong(line, f"{key} {problem}") from None


def _near(name: str, known: Iterable[str]) -> str:
    names = tuple(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(names)}"


# ── what is read of each value ──


class _Taker(NamedTuple):
    """`name` is the field, where it is not the key."""

    read: Callable[[Any], Any]
    name: str = ""


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text")
    return " ".join(value.split())


def _described(value: Any) -> str:
    text = _word(value)
    if len(text) > LONGEST:
        raise ValueError(
            f"has {len(text)} characters; it stands in every prompt, so at most {LONGEST} are taken"
        )
    return text


def _words(value: Any) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    if is_list(items):
        return tuple(dict.fromkeys(str(item).strip() for item in items if str(item).strip()))
    raise ValueError("must be a list: [a, b]")


def _model(value: Any) -> str:
    name = _word(value)
    return "" if name == "inherit" else name


def _whole(value: Any) -> int:
    if not isinstance(value, str) or not value.replace("_", "").isdecimal() or int(value) < 1:
        raise ValueError("must be a whole number from 1")
    return int(value)


def _money(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise ValueError("must be an amount of dollars over 0")
    return found


def _time(value: Any) -> float:
    found = durations.seconds(value)
    if not found:
        raise ValueError("must be more than 0")
    return found


def _switch(value: Any) -> bool:
    known = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    if str(value).lower() not in known:
        raise ValueError("must be true or false")
    return known[str(value).lower()]


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def take(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"= {value!r} is not possible{_near(str(value), choices)}")
        return str(value)

    return take


READERS: dict[str, _Taker] = {
    "name": _Taker(_word),
    "description": _Taker(_described),
    "model": _Taker(_model),
    "tools": _Taker(_words),
    "permission_mode": _Taker(_one_of(get_args(Mode)), "mode"),
    "deny": _Taker(_words),
    "isolation": _Taker(_one_of(get_args(Isolation))),
    "project_instructions": _Taker(_switch, "project"),
}
BUDGETS: dict[str, _Taker] = {
    "max_steps": _Taker(_whole),
    "max_tool_calls": _Taker(_whole),
    "max_tokens": _Taker(_whole),
    "max_cost_usd": _Taker(_money),
    "max_duration": _Taker(_time),
}
