"""Writes a rule into the project's config and leaves everything else in the file as it is.

The text is changed in one place, never printed anew. What came out is read back: only a text that means
exactly the old settings and the new rule is written.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agent_cli.config import files
from agent_cli.kernel.commands import Verdict
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.locking import wait_for_lock

BLANK = re.compile(r"\s*")
DECODER = json.JSONDecoder()


def add_rule(project: Path, rule: str, verdict: Verdict = "allow") -> Path:
    """Appends a rule to the config of that `.agents/` directory, which is created where it is missing.

    Returns the file. A rule that stands there already is not written again. Raises ConfigError.
    """
    try:
        project.mkdir(parents=True, exist_ok=True)
        with alone(project):
            file = files.in_directory(project) or project / files.NAMES[0]
            text = files.text_of(file, exact=True) if file.exists() else "{}\n"
            changed = _with_rule(file, text, rule, verdict)
            if changed != text:
                replace(file, changed)
    except (OSError, UnicodeEncodeError) as problem:
        raise ConfigError(
            f"The rule {rule!r} could not be written to {project}: {problem}. It holds for this session only."
        ) from problem
    return file


def _with_rule(file: Path, text: str, rule: str, verdict: Verdict) -> str:
    """The text with its byte order mark and its line ends as they were."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    windows = 0 < body.count("\n") == body.count("\r\n")
    changed = _changed(file, body.replace("\r\n", "\n") if windows else body, rule, verdict)
    return mark + (changed.replace("\n", "\r\n") if windows else changed)


def _changed(file: Path, text: str, rule: str, verdict: Verdict) -> str:
    wanted = copy.deepcopy(files.parse(file, text))
    permissions = wanted.setdefault("permissions", {})
    rules = permissions.setdefault(verdict, []) if is_object(permissions) else None
    if not is_list(rules):
        raise ConfigError(
            f"The rule '{rule}' cannot be added to {file}: permissions.{verdict} is not a list. Mend the file first."
        )
    if rule in rules:
        return text
    rules.append(rule)
    attempts = (
        _toml_attempts(text, rule, verdict) if file.suffix == ".toml" else _json_attempts(text, rule, verdict)
    )
    for attempt in attempts:
        if _means(file, attempt, wanted):
            return attempt
    raise ConfigError(
        f"The rule '{rule}' cannot be added to {file} without disturbing it. "
        f"Add {json.dumps(rule)} to permissions.{verdict} by hand."
    )


def _means(file: Path, text: str, wanted: dict[str, Any]) -> bool:
    try:
        return files.parse(file, text) == wanted
    except ConfigError:
        return False


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────


class Member(NamedTuple):
    """Where a member of an object stands: its key begins at `key`, its value is text[start:end]."""

    key: int
    start: int
    end: int


def _json_attempts(text: str, rule: str, verdict: Verdict) -> Iterator[str]:
    new = json.dumps(rule, ensure_ascii=False)
    top = blank(text, 0)
    members = members_of(text, top)
    permissions = members.get("permissions")
    if permissions is None:
        yield into_object(text, top, members, f'"permissions": {{"{verdict}": [{new}]}}')
        return
    inner = members_of(text, permissions.start)
    rules = inner.get(verdict)
    if rules is None:
        yield into_object(text, permissions.start, inner, f'"{verdict}": [{new}]')
    else:
        yield _into_array(text, rules, new)


def members_of(text: str, place: int) -> dict[str, Member]:
    """The members of the object that begins at `place`, in their order."""
    members: dict[str, Member] = {}
    place = blank(text, place + 1)
    while text[place] != "}":
        name, after = DECODER.raw_decode(text, place)
        start = blank(text, blank(text, after) + 1)
        _, end = DECODER.raw_decode(text, start)
        members[name] = Member(place, start, end)
        place = _behind_comma(text, end)
    return members


def into_object(text: str, place: int, members: dict[str, Member], new: str) -> str:
    """Behind the last member, spaced like that one; into an empty object on a line of its own."""
    if members:
        last = list(members.values())[-1]
        return f"{text[: last.end]},{_before(text, last.key) or ' '}{new}{text[last.end :]}"
    indent = _indent(text, place)
    closing = blank(text, place + 1)
    return f"{text[: place + 1]}\n{indent}  {new}\n{indent}{text[closing:]}"


