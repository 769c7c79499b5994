"""A kept fold makes opening faster and changes nothing: what comes of it is what reading the whole log comes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_cli.compose.folds import FoldFile
from agent_cli.engine import fold
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import STARTED, open_session, parts, run, say
from tests.fakes.strategies import logs
from tests.fakes.tools import FakeTool


class Kept:
    """A fold in memory."""

    def __init__(self, fold: bytes | None = None) -> None:
        self.fold = fold

    def get(self) -> bytes | None:
        return self.fold

    def put(self, fold: bytes, /) -> None:
        self.fold = fold


class Counting(ListLog):
    """Counts what is read of it."""

    count = 0

    def read(self, since: int = 0) -> Iterator[ev.Entry]:
        for entry in super().read(since):
            self.count += 1
            yield entry


def core(log: ListLog, kept: Kept | None = None, limits: Limits = Limits()) -> Core:  # noqa: B008  a frozen value
    return Core(parts(Playing(), log=log, folds=kept, limits=limits))


def known(core: Core) -> dict[str, object]:
    return {
        "state": core.state,
        "items": core.view.items(),
        "messages": core.view.messages(),
        "view": core.view.kept(),
        "ids": core.call_ids,
        "undone": core.undone,
        "began": (core.started, core.last_model),
        "place": (core.hub.seq, core.hub.turn),
    }


def made(turns: int) -> list[ev.Entry]:
    facts: list[ev.Recorded] = [STARTED]
    for number in range(turns):
        facts += [
            ev.TurnStarted("fake-1"),
            ev.OperatorMessage((Text(f"do {number}"),)),
            ev.AssistantMessage((Text(f"done {number}"),), "fake", "fake-1"),
            ev.TurnCompleted("completed", "stop"),
        ]
    return [ev.Entry("s1", seq, 1.0 + seq, (seq + 2) // 4, 0, fact) for seq, fact in enumerate(facts, 1)]


@pytest.fixture
def at_every_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold, "EVERY", 1)


@settings(max_examples=40)
@given(logs("s1", max_turns=5))
def test_any_log_comes_to_the_same_from_a_kept_fold(entries: list[ev.Entry]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "EVERY", 1)
        kept = Kept()
        core(ListLog(entries=entries), kept, Limits(max_steps=3))
        other = Limits(max_steps=7)
        opened = core(ListLog(entries=entries), Kept(kept.fold), other)
        assert known(opened) == known(core(ListLog(entries=entries), None, other))


async def test_a_session_keeps_one_while_it_runs_and_the_next_opening_reads_the_rest(at_every_message: None):
    kept, log, tool = Kept(), ListLog(), FakeTool("read")
    answers = [wants(("read", {"path": "a"})), says("one"), says("two"), says("three")]
    session = open_session(Playing(*answers), tool, log=log, folds=kept)
    for word in ("first", "second", "third"):
        await run(session, say(word))
    assert kept.fold is not None
    again = Counting(entries=list(log.read()))
    assert known(core(again, Kept(kept.fold))) == known(core(ListLog(entries=list(log.read()))))
    assert again.count < 10 < len(log.rows)


def test_a_long_log_is_read_from_its_beginning_only_once():
    entries, kept = made(2_000), Kept()
    core(ListLog(entries=entries), kept)
    log = Counting(entries=entries)
    core(log, kept)
    assert log.count <= fold.EVERY + 10


def test_a_short_log_has_none():
    kept = Kept()
    core(ListLog(entries=made(100)), kept)
    assert kept.fold is None


def test_one_of_another_log_is_left_out(at_every_message: None):
    kept = Kept()
    core(ListLog(entries=made(8)), kept)
    other = [*made(4), *(entry for entry in made(9)[17:])]
    changed = [
        ev.Entry(one.session, one.seq, one.time + 0.5, one.turn, one.step, one.event, one.branch)
        for one in other
    ]
    for entries in (changed, made(3)):
        opened = core(ListLog(entries=entries), Kept(kept.fold))
        assert known(opened) == known(core(ListLog(entries=entries)))


@pytest.mark.parametrize("damaged", [b"", b"nonsense", b"\x80"])
def test_what_is_no_fold_is_left_out(damaged: bytes):
    log = ListLog(entries=made(3))
    assert known(core(log, Kept(damaged))) == known(core(log))


def test_what_cannot_be_kept_is_not_kept_and_the_session_opens_all_the_same(at_every_message: None):
    entries, kept = made(3), Kept()
    whole = ev.AssistantMessage((wants(("read", {"n": 2**70})).parts[0],), "fake", "fake-1")
    entries[3] = ev.Entry("s1", 4, 5.0, 1, 0, whole)
    core(ListLog(entries=entries), kept)
    assert known(core(ListLog(entries=entries), kept)) == known(core(ListLog(entries=entries)))


def test_a_file_of_another_program_or_a_damaged_one_is_none(tmp_path: Path):
    file = FoldFile(tmp_path / "folds" / "s1")
    assert file.get() is None
    file.put(b"the fold")
    path = tmp_path / "folds" / "s1" / "fold"
    assert (file.get(), path.stat().st_mode & 0o777) == (b"the fold", 0o600)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", b"9.9" + whole, b""):
        path.write_bytes(damaged)
        assert file.get() is None
