"""Files, the shell, the editor and the earlier messages, from where one types."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path

import pytest

from agent_cli.compose.files import files_below
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from agent_cli.talk import outside
from agent_cli.talk.door import Sources, Symbol, Welcome
from agent_cli.talk.history import History
from agent_cli.tui import paths as paths_module
from agent_cli.tui.past_search import PastSearch
from agent_cli.tui.paths import Paths, quoted, token
from tests.fakes.screen import screen, sees, shown, strike, until
from tests.fakes.session import FakeSession

TREE = [
    "README.md",
    "src/parser.py",
    "src/lexer.py",
    "src/deep/er/parse_tree.py",
    "tests/test_parser.py",
    "docs/a page.md",
]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("", ["README.md"]),
        ("parser", ["src/parser.py", "tests/test_parser.py"]),
        ("parse", ["src/parser.py", "src/deep/er/parse_tree.py", "tests/test_parser.py"]),
        ("READ", ["README.md"]),
        ("src/lex", ["src/lexer.py"]),
        ("sdpt", ["src/deep/er/parse_tree.py"]),
        ("zzz", []),
    ],
)
def test_paths_by_what_is_typed(typed: str, first: list[str]):
    assert Paths(TREE).find(typed)[: len(first) or 1] == first


@pytest.mark.parametrize("rare", [0, 1_000_000])
@pytest.mark.parametrize("typed", ["dfy7", "e3f9p", "4py", "fpz", "dx9", "qd"])
def test_letter_by_letter_finds_what_all_of_them_find(typed: str, rare: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paths_module, "RARE", rare)
    tree = [f"d{at % 7}/e{at % 11}/file{at}.p{'yx'[at % 3 == 0]}" for at in range(3_000)]
    grown = Paths(tree)
    for end in range(1, len(typed) + 1):
        assert grown.find(typed[:end]) == Paths(tree).find(typed[:end])
    assert grown.find(typed[:2]) == Paths(tree).find(typed[:2])


def test_every_path_is_found_by_itself_and_by_its_letters():
    paths = [f"d{at % 7}/e{at % 11}/file{at}.py" for at in range(500)]
    tree = Paths(paths)
    for path in paths[::50]:
        assert tree.find(path)[0] == path
    assert tree.find("d3e4file4")[0].startswith("d3/e4/file")


def test_letters_that_grow_when_they_are_small_do_no_harm():
    assert Paths(["İ/a.py", "b.py"]).find("b.py") == ["b.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("@", ""), ("look at @src/p", "src/p"), ("(@x", "x"), ("a@b", None), ("@a b", None), ("", None)],
)
def test_what_stands_behind_the_at(text: str, found: str | None):
    assert token(text) == found


def test_a_path_with_blanks_is_quoted():
    assert quoted("docs/a page.md") == '"docs/a page.md"'
    assert quoted("a.md") == "a.md"


def test_files_without_a_repository_leave_out_what_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / ".gitignore").write_text("build/\n")
    for name in ("a.py", "build/b.py", "sub/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert "build/b.py" not in files_below(tmp_path)
    assert {"a.py", "sub/c.py"} <= set(files_below(tmp_path))


async def test_a_file_is_completed_anywhere_in_a_message():
    session = FakeSession()
    async with screen(session, sources=Sources(files=lambda: TREE)) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "see @lex")
        await sees(pilot, "src/lexer.py")
        await pilot.press("enter")
        assert composer.text == "see @src/lexer.py ", "Enter takes it and sends nothing"
        strike(app, "and @page")
        await sees(pilot, "docs/a page.md")
        await pilot.press("tab")
        assert composer.text == 'see @src/lexer.py and @"docs/a page.md" '
        await pilot.press("enter")
        await until(pilot, lambda: len(session.commands) == 1)


async def test_a_tree_that_cannot_be_read_is_told_and_typing_goes_on():
    def broken() -> list[str]:
        raise PermissionError("no")

    async with screen(sources=Sources(files=broken)) as (app, pilot):
        strike(app, "@a")
        await sees(pilot, "The files are not known: no")
        strike(app, "b")
        await until(pilot, lambda: app.conversation.composer.text == "@ab")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
async def test_a_shell_command_adds_its_output_to_the_message(tmp_path: Path):
    session = FakeSession()
    session.state.cwd = str(tmp_path)
    (tmp_path / "here.txt").write_text("")
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("!ls; printf '\\033[31mred\\n'; exit 3")
        await pilot.press("enter")
        await sees(pilot, "its output is in your message")
        await sees(pilot, "you ran")
        assert session.commands == []
        strike(app, "why")
        await pilot.press("enter")
        await until(pilot, lambda: len(session.commands) == 1)
        (say,) = session.commands
        assert isinstance(say, Say)
        assert say.content == (
            Text("$ ls; printf '\\033[31mred\\n'; exit 3\nhere.txt\nred\n[exit code 3]\nwhy"),
        )


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
async def test_what_a_shell_command_writes_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outside, "MOST", 100)
    said = await outside.shell("yes | head -n 1000", "")
    assert "1,899 characters left out" in said
    assert len(said) < 250
    monkeypatch.setattr(outside, "MOST_READ", 100_000)
    assert "[stopped after 100,000 bytes]" in await outside.shell("yes", "", apart=True)
    monkeypatch.setattr(outside, "LONGEST", 0.1)
    assert "so far\n[stopped after 0.1 s]" in await outside.shell("echo so far; exec sleep 60", "")
    assert "cannot be started" in await outside.shell("true", "/nowhere/at/all")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
async def test_leaving_does_not_wait_for_a_shell_command(tmp_path: Path):
    session = FakeSession()
    session.state.cwd = str(tmp_path)
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("!echo $$ > pid; sleep 300; true")
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        app.leave()
        await until(pilot, lambda: not app.is_running, seconds=20)
    shell = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(shell, 0)
            await asyncio.sleep(0)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\nprintf "%s, edited\\n" "$(cat "$1")" > "$1.new" && mv "$1.new" "$1"\n')
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", str(program))
    return program


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_the_editor_gives_the_text_back(editor: Path, monkeypatch: pytest.MonkeyPatch):
    assert outside.edit("a text") == "a text, edited"
    monkeypatch.setenv("EDITOR", "false")
    with pytest.raises(ValueError, match="ended with 1; the text is as it was"):
        outside.edit("a text")
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    with pytest.raises(ValueError, match="Set EDITOR"):
        outside.edit("a text")


def test_searching_the_earlier_messages(tmp_path: Path):
    past = History(str(tmp_path / "h"))
    for text in ("mend the parser", "run the tests", "mend the lexer", "mend the parser"):
        past.add(text)
    search = PastSearch(past, "draft")
    assert search.seek("mend") == "mend the parser"
    assert search.step() == "mend the lexer"
    assert search.step() == "mend the lexer", "the oldest stays"
    assert search.seek("TESTS") == "run the tests"
    assert search.seek("nothing") == ""
    assert search.seek("") == "draft"


async def test_ctrl_r_finds_an_earlier_message_and_escape_gives_the_draft_back(tmp_path: Path):
    path = tmp_path / "h"
    past = History(str(path))
    for text in ("mend the parser", "run the tests", "mend the lexer"):
        past.add(text)
    session = FakeSession()
    async with screen(session, welcome=Welcome(history=str(path))) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "draft")
        await pilot.press("ctrl+r", "m", "e", "n")
        await sees(pilot, "search: men")
        assert composer.text == "mend the lexer"
        await pilot.press("ctrl+r")
        assert composer.text == "mend the parser"
        await pilot.press("escape")
        await until(pilot, lambda: composer.text == "draft")
        await pilot.press("ctrl+r", "t", "e", "s", "enter")
        await until(pilot, lambda: session.commands == [Say((Text("run the tests"),))])


def test_the_clipboard_of_a_machine_without_a_screen_is_not_asked(monkeypatch: pytest.MonkeyPatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert outside.copy("x") == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_the_program_that_took_the_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    taken = tmp_path / "taken"
    program = tmp_path / "xclip"
    program.write_text(f"#!/bin/sh\ncat > {taken}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(outside, "_COPIERS", (("no-such-copier",), ("xclip", "-selection", "clipboard")))
    assert outside.copy("a text") == "xclip"
    assert taken.read_text() == "a text"


def test_a_look_that_takes_long_goes_on_with_the_next(monkeypatch: pytest.MonkeyPatch):
    tree = [f"d{at % 7}/e{at % 11}/file{at}.py" for at in range(500)] + ["z/y/x.md"]
    whole = Paths(tree).find("zym")
    assert whole == ["z/y/x.md"]
    monkeypatch.setattr(paths_module, "LOOK", 1_000)
    monkeypatch.setattr(paths_module, "RARE", 0)
    slowly = Paths(tree)
    assert slowly.find("zym") == []
    looks = 1
    while slowly.unfinished:
        found = slowly.find("zym")
        looks += 1
    assert found == whole
    assert 5 < looks < 20


async def test_what_the_files_define_is_completed_too():
    defined = [Symbol("parse_all", "docs/a page.py", 3), Symbol("lex", "src/lexer.py", 12)]
    sources = Sources(files=lambda: TREE, symbols=lambda: defined)
    async with screen(sources=sources) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "mend @lex")
        await sees(pilot, "src/lexer.py:12")
        await pilot.press("down", "tab")
        assert composer.text == "mend @src/lexer.py:12 lex "
        strike(app, "and @#pa")
        await sees(pilot, "docs/a page.py:3")
        assert "src/parser.py" not in shown(app), "behind @# stand no files"
        await pilot.press("enter")
        assert composer.text == 'mend @src/lexer.py:12 lex and @"docs/a page.py":3 parse_all '


def descriptors() -> int:
    """How many this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("how", ["too much", "cancelled", "a child keeps its output"])
async def test_a_command_that_is_stopped_leaves_nothing_open(
    how: str, apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outside, "MOST_READ", 1_000_000 if how != "too much" else 10_000)
    monkeypatch.setattr(outside, "LONGEST", 0.3 if how == "a child keeps its output" else 60.0)
    command = {"too much": "exec yes", "cancelled": "touch began; exec sleep 60"}.get(
        how, "sleep 1 & exec sleep 60"
    )
    before, end = descriptors(), time.monotonic() + 30
    running = asyncio.create_task(outside.shell(command, str(tmp_path), apart=apart))
    while how == "cancelled" and not (tmp_path / "began").exists():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)
    if how == "cancelled":
        running.cancel()
    await asyncio.wait([running])
    assert descriptors() == before
    assert running.cancelled() or "stopped after" in running.result()