def _into_array(text: str, array: Member, new: str) -> str:
    """Behind the last element, spaced like that one."""
    place = blank(text, array.start + 1)
    start = end = 0
    while text[place] != "]":
        start = place
        _, end = DECODER.raw_decode(text, place)
        place = _behind_comma(text, end)
    if not end:
        return f"{text[: array.start + 1]}{new}{text[place:]}"
    return f"{text[:end]},{_before(text, start) or ' '}{new}{text[end:]}"


def _behind_comma(text: str, place: int) -> int:
    """The next member or element, or the closing bracket."""
    place = blank(text, place)
    return blank(text, place + 1) if text[place] == "," else place


def _before(text: str, place: int) -> str:
    """The white space before that place."""
    return text[len(text[:place].rstrip()) : place]


def _indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def blank(text: str, place: int) -> int:
    """The first place from there on that is not white space."""
    found = BLANK.match(text, place)
    return found.end() if found else place


# ── TOML ─────────────────────────────────────────────────────────────────────────────────────────────────

ARRAYS = {
    verdict: re.compile(rf"^[ \t]*(?:permissions[ \t]*\.[ \t]*)?{verdict}[ \t]*=[ \t]*\[", re.MULTILINE)
    for verdict in ("allow", "deny")
}
TABLE = re.compile(r"^[ \t]*\[[ \t]*permissions[ \t]*\][^\n]*\n?", re.MULTILINE)
DOTTED = re.compile(r"^[ \t]*permissions[ \t]*\.[^\n]*\n?", re.MULTILINE)
INLINE = re.compile(r"^[ \t]*permissions[ \t]*=[ \t]*\{[ \t]*", re.MULTILINE)
COMMENT = re.compile(r"[ \t]*#[^\n]*")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\s+|,|\]|[^\s"\'#,\]]+')


def _toml_attempts(text: str, rule: str, verdict: Verdict) -> Iterator[str]:
    """Every way that could be right. Which one is, reading it back tells."""
    new = json.dumps(rule, ensure_ascii=False).replace("\x7f", "\\u007f")
    for found in ARRAYS[verdict].finditer(text):
        yield _into_toml_array(text, found.end(), new)
    for found in TABLE.finditer(text):
        line = found[0] if found[0].endswith("\n") else found[0] + "\n"
        yield f"{text[: found.start()]}{line}{verdict} = [{new}]\n{text[found.end() :]}"
    for found in INLINE.finditer(text):
        rest = text[found.end() :]
        comma = "" if rest.startswith("}") else ", "
        yield f"{text[: found.end()]}{verdict} = [{new}]{comma}{rest}"
    for found in DOTTED.finditer(text):
        yield f"{text[: found.start()]}permissions.{verdict} = [{new}]\n{text[found.start() :]}"
    body = text if not text or text.endswith("\n") else text + "\n"
    yield f"{body}{chr(10) if body else ''}[permissions]\n{verdict} = [{new}]\n"


def _into_toml_array(text: str, place: int, new: str) -> str:
    """Behind the last element of the array whose content begins at `place`, and behind the comment beside it."""
    start = end = place
    comma = ","
    for token in TOKEN.finditer(text, place):
        if token[0] == "]":
            break
        if token[0] == ",":
            end, comma = token.end(), ""
        elif not token[0].isspace() and not token[0].startswith("#"):
            start, end, comma = token.start(), token.end(), ","
    if end == place:
        return f"{text[:place]}{new}{text[place:]}"
    spacing = _before(text, start)
    beside = COMMENT.match(text, end)
    after = beside.end() if beside else end
    if beside and "\n" not in spacing:
        spacing = "\n  "
    return f"{text[:end]}{comma}{text[end:after]}{spacing or ' '}{new}{text[after:]}"


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def alone(directory: Path) -> Generator[None]:
    """One process at a time: two answers of "always" must both remain."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def replace(file: Path, text: str) -> None:
    """At once or not at all. A new file is 0600, an old one keeps its mode and stays behind its symlink."""
    import tempfile

    target = Path(os.path.realpath(file))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as written:
            written.write(text)
            written.flush()
            os.fsync(descriptor)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
