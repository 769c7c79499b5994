"""Ten small jobs in a small project, each judged by code: by what lies on disk, or by what was answered."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FILES = {
    "greeting.txt": "The password of the day is marzipan.\n",
    "shopping.md": "# Shopping\n\n- bread\n- olives\n",
    "cities.csv": "city,country\nOslo,Norway\nLima,Peru\nCairo,Egypt\nHanoi,Vietnam\n",
    "settings.json": json.dumps({"name": "demo", "timeout": 4725, "verbose": True}, indent=2) + "\n",
    "geometry.py": (
        "def rectangle_area(width, height):\n    return width + height\n\n\n"
        "def square_area(side):\n    return side * side\n"
    ),
    "lib/parser.py": "def parse(text):\n    # FIXME: empty input\n    return text.split()\n",
    "lib/writer.py": "def write(words):\n    return ' '.join(words)\n",
}


class Ran(NamedTuple):
    """What a run left behind: its directory, the names of the tools it called, its answer."""

    root: Path
    tools: list[str]
    answer: str

    def looked(self) -> bool:
        """Whether it looked at anything, instead of guessing."""
        return bool({"read_file", "grep", "list_dir", "bash"} & set(self.tools))

    def text(self, path: str) -> str:
        file = self.root / path
        return file.read_text() if file.is_file() else ""


class Task(NamedTuple):
    name: str
    prompt: str
    check: Callable[[Ran], bool]


def prepare(root: Path) -> None:
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def evaluates(ran: Ran, path: str, expression: str, expected: str) -> bool:
    """Whether the Python file there makes the expression print what is expected, in a process of its own."""
    program = f"space = {{}}\nexec(open({str(ran.root / path)!r}).read(), space)\nprint(eval({expression!r}, space))"
    ended = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=10, check=False
    )
    return ended.stdout.splitlines()[-1:] == [expected]


TASKS = (
    Task("read", "What does greeting.txt say?", lambda ran: ran.looked() and "marzipan" in ran.answer),
    Task(
        "list",
        "Which files are in the current directory?",
        lambda ran: ran.looked() and all(name in ran.answer for name in ("shopping.md", "cities.csv")),
    ),
    Task(
        "create",
        "Make a file named status.txt that contains the word ready",
        lambda ran: ran.text("status.txt").strip() == "ready",
    ),
    Task(
        "search",
        "In which file is there a FIXME comment? Look in all files of this directory.",
        lambda ran: ran.looked() and "parser.py" in ran.answer and "writer.py" not in ran.answer,
    ),
    Task(
        "command",
        "Run `printf 'build %s\\n' 77-done` in the shell and report the output.",
        lambda ran: "bash" in ran.tools and "77-done" in ran.answer,
    ),
    Task(
        "count",
        "Count the lines of cities.csv.",
        lambda ran: ran.looked() and bool(re.search(r"(?<![\d,.])(5|five)(?![\d,.]\d)\b", ran.answer)),
    ),
    Task(
        "code",
        "Write a Python file named double.py with a function double(n) that returns n times two.",
        lambda ran: evaluates(ran, "double.py", "double(21)", "42"),
    ),
    Task(
        "lookup",
        "Which timeout is set in settings.json?",
        lambda ran: ran.looked() and "4725" in ran.answer,
    ),
    Task(
        "fix",
        "rectangle_area in geometry.py adds width and height, but it must multiply them. Correct the file "
        "and leave square_area as it is.",
        lambda ran: (
            evaluates(ran, "geometry.py", "(rectangle_area(6, 7), square_area(5))", "(42, 25)")
            and "width + height" not in ran.text("geometry.py")
        ),
    ),
    Task(
        "copy",
        "Put a copy of greeting.txt into a new file named greeting-copy.txt.",
        lambda ran: ran.text("greeting-copy.txt").strip() == "The password of the day is marzipan.",
    ),
)
