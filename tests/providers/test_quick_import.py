"""The HTTP library is loaded without what only tells its version, and is the whole library all the same."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from agent_cli.providers.quick_import import httpx2
library = httpx2()
print("importlib.metadata" in sys.modules, "importlib.abc" in sys.modules)
import httpcore2, importlib.metadata
print(library.__version__ == importlib.metadata.version("httpx2"))
print(httpcore2.__version__ == importlib.metadata.version("httpcore2"))
print(library is httpx2(), bool(importlib.metadata.entry_points()))
library.alias_httpx()
import httpx
print(httpx.get is library.get)
"""
ODD = """
import sys
from agent_cli.providers import quick_import
stand_in = quick_import._Versions("importlib.metadata")
sys.modules["importlib.metadata"] = stand_in
print(stand_in.entry_points is not None, sys.modules["importlib.metadata"] is not stand_in)
print(stand_in.version("msgspec") != "")
"""


def told(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_it_is_the_same_library_and_what_it_was_loaded_without_is_there_afterwards():
    assert told(PROGRAM) == ["False", "False", "True", "True", "True", "True", "True"]


def test_whoever_wants_more_than_a_version_meanwhile_gets_the_real_thing():
    assert told(ODD) == ["True", "True", "True"]
