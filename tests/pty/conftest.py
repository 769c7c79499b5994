"""A home and a project of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"AGENT_CLI_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"
