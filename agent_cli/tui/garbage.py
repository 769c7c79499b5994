"""When garbage is collected: between two steps, where nobody waits for a frame.

A full collection looks at all that lives, 50 ms and more with a long transcript, and would come while text streams.
What has lived through a step is therefore set aside, where the collector does not look; now and then all of it
is looked through, so that what became garbage meanwhile is found, too.
"""

from __future__ import annotations

import gc

OFTEN = 1_000
"""Rests between two looks at everything."""
YOUNG = 1


class Garbage:
    """Of one process, once its screen stands."""

    def __init__(self) -> None:
        self._rests = 0

    def rest(self, *, everything: bool = False) -> None:
        """A step begins or a turn is over. `everything` where much became garbage that was set aside."""
        self._rests += 1
        if everything or self._rests >= OFTEN:
            gc.unfreeze()
            gc.collect()
            self._rests = 0
        else:
            gc.collect(YOUNG)
        gc.freeze()
