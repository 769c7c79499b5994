"""What a git work tree holds, written as a tree into objects of our own. The repository is not touched."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

SECONDS = 10.0
EXECUTABLE = 0o755
PLAIN = 0o644


class Tree(NamedTuple):
    """`top` is the directory of the work tree, absolute and resolved."""

    id: str
    top: str

    def holds(self, path: str) -> bool:
        """Whether the path lies in the work tree, outside of the repository itself."""
        return Path(os.path.relpath(path, self.top)).parts[:1] not in (("..",), (".git",))


class Content(NamedTuple):
    data: bytes
    mode: int


class WorkTree:
    """The one that `root` lies in. Without git, outside of a work tree, or in one too large, there are no trees."""

    def __init__(self, root: str, directory: Path) -> None:
        self._root = root
        self._directory = directory
        self._places: tuple[str, str] | None = None
        self._given_up = False

    def write(self) -> Tree | None:
        """The tree of now, files that git ignores left out. None where that cannot be."""
        if self._given_up:
            return None
        try:
            top, repository = self._found()
            self._prepare(Path(repository))
            self._git(top, "add", "--all", "--ignore-errors", ".", check=False)
            tree = self._git(top, "write-tree").decode().strip()
        except (OSError, subprocess.SubprocessError):
            self._given_up = True  # it would only cost the same time again
            return None
        return Tree(tree, top)

    def read(self, tree: str, path: str) -> Content | None:
        """What the path held in that tree, None where it was not there. Raises LookupError."""
        try:
            top, _ = self._found()
            inside = os.path.relpath(path, top)
            line = self._git(top, "ls-tree", "-z", tree, "--", inside)
            if not line:
                return None
            mode, _, name = line.split(b"\t")[0].split()
            data = self._git(top, "cat-file", "blob", name.decode())
        except (OSError, ValueError, subprocess.SubprocessError):
            raise LookupError("what it held is not in the trees that were kept") from None
        return Content(data, EXECUTABLE if mode == b"100755" else PLAIN)

    def _found(self) -> tuple[str, str]:
        """The top of the work tree, and the repository. Raises OSError, SubprocessError."""
        if self._places is None:
            words = ["git", "-C", self._root, "rev-parse", "--show-toplevel", "--absolute-git-dir"]
            told = subprocess.run(words, capture_output=True, check=True, timeout=SECONDS, env=_environment())
            top, repository = os.fsdecode(told.stdout).splitlines()[:2]
            self._places = os.path.realpath(top), repository
        return self._places

    def _prepare(self, repository: Path) -> None:
        """Begins with the repository's own index, so that only what differs from it has to be read."""
        (self._directory / "objects").mkdir(parents=True, exist_ok=True, mode=0o700)
        index = self._directory / "index"
        if not index.exists() and (repository / "index").exists():
            import shutil

            shutil.copyfile(repository / "index", index)

    def _git(self, top: str, *words: str, check: bool = True) -> bytes:
        _, repository = self._found()
        own = {
            "GIT_DIR": repository,
            "GIT_WORK_TREE": top,
            "GIT_INDEX_FILE": str(self._directory / "index"),
            "GIT_OBJECT_DIRECTORY": str(self._directory / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(Path(repository) / "objects"),
        }
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *words]
        done = subprocess.run(
            command, cwd=top, env=_environment() | own, capture_output=True, check=check, timeout=SECONDS
        )
        return done.stdout


def _environment() -> dict[str, str]:
    """Without what the caller may have told git about another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
