"""What the screen offers where there is no model."""

from __future__ import annotations

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.models import NO_MODEL
from agent_cli.compose.screen import FirstSteps
from agent_cli.providers.vendors import DEFAULTS, KEYS, OFFICIAL


@pytest.fixture
def steps(tmp_path):
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "home")}
    return FirstSteps(RunOptions(tmp_path, environ, attended=True))


def test_every_vendor_is_offered_with_a_key_that_it_takes(steps):
    offered = {variable for variable, _ in steps.variables}
    assert all(offered & set(KEYS[vendor]) for vendor in OFFICIAL)
    assert all(variable in NO_MODEL for variable in offered)


async def test_a_key_opens_a_session_with_the_usual_model_of_its_vendor(steps):
    for variable, vendor in (("GEMINI_API_KEY", "gemini"), ("ANTHROPIC_API_KEY", "anthropic")):
        session = await steps.use_key(variable, "k")
        assert session.state.card.id == DEFAULTS[vendor]
        await session.close()
