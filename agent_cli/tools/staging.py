"""Several changes of files in one step: all of them or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agent_cli.tools.disk import staged


class Put(NamedTuple):
    """`raw` is the new content, None deletes. `like` names the file whose mode and owner a new file takes."""

    path: str
    raw: bytes | None
    like: str = ""


class _Step(NamedTuple):
    path: Path
    new: Path | None
    old: Path | None
    """What was there, under another name in the same directory; None where nothing was."""


def put_all(puts: Sequence[Put]) -> None:
    """Everything is written beside its place first. Whatever fails, all is as it was before. Raises OSError."""
    made: list[Path] = []
    steps: list[_Step] = []
    done: list[_Step] = []
    try:
        steps.extend(_prepared(put, made) for put in puts)
        for step in steps:
            done.append(step)
            _carry_out(step)
    except BaseException:
        for step in reversed(done):
            _take_back(step)
        for step in steps:
            _tidy(step)
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                directory.rmdir()
        raise
    for step in steps:
        _tidy(step)


def _carry_out(step: _Step) -> None:
    if step.new is not None:
        step.new.replace(step.path)
    else:
        step.path.unlink()


def _tidy(step: _Step) -> None:
    for beside in (step.new, step.old):
        if beside is not None:
            with contextlib.suppress(OSError):
                beside.unlink()


def _prepared(put: Put, made: list[Path]) -> _Step:
    place = Path(put.path)
    missing = [parent for parent in place.parents if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(exist_ok=True)
        made.append(parent)
    new = staged(put.path, put.raw, like=put.like or put.path) if put.raw is not None else None
    try:
        return _Step(place, new, _kept(place))
    except BaseException:
        if new is not None:
            new.unlink(missing_ok=True)
        raise


def _kept(place: Path) -> Path | None:
    """The same file under a second name; a copy where the disk knows no hard links."""
    beside = place.parent / f".agent-{os.urandom(6).hex()}.old"
    try:
        os.link(place, beside, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        import shutil

        shutil.copy2(place, beside, follow_symlinks=False)
    return beside


def _take_back(step: _Step) -> None:
    with contextlib.suppress(OSError):
        if step.old is not None:
            if not step.path.exists() or not step.path.samefile(step.old):
                step.old.replace(step.path)
        elif step.new is not None and not step.new.exists():
            step.path.unlink(missing_ok=True)
