from pathlib import Path

import pytest

from tests.tools.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Tools over an empty project."""
    root = tmp_path / "project"
    root.mkdir()
    return Bench(root)
