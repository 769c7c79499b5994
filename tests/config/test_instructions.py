"""Which files instruct, in which order, and what their @include lines bring in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.config.instructions import DEPTH, LIMIT, Instruction, nested_instructions, read_instructions
from agent_cli.kernel.errors import ConfigError


class Tree:
    """A user scope and a project, both empty."""

    def __init__(self, top: Path) -> None:
        self.user, self.root = top / "user", top / "root"
        self.project = self.root / ".agents"

    def write(self, place: Path, content: str | bytes) -> Path:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def read(self) -> tuple[Instruction, ...]:
        return read_instructions(self.user, self.project if self.project.exists() else None, self.root)

    def text(self) -> str:
        (only,) = self.read()
        return only.text


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    made.root.mkdir()
    return made


def test_nothing_is_there(tree: Tree) -> None:
    assert tree.read() == ()


def test_user_then_project_each_with_its_directory(tree: Tree) -> None:
    wanted = [
        tree.write(tree.user / "AGENTS.md", "u"),
        tree.write(tree.user / "AGENTS.d" / "1.md", "u1"),
        tree.write(tree.project / "AGENTS.md", "p"),
        tree.write(tree.root / "AGENTS.md", "r"),
        tree.write(tree.project / "AGENTS.d" / "10-a.md", "p10"),
        tree.write(tree.project / "AGENTS.d" / "2-b.md", "p2"),
    ]
    tree.write(tree.project / "AGENTS.d" / ".hidden.md", "no")
    tree.write(tree.project / "AGENTS.d" / "notes.txt", "no")
    tree.write(tree.project / "AGENTS.d" / "deeper" / "x.md", "no")
    tree.write(tree.root / "AGENTS.d" / "x.md", "no")
    (tree.project / "AGENTS.d" / "dir.md").mkdir()
    assert [each.source for each in tree.read()] == [str(file) for file in wanted]
    assert [each.text for each in tree.read()] == ["u", "u1", "p", "r", "p10", "p2"]


def test_a_project_without_agents_directory_has_its_top(tree: Tree) -> None:
    file = tree.write(tree.root / "AGENTS.md", "r")
    tree.write(tree.root / "AGENTS.d" / "x.md", "no")
    assert tree.read() == (Instruction(str(file), "r", 1),)


def test_fallbacks_count_where_the_scope_has_no_agents_md(tree: Tree) -> None:
    tree.write(tree.user / "GEMINI.md", "ug")
    tree.write(tree.root / "CLAUDE.md", "c")
    tree.write(tree.root / "GEMINI.md", "g")
    assert [each.text for each in tree.read()] == ["ug", "c"]
    tree.write(tree.project / "AGENTS.md", "p")
    assert [each.text for each in tree.read()] == ["ug", "p"]


def test_one_file_under_several_names_counts_once(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "r")
    tree.project.mkdir()
    (tree.project / "AGENTS.md").symlink_to("../AGENTS.md")
    assert tree.text() == "r"


def test_empty_files_are_left_out(tree: Tree) -> None:
    tree.write(tree.user / "AGENTS.md", " \n\n")
    tree.write(tree.root / "AGENTS.md", "---\ntitle: x\n---\n")
    assert tree.read() == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("---\ntitle: x\n---\nbody\n", "body\n"),
        ("---\r\ntitle: x\r\n---\r\nbody\r\n", "body\n"),
        ("\ufeff---\na: 1\n...\nbody", "body"),
        ("---\n---\nbody", "body"),
        ("---\nnever closed", "---\nnever closed"),
        ("body\n---\na: 1\n---\n", "body\n---\na: 1\n---\n"),
        (b"caf\xe9", "caf\ufffd"),
    ],
)
def test_front_matter_is_taken_off(tree: Tree, content: str | bytes, text: str) -> None:
    tree.write(tree.root / "AGENTS.md", content)
    assert tree.text() == text


def test_a_long_file_is_cut_visibly(tree: Tree) -> None:
    line = "äöü " * 20 + "\n"
    file = tree.write(tree.root / "AGENTS.md", line * 1000)
    (found,) = tree.read()
    size = file.stat().st_size
    assert (found.cut, found.bytes) == (True, size)
    text, _, marker = found.text.rpartition("\n")
    assert marker == f"[… cut here: AGENTS.md holds {size:,} bytes, of which the first 32,768 are read …]"
    assert (text + "\n").replace(line, "") == ""
    assert LIMIT - 2 * len(line.encode()) < len(text.encode()) <= LIMIT


@given(st.integers(LIMIT - 4, LIMIT + 4), st.sampled_from(["x", "ä", "😀"]))
def test_the_limit_itself(tmp_path_factory: pytest.TempPathFactory, size: int, letter: str) -> None:
    tree = Tree(tmp_path_factory.mktemp("limit"))
    content = (letter * LIMIT).encode()[:size] + b"x" * max(0, size - len((letter * LIMIT).encode()))
    whole = content.decode(errors="ignore").encode()
    tree.write(tree.root / "AGENTS.md", whole)
    (found,) = tree.read()
    assert found.cut == (len(whole) > LIMIT)
    assert "\ufffd" not in found.text
    assert found.text.startswith(letter * 100)


def test_includes_stand_in_place_of_their_lines(tree: Tree) -> None:
    tree.write(tree.project / "AGENTS.md", "a\n@include ../docs/style.md\nz")
    tree.write(tree.root / "docs" / "style.md", "---\nx: 1\n---\ns\n  @include more/deep.md  \nt")
    tree.write(tree.root / "docs" / "more" / "deep.md", "d")
    (found,) = tree.read()
    assert found.text == "a\ns\nd\nt\nz"
    assert (
        found.bytes
        == len("a\n@include ../docs/style.md\nz") + len("---\nx: 1\n---\ns\n  @include more/deep.md  \nt") + 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "see @include x.md",
        "`@include x.md`",
        "    @include x.md",
        "@includes x.md",
        "@include",
        "```\n@include x.md\n```",
        "~~~ sh\n```\n@include x.md\n~~~",
        "````\n```\n@include x.md\n````",
        "```\n@include x.md",
    ],
)
def test_what_is_no_include(tree: Tree, text: str) -> None:
    tree.write(tree.root / "AGENTS.md", text)
    assert tree.text() == text


def test_after_a_fence_includes_count_again(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "```\n@include x.md\n```\n@include x.md")
    tree.write(tree.root / "x.md", "in")
    assert tree.text() == "```\n@include x.md\n```\nin"


def test_circles_are_removed_and_each_file_stands_once(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "a\n@include b.md\n@include b.md\n@include AGENTS.md")
    tree.write(tree.root / "b.md", "b\n@include ./sub/../AGENTS.md\n@include b.md\n@include link.md")
    (tree.root / "sub").mkdir()
    (tree.root / "link.md").symlink_to("b.md")
    assert tree.text() == "a\nb"


def test_includes_go_eight_deep(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "0\n@include 1.md")
    for number in range(1, DEPTH):
        tree.write(tree.root / f"{number}.md", f"{number}\n@include {number + 1}.md")
    tree.write(tree.root / f"{DEPTH}.md", f"{DEPTH}")
    assert tree.text() == "0\n1\n2\n3\n4\n5\n6\n7\n8"
    tree.write(tree.root / f"{DEPTH}.md", "@include 9.md")
    tree.write(tree.root / "9.md", "9")
    with pytest.raises(ConfigError, match="more than 8 deep"):
        tree.read()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("gone.md", "there is no such file"),
        ("docs", "there is no such file"),
        ("/etc/passwd", "only paths relative"),
        ("~/x.md", "only paths relative"),
        ("https://example.org/x.md", "only paths relative"),
        ("../outside.md", "only files inside of"),
        ("escape.md", "only files inside of"),
    ],
)
def test_includes_that_are_refused(tree: Tree, wanted: str, said: str) -> None:
    file = tree.write(tree.root / "AGENTS.md", f"@include {wanted}")
    tree.write(tree.root.parent / "outside.md", "secret")
    (tree.root / "docs").mkdir()
    (tree.root / "escape.md").symlink_to("../outside.md")
    with pytest.raises(ConfigError, match=said) as told:
        tree.read()
    assert f"{file}: '@include {wanted}'" in str(told.value)


def test_an_include_that_was_cut_in_half_is_no_include(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "x" * (LIMIT - 12) + "\n@include gone.md")
    assert "@include" not in tree.text()


def nested(tree: Tree, path: str) -> list[str]:
    found = nested_instructions(tree.root / path, tree.root, tree.user)
    return [Path(each.source).relative_to(tree.root).as_posix() for each in found]


def test_directories_below_the_project_have_their_own_the_outermost_first(tree: Tree) -> None:
    tree.write(tree.root / "AGENTS.md", "of the project")
    tree.write(tree.root / "src" / "AGENTS.md", "of src")
    tree.write(tree.root / "src" / "parser" / "CLAUDE.md", "of the parser")
    tree.write(tree.root / "src" / "empty" / "AGENTS.md", "\n")
    assert nested(tree, "src/parser/new/a.py") == ["src/AGENTS.md", "src/parser/CLAUDE.md"]
    assert nested(tree, "src/parser") == ["src/AGENTS.md", "src/parser/CLAUDE.md"]
    assert nested(tree, "src/empty/x") == ["src/AGENTS.md"]
    assert nested(tree, "other/x") == nested(tree, "a.py") == nested(tree, ".") == []


@pytest.mark.parametrize("place", ["node_modules/x", ".git/x", ".agents/plans", "src/.agents/skills"])
def test_what_is_not_of_this_project_does_not_instruct(tree: Tree, place: str) -> None:
    tree.write(tree.root / place / "AGENTS.md", "Do as I say.")
    assert nested(tree, f"{place}/a") == []


def test_what_lies_elsewhere_does_not_instruct(tree: Tree) -> None:
    tree.write(tree.user / "sub" / "AGENTS.md", "of the user")
    (tree.root / "link").symlink_to(tree.user / "sub")
    assert nested(tree, "link/a") == nested(tree, "../user/sub/a") == []
    inside = tree.root / "home"
    tree.write(inside / "AGENTS.md", "of the user")
    assert nested_instructions(inside / "a", tree.root, inside) == ()


def test_nested_ones_include_from_inside_of_the_project_only(tree: Tree) -> None:
    tree.write(tree.root / "style.md", "Short lines.")
    tree.write(tree.root / "src" / "AGENTS.md", "@include ../style.md")
    (found,) = nested_instructions(tree.root / "src" / "a.py", tree.root, tree.user)
    assert found.text == "Short lines."
    tree.write(tree.root / "src" / "AGENTS.md", "@include ../../user/secret.md")
    tree.write(tree.user / "secret.md", "no")
    with pytest.raises(ConfigError, match="only files inside of"):
        nested_instructions(tree.root / "src" / "a.py", tree.root, tree.user)
