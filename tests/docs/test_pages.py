"""Every command line in a fenced block of the documentation does what its page says."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from agent_cli.cli.start import interpret
from agent_cli.cli.words import read
from agent_cli.config import check
from agent_cli.config.sections.servers import ServersFile
from agent_cli.config.settings import Settings
from tests.docs.fences import PAGES, Block, blocks
from tests.fakes.http_server import FakeService, Say
from tests.fakes.served import served

SHELL = frozenset("|><&;$`")
REVIEW = {"verdict": "approve", "summary": "It adds a function.", "findings": []}
ANSWERS = {"functions.schema.json": '{"functions": ["add"]}', "ci-review": json.dumps(REVIEW)}
"""What the model has to say to a line with these words; "Done." to every other."""
FUNCTIONS = {
    "type": "object",
    "required": ["functions"],
    "properties": {"functions": {"type": "array", "items": {"type": "string"}}},
}


@pytest.fixture(scope="module")
def service() -> Iterator[FakeService]:
    with served("Done.") as found:
        yield found
    assert found.violations == []


@pytest.fixture
def project(tmp_path: Path, service: FakeService, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository with a change in it, and a key for the service."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (place / "parser.py").write_text("def parse(text):\n    return text\n")
    (place / "functions.schema.json").write_text(json.dumps(FUNCTIONS))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "begin"]):
        subprocess.run([*git, *words], cwd=place, check=True)
    (place / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    monkeypatch.chdir(place)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return place


def plain(line: str) -> list[str] | None:
    """The words behind `agent-cli`, where no shell is needed."""
    words = shlex.split(line, comments=True)
    bare = shlex.join(words)
    return words[1:] if words[:1] == ["agent-cli"] and not SHELL & set(bare.replace("'", "")) else None


def execute(line: str) -> int:
    words = plain(line)
    if words is not None:
        return run(words)
    if "jq" in line and not shutil.which("jq"):
        line = line.partition("| jq")[0]
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    return done.returncode


RUN = [block for page in PAGES for block in blocks(page) if block.kind == "sh"]
RUN_PAGES = sorted({block.page for block in RUN})


@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", RUN_PAGES)
def test_each_command_line_of_a_page_works(
    page: str, project: Path, service: FakeService, capfd: pytest.CaptureFixture[str]
) -> None:
    for block in RUN:
        if block.page != page or block.note:
            continue
        for line in block.lines:
            said = next((answer for words, answer in ANSWERS.items() if words in line), "Done.")
            service.replies = [Say(said)]
            code = execute(line)
            out, err = capfd.readouterr()
            assert code == 0, f"{page}:{block.line}: {line}\n{out}{err}"
    assert service.violations == []


@pytest.mark.parametrize(
    "block",
    [block for block in RUN if block.note == "screen"],
    ids=lambda block: f"{block.page}-{block.line}",
)
def test_what_opens_the_screen_is_understood(block: Block) -> None:
    for line in block.lines:
        words = plain(line)
        assert words is not None, line
        assert not interpret(read(words), terminal=True).one_shot, line


def test_what_is_not_run_says_why() -> None:
    for block in RUN:
        assert block.note in ("", "screen") or block.note.startswith("not run: "), (
            f"{block.page}:{block.line}"
        )
        assert not (block.note.startswith("not run") and len(block.note) < 20)


def test_the_pages_that_a_reader_begins_with_show_commands() -> None:
    assert {"getting-started.md", "everyday.md", "recipes.md", "configuration.md", "scripting.md"} <= set(
        RUN_PAGES
    )


SHOWN = [block for page in PAGES for block in blocks(page) if block.kind == "console"]


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: f"{block.page}-{block.line}")
def test_what_a_page_shows_is_what_is_printed(
    block: Block, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A line behind `$ `, then what it prints, of which a page may leave out lines."""
    printed = ""
    for line in block.lines:
        if line.startswith("$ "):
            execute(line.removeprefix("$ "))
            printed = capfd.readouterr().out
        else:
            assert line.strip() in printed, f"{block.page}:{block.line}\n{printed}"


def test_no_command_stands_in_a_block_that_is_not_run() -> None:
    plain = [block for page in PAGES for block in blocks(page) if not block.kind]
    for block in plain:
        assert not block.text.startswith(("agent-cli ", "$ ")), f"{block.page}:{block.line}"


SETTINGS = [block for page in PAGES for block in blocks(page) if block.kind == "json"]


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: f"{block.page}-{block.line}")
def test_each_piece_of_config_is_right(block: Block) -> None:
    tree = json.loads(block.text)
    check.read(ServersFile if "mcpServers" in tree else Settings, tree)


def test_every_page_is_in_the_index() -> None:
    index = next(page for page in PAGES if page.name == "index.md").read_text("utf-8")
    for page in PAGES:
        assert page.name in ("README.md", "index.md") or f"({page.name})" in index, page.name
