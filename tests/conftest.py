"""Every test runs in a home of its own, without keys and without the operator's config."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_cli.guardrails.secrets import in_use

settings.register_profile("suite", deadline=None)  # a busy machine is no failure
settings.load_profile("suite")

FOREIGN = ("ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "OPENROUTER_", "AGENT_CLI_")


def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: a good part of the tests' time is waiting for other processes, in which a core can do more."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh user scope; returns its path."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENT_CLI_HOME", str(home / "agent-cli"))
    return home


@pytest.fixture(autouse=True)
def no_secrets_in_use() -> Iterator[None]:
    """What one test's variables hold is no secret in the next."""
    yield
    in_use.forget()
