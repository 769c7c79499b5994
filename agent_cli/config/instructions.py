"""The operator's instructions: AGENTS.md of the user and of the project, and AGENTS.d beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""The first that is there counts; the others are for other programs."""

LIMIT = 32 * 1024
"""Bytes of one file."""

DEPTH = 8
"""Files that include one another, below the first."""

OTHERS = {".git", ".agents", "node_modules"}
"""Directories whose instructions are not for this project."""

INCLUDE = re.compile(r" {0,3}@include[ \t]+(\S.*?)[ \t]*")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Instruction(Plain, frozen=True):
    """`source` is the path of the file. `bytes` is its size on disk with all that it includes; `cut` says that
    not everything of it stands in `text`.
    """

    source: str
    text: str
    bytes: int
    cut: bool = False


def read_instructions(
    user: Path, project: Path | None, root: Path, recipe: Path | None = None
) -> tuple[Instruction, ...]:
    """Those of the user scope, of the project (`.agents/`, then its top directory), then of the recipe's `.agents/`.

    Each file once, also where names are links to one file; empty ones are left out. Raises ConfigError for
    what is included and cannot be read.
    """
    seen: set[str] = set()
    found: list[Instruction] = []
    scopes = [((user,), user), ((project, root) if project else (root,), project)]
    for directories, ordered in [*scopes, *([((recipe,), recipe)] if recipe else [])]:
        scope = tuple(Path(os.path.realpath(directory)) for directory in directories)
        for file in [*_named(directories), *(_ordered(ordered / "AGENTS.d") if ordered else [])]:
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                found.append(_Reading(scope).instruction(file))
    return tuple(each for each in found if each.text.strip())


def nested_instructions(path: Path, root: Path, user: Path) -> tuple[Instruction, ...]:
    """Those of the directories below `root` down to the path, the outermost first. Raises ConfigError.

    None for a path elsewhere, or in a directory of the operator's own (`user`), of git or of an agent.
    """
    try:
        top, real = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    except OSError:  # a link that became something else while it was followed
        return ()
    if not real.is_relative_to(top) or real.is_relative_to(os.path.realpath(user)):
        return ()
    below = real.relative_to(top).parts
    if OTHERS & set(below):
        return ()
    directories = [top.joinpath(*below[:end]) for end in range(1, len(below) + 1)]
    found = [file for directory in directories for file in _named((directory,))]
    read = [_Reading((top,)).instruction(file) for file in found]
    return tuple(each for each in read if each.text.strip())


def _named(directories: tuple[Path, ...]) -> list[Path]:
    for name in NAMES:
        there = [directory / name for directory in directories if (directory / name).is_file()]
        if there:
            return there
    return []


def _ordered(directory: Path) -> list[Path]:
    """The Markdown files right inside, by name, without hidden ones."""
    try:
        there = sorted(directory.iterdir())
    except OSError:
        return []
    return [file for file in there if file.suffix == ".md" and file.name[0] != "." and file.is_file()]


class _Reading(msgspec.Struct):
    """One file of instructions being read, with what it includes from inside of these directories."""

    scope: tuple[Path, ...]
    included: set[str] = msgspec.field(default_factory=set)
    size: int = 0
    cut: bool = False

    def instruction(self, file: Path) -> Instruction:
        text = self.text(file, 0)
        return Instruction(str(file), text, self.size, self.cut)

    def text(self, file: Path, depth: int) -> str:
        self.included.add(os.path.realpath(file))
        lines: list[str] = []
        fence = ""
        for line in self.content(file).split("\n"):
            fence = _fence(fence, line)
            wanted = None if fence else INCLUDE.fullmatch(line)
            if wanted is None:
                lines.append(line)
                continue
            where = f"{file}: '{line.strip()}'"
            target = self.target(file, wanted[1], where)
            if os.path.realpath(target) in self.included:
                continue
            if depth == DEPTH:
                raise ConfigError(f"{where}: files include one another more than {DEPTH} deep. Flatten them.")
            lines.append(self.text(target, depth + 1))
        return "\n".join(lines)

    def target(self, file: Path, wanted: str, where: str) -> Path:
        """Relative to the including file, and inside of the scope with every symlink followed."""
        if wanted.startswith(("/", "~")) or "://" in wanted:
            raise ConfigError(f"{where}: only paths relative to the file itself can be included.")
        target = Path(os.path.normpath(file.parent / wanted))
        real = Path(os.path.realpath(target))
        if not any(real.is_relative_to(directory) for directory in self.scope):
            raise ConfigError(f"{where}: only files inside of {self.scope[-1]} can be included.")
        if not target.is_file():
            raise ConfigError(f"{where}: there is no such file. Correct the path or remove the line.")
        return target

    def content(self, file: Path) -> str:
        """The text without front matter, at most LIMIT bytes of it; where it was cut, it says so."""
        try:
            with file.open("rb") as opened:
                size = os.fstat(opened.fileno()).st_size
                data = opened.read(LIMIT + 1)
        except OSError as problem:
            raise ConfigError(f"{file} cannot be read: {problem.strerror}. Mend or remove it.") from problem
        self.size += max(size, len(data))
        if len(data) <= LIMIT:
            return _body(data.decode("utf-8-sig", "replace"))
        self.cut = True
        # The last line may be half an @include, the last character half a character.
        whole = data[:LIMIT].rpartition(b"\n")[0] or data[:LIMIT]
        kept = _body(whole.decode("utf-8-sig", "replace").rstrip("\ufffd"))
        return (
            f"{kept}\n[… cut here: {file.name} holds {size:,} bytes, of which the first {LIMIT:,} are read …]"
        )


def _body(text: str) -> str:
    """Without the front matter, if it has a beginning and an end."""
    return FRONT_MATTER.sub("", text.replace("\r\n", "\n"), count=1)


def _fence(open_fence: str, line: str) -> str:
    """The code fence that is open behind this line, "" for none; the fence's own lines count as inside."""
    found = FENCE.fullmatch(line)
    if found is None:
        return open_fence
    if not open_fence:
        return found[1] if "`" not in found[2] or found[1][0] == "~" else ""
    closes = found[1][0] == open_fence[0] and len(found[1]) >= len(open_fence) and not found[2].strip()
    return "" if closes else open_fence
