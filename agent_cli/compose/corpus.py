"""Reads what signals are measured over: cases in the neutral form, or the sessions of a database."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.config.sources import Loaded
from agent_cli.guardrails.cases import Case, decode, replay
from agent_cli.guardrails.measure import Label, Replay, Report, measure, replay_log
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.watching import Profile

LABELS = "labels.json"
CASES = (".jsonl", ".jsonl.gz")
SQLITE = b"SQLite format 3\0"


class _Labelled(msgspec.Struct, frozen=True):
    label: Label


def evaluate(
    options: RunOptions,
    loaded: Loaded,
    corpus: Path | None,
    profiles: tuple[Profile, ...],
    *,
    polls: bool = False,
) -> Report:
    """Without a corpus, the recorded sessions of this machine. Raises ConfigError and StoreError."""
    place = corpus or session_db(options, loaded.settings)
    if corpus is None and not place.exists():
        return measure((), {}, profiles)
    if not place.exists():
        raise ConfigError(
            f"There is nothing at {place}: name a file or a directory of cases, or a session database."
        )
    if place.is_file() and _head(place) == SQLITE:
        return measure(_sessions(place), {}, profiles)
    files = sorted(file for file in (place.iterdir() if place.is_dir() else (place,)) if _is_cases(file))
    if not files:
        raise ConfigError(f"{place} holds no cases: files that end with {' or '.join(CASES)}.")
    beside = (place if place.is_dir() else place.parent) / LABELS
    return measure(_cases(files, polls=polls), _labels(beside), profiles)


def _is_cases(file: Path) -> bool:
    return file.name.endswith(CASES)


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(len(SQLITE))


def _cases(files: list[Path], *, polls: bool) -> Iterator[tuple[str, Replay]]:
    for file in files:
        with gzip.open(file, "rb") if file.name.endswith(".gz") else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                case = _case(line, f"{file}, line {number}")
                yield case.id, partial(replay, case, polls=polls)


def _case(line: bytes, place: str) -> Case:
    try:
        return decode(line)
    except msgspec.MsgspecError as problem:
        raise ConfigError(f"{place}: this is no case: {problem}") from None


def _labels(file: Path) -> dict[str, Label]:
    if not file.exists():
        return {}
    try:
        found = msgspec.json.decode(file.read_bytes(), type=dict[str, _Labelled])
    except msgspec.MsgspecError as problem:
        raise ConfigError(f"{file}: these are no labels: {problem}") from None
    return {session: said.label for session, said in found.items()}


def _sessions(file: Path) -> Iterator[tuple[str, Replay]]:
    from agent_cli.store.sqlite import open_store

    store = open_store(file)
    try:
        for info in store.sessions(None):
            yield info.id, replay_log(store.entries(info.id))
    finally:
        store.close()
