"""A style rule about small files does nothing; a hard limit on the longest does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "agent_cli").rglob("*.py"))
MOST_LINES = 400
MOST_FUNCTION_LINES = 40
MOST_PUBLIC_METHODS = 12
DRAWERS = {"utils", "helpers", "common", "manager", "base", "misc", "types"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_file_function_or_class_outgrows_its_room(path: Path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES, "split it by what changes together"
    assert path.stem not in DRAWERS, "a drawer is no room: name it after what it does"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= MOST_FUNCTION_LINES, f"{node.name} has {length} lines"
        if isinstance(node, ast.ClassDef):
            public = [
                item.name
                for item in node.body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not item.name.startswith("_")
            ]
            assert len(public) <= MOST_PUBLIC_METHODS, f"{node.name} has {len(public)} public methods"
