"""The benchmarks run outside of the suite; here is held that they can be."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPTS = sorted(BENCHMARKS.glob("*.py"))


def listed() -> list[str]:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "run"), "--list"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return [line.split()[0] for line in done.stdout.splitlines()]


def test_every_benchmark_that_is_listed_has_a_script_that_measures():
    names = listed()
    assert "oneshot" in names
    for name in names:
        assert "def measure(bench: Bench)" in (BENCHMARKS / f"{name}.py").read_text("utf-8"), name


@pytest.mark.parametrize("path", [BENCHMARKS / "run", *SCRIPTS], ids=lambda path: path.name)
def test_each_script_compiles(path: Path):
    compile(path.read_text("utf-8"), str(path), "exec")


def test_the_text_that_is_streamed_is_as_long_as_it_says_and_whole():
    spec = importlib.util.spec_from_file_location("prose", BENCHMARKS / "prose.py")
    assert spec is not None
    assert spec.loader is not None
    prose = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prose)
    text = prose.mixed_markdown(2_000)
    assert len(text) == 8_000
    assert "".join(prose.pieces(text)) == text
    assert len(list(prose.pieces(text))) == 400
    assert len(prose.one_fence(2_000)) == 8_000


def test_an_unknown_benchmark_names_the_known_ones():
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "run"), "nothing"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "oneshot" in done.stderr
