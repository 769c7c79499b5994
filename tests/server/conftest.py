"""What tests of the attach server share: a project, a service with prices, scripts."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.http_server import FakeService, Say

MODEL = "claude-opus-5"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "a.txt").write_text("hello\n")
    return place


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    """A script of these replies."""

    def write(*replies: dict[str, Any]) -> Path:
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return path

    return write


@pytest.fixture
async def service() -> AsyncGenerator[FakeService]:
    """A service whose model has a price; each answer costs about a dollar and a half."""
    usage = {"input_tokens": 100_000, "output_tokens": 40_000}
    async with FakeService([Say("Dear.", usage=usage)]) as found:
        yield found
    assert found.violations == []
