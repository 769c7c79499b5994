"""Every stop in every phase: how the turn ends, what may have happened, and how long it took."""

from __future__ import annotations

import pytest

from tests.drills.cells import CELLS, DISPATCH, FULL, PHASES, SOURCES, Cell


def test_the_matrix_is_whole():
    assert {(cell.source, cell.phase) for cell in CELLS} == {(s, p) for s in SOURCES for p in PHASES}
    assert len(CELLS) == len(SOURCES) * len(PHASES)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.source}, {cell.phase}")
async def test_a_stop_holds(cell: Cell, tmp_path):
    came = await cell.drill(tmp_path)
    assert (came.outcome, came.exit_code) == (cell.outcome, cell.exit_code), came.reason
    assert cell.says in came.reason
    assert came.asked == cell.asked, "no request was sent after the stop"
    assert came.files == cell.files, "what was being written is whole, and nothing else was begun"
    assert came.partial == cell.partial
    assert came.pending == 0
    assert came.dispatch <= DISPATCH
    assert came.full <= FULL
