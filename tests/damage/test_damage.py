"""No state on disk kills a session: it goes on, or is refused with a way on that works."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.damage.trial import grounds

SEEDS = range(8)
FOUND = (54, 61, 106, 140, 147, 156, 164, 770387, 770990)
"""Each killed a session once."""


async def test_a_damaged_session_goes_on_or_says_how(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    came: list[str] = []
    async with grounds(tmp_path) as ground:
        for seed in (*FOUND, *SEEDS):
            came.append(await ground.attempt(seed))
    assert came.count("good") > len(came) // 2
    assert len(set(came)) > 3, "some are refused, each for its reason"
