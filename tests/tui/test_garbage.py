"""Full collections come where nobody waits for a frame, and find what was set aside."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from agent_cli.tui.garbage import OFTEN, Garbage


class Knot:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_lived_through_a_step_is_not_looked_at_again():
    Garbage().rest()
    kept = [[number] for number in range(1_000)]
    Garbage().rest()
    assert gc.get_freeze_count() > len(kept)
    assert not any(kept is found for found in gc.get_objects())


def test_what_became_garbage_in_a_step_is_found_at_its_end():
    knot = Knot()
    gone = weakref.ref(knot)
    del knot
    Garbage().rest()
    assert gone() is None


@pytest.mark.parametrize(("rests", "everything"), [(OFTEN - 1, False), (1, True)])
def test_what_became_garbage_later_is_found_too(rests: int, everything: bool):
    """Now and then, and at once where much was let go."""
    garbage = Garbage()
    knot = Knot()
    gone = weakref.ref(knot)
    garbage.rest()
    del knot
    for _ in range(rests):
        assert gone() is not None
        garbage.rest(everything=everything)
    assert gone() is None
