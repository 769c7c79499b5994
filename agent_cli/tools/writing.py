"""What writing tools share: the file as it stands, whether the model knows it, and a write that is not cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import FileDiff, Output
from agent_cli.kernel.messages import Text
from agent_cli.tools.diff import file_diff
from agent_cli.tools.disk import content_of, explain, kind_of, replace
from agent_cli.tools.seen import LARGEST_HASHED, digest_of, digest_of_file
from agent_cli.tools.text import Endings, Form, decode, encode, flat, is_old_mac, plain
from agent_cli.tools.workspace import Workspace

INLINE = 1_000_000
"""More bytes are written in a thread."""
LARGEST = 64_000_000
"""Larger files are left alone: before, after and diff are held in memory."""
LARGEST_SHOWN = 12_000
"""Bytes of a diff that the model gets back."""


class Standing(NamedTuple):
    """A file before the change. `raw` is None where there is none, `text` where it is no text."""

    path: str
    shown: str
    raw: bytes | None
    text: str | None
    form: Form


class Change(NamedTuple):
    """What a call would do; `raw` is the new content."""

    standing: Standing
    raw: bytes
    diff: FileDiff
    notes: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return self.raw == self.standing.raw


def standing(workspace: Workspace, path: str) -> Standing:
    """Raises ToolError for what is no file and for what cannot be read."""
    shown = workspace.shown(path)
    try:
        place = Path(path)
        facts = place.stat() if place.exists() else None
        odd = kind_of(facts.st_mode) if facts else None
        if odd is not None:
            raise ToolError(f"{shown} is {odd}, not a file.")
        if facts and facts.st_size > LARGEST:
            raise ToolError(
                f"{shown} holds {facts.st_size:,} bytes. Files above {LARGEST:,} bytes are not changed with this "
                "tool: they are handled whole. Nothing was written; use a program that works on streams."
            )
        raw = content_of(path)
    except OSError as problem:
        raise explain(problem, "read", shown) from None
    decoded = decode(raw) if raw is not None else ("", Form())
    return Standing(path, shown, raw, *(decoded if decoded is not None else (None, Form())))


def check_known(workspace: Workspace, held: Standing, *, must_be_read: bool) -> None:
    """Refuses where the model's knowledge of the file is missing or out of date. Raises ToolError."""
    if not held.raw:
        return
    known = workspace.seen.digest(held.path)
    if known is None:
        if must_be_read:
            raise ToolError(
                f"{held.shown} exists and has not been read in this session. Nothing was written: read it first, "
                "so that nothing in it is lost unseen."
            )
        return
    now = digest_of(held.raw) if len(held.raw) <= LARGEST_HASHED else digest_of_file(held.path)
    if now != known:
        raise ToolError(
            f"{held.shown} has changed on disk since it was read. Nothing was written: read it again."
        )


def changed(held: Standing, text: str, notes: tuple[str, ...] = ()) -> Change:
    """The change to a text in the form in which the file stands."""
    before = flat(held.text or "")
    raw = encode(text, held.form, held.text or "")
    return Change(held, raw, file_diff(held.shown, before, flat(text)), notes)


def with_endings_of(held: Standing, text: str) -> str:
    """The text with the usual line ending of what is there; as it is where nothing is."""
    if not held.text or ("\n" not in held.text and not is_old_mac(held.text)):
        return text
    return plain(text).replace("\n", Endings(held.text).usual)


async def carry_out(workspace: Workspace, path: str, change: Change) -> Output:
    """Writes and reports. Cancelling does not cut a write: it is finished, and the error carries report and result."""
    held = change.standing
    if workspace.target(path) != held.path:
        raise ToolError(f"{held.shown} leads to another file by now. Nothing was written; call again.")
    cut: asyncio.CancelledError | None = None
    linked = other_names(held.path)
    change = change._replace(notes=(*change.notes, linked)) if linked else change
    try:
        if len(change.raw) <= INLINE:
            _put(held, change.raw)
        else:
            cut = await to_its_end(lambda: _put(held, change.raw))
        known = digest_of(change.raw) if len(change.raw) <= LARGEST_HASHED else digest_of_file(held.path)
    except OSError as problem:
        raise explain(problem, "write", held.shown) from None
    workspace.seen.mark(held.path, known)
    report = _report(change)
    output = Output((Text(report),), change.diff, changed=(held.path,))
    if cut is not None:
        cut.args = (report, output)
        raise cut
    return output


def _put(held: Standing, raw: bytes) -> None:
    replace(held.path, raw)
    check_written(held.path, raw, held.shown)


def check_written(path: str, raw: bytes, shown: str) -> None:
    """Reads the file again: what is told is what stands there. Raises ToolError and OSError."""
    if content_of(path) != raw:
        raise ToolError(
            f"{shown} was written, but does not hold what was written: another program changed it at once, or the disk "
            "does not keep what it takes. Read it again before you go on."
        )


def other_names(path: str) -> str:
    """What to say of a file that has several names: the new content stands under this one alone."""
    try:
        links = Path(path).stat().st_nlink
    except OSError:
        return ""
    return f"It had {links} names (hard links); the others keep the old content." if links > 1 else ""


def _report(change: Change) -> str:
    held, diff = change.standing, change.diff
    if held.raw is None:
        head = f"Created {held.shown} ({diff.added} lines)."
        return " ".join((head, *change.notes))
    head = " ".join((f"Changed {held.shown} (+{diff.added} -{diff.removed}).", *change.notes))
    return f"{head}\n{bounded(diff.diff)}"


def bounded(diff: str) -> str:
    """As much of a diff as the model gets back."""
    raw = diff.encode(errors="replace")
    if len(raw) <= LARGEST_SHOWN:
        return diff
    head = raw[:LARGEST_SHOWN].decode(errors="ignore").rpartition("\n")[0]
    left = diff.count("\n") - head.count("\n")
    return f"{head}\n[{left:,} more lines of the diff are not shown]"


async def to_its_end(work: Callable[[], None]) -> asyncio.CancelledError | None:
    """Does the work in a thread; returns the cancellation that came meanwhile, also where it came twice."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    cut: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as problem:
            cut = problem
    task.result()
    return cut
