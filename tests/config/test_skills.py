"""Files of skills: what is read of them, and what a bad one comes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.config import front_matter
from agent_cli.config.front_matter import NoFront
from agent_cli.config.skills import LIMIT, Place, read_skills

GOOD = "---\nname: deploy\ndescription: How it is deployed.\n---\nPress the button.\n"


def write(directory: Path, name: str, text: str | bytes = GOOD) -> Path:
    path = directory / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_skill_is_its_name_its_description_and_what_stands_below(tmp_path: Path) -> None:
    path = write(tmp_path, "deploy")
    (skill,) = read_skills([Place(tmp_path, "project", tmp_path)]).found
    assert (skill.name, skill.description, skill.scope) == ("deploy", "How it is deployed.", "project")
    assert skill.body() == "Press the button."
    path.write_text(GOOD.replace("Press", "Do not press"))
    assert skill.body() == "Do not press the button."


def test_of_two_with_one_name_the_later_place_counts(tmp_path: Path) -> None:
    write(tmp_path / "user", "deploy")
    write(tmp_path / "project", "deploy", GOOD.replace("How it", "The project's way it"))
    write(tmp_path / "user", "mine", GOOD.replace("deploy\n", "mine\n"))
    found = read_skills([Place(tmp_path / "user", "user"), Place(tmp_path / "project", "project", tmp_path)])
    assert [(each.name, each.scope) for each in found.found] == [("deploy", "project"), ("mine", "user")]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("Press the button.", 1, "no front matter"),
        ("---\nname: deploy\nPress the button.\n", 1, "no end"),
        ("---\nname: deploy\n= what\n---\nx", 3, "no `key: value`"),
        ("---\nname: deploy\nname: deploy\n---\nx", 3, "a second time"),
        ("---\nname: deploy\n---\nx", 1, "no description"),
        ("---\nname: deploy\ndescription:\n---\nx", 3, "no description"),
        (b"---\nname: deploy\ndescription: \xff\xfe\n---\n", 1, "not UTF-8"),
        (GOOD + "x" * LIMIT, 1, "holds more than"),
    ],
)
def test_what_is_no_skill_is_left_out_and_told_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, said: str
) -> None:
    path = write(tmp_path, "deploy", text)
    write(tmp_path, "good", GOOD.replace("deploy\n", "good\n"))
    found = read_skills([Place(tmp_path, "project", tmp_path)])
    assert [each.name for each in found.found] == ["good"]
    (problem,) = found.problems
    assert (problem.path, problem.line, problem.fatal) == (str(path), line, True)
    assert said in problem.text


def test_what_is_only_odd_is_told_and_the_skill_can_be_used(tmp_path: Path) -> None:
    text = GOOD.replace("name: deploy", "name: release\nmodel: opus\nlicense: MIT").replace(
        "deployed", "d" * 1100
    )
    write(tmp_path, "deploy", text)
    found = read_skills([Place(tmp_path, "project", tmp_path)])
    assert [(each.name, len(each.description)) for each in found.found] == [("deploy", 1024)]
    assert [(problem.line, problem.fatal) for problem in found.problems] == [
        (2, False),
        (5, False),
        (3, False),
    ]
    assert "`model` has no meaning here" in found.problems[2].text


def test_a_link_out_of_the_project_is_no_skill_of_it(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "deploy")
    project = tmp_path / "p" / ".agents" / "skills"
    (project / "one").mkdir(parents=True)
    (project / "one" / "SKILL.md").symlink_to(outside)
    (project / "two").symlink_to(outside.parent)
    (project / "gone").mkdir()
    (project / "gone" / "SKILL.md").symlink_to(tmp_path / "nothing")
    found = read_skills([Place(project, "project", tmp_path / "p")])
    assert found.found == ()
    assert ["leads out of" in problem.text for problem in found.problems] == [True, True, True]
    assert [each.name for each in read_skills([Place(project, "user")]).found] == ["one", "two"]


def test_a_directory_without_the_file_and_one_with_a_bad_name(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    write(tmp_path, "Big Name")
    problems = read_skills([Place(tmp_path, "user"), Place(tmp_path / "none", "user")]).problems
    assert [problem.text.partition(" ")[0] for problem in problems] == ["a", "there"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("allowed-tools: Read, Bash(git add:*), Grep", ("Read", "Bash(git add:*)", "Grep")),
        ("allowed-tools: Read Bash(git add:*) Grep", ("Read", "Bash(git add:*)", "Grep")),
        ("allowed-tools: [read_file, 'bash']", ("read_file", "bash")),
        ("allowed-tools:\n  - read_file\n  - bash", ("read_file", "bash")),
        ("allowed-tools:\n- read_file\n- bash", ("read_file", "bash")),
        ("allowed-tools:", ()),
        ("other: x", ()),
    ],
)
def test_lists_in_every_spelling(said: str, words: tuple[str, ...]) -> None:
    found = front_matter.read(f"---\n{said}\n---\n")
    assert found is not None
    assert found.words("allowed-tools") == words


def test_texts_in_every_spelling() -> None:
    found = front_matter.read(
        "---\na: 'one: two'\nb: >\n  three\n  four\n\n# not this\nc: five # not this\nd: six\n  seven\n"
        "e: |\n  eight\n  nine\nmetadata:\n  x: y\n---\nbody"
    )
    assert found is not None
    assert found.facts == {
        "a": "one: two", "b": "three four", "c": "five", "d": "six seven", "e": "eight\nnine", "metadata": "x: y",
    }  # fmt: skip
    assert (found.lines["d"], found.body) == (9, "body")


@given(st.text())
def test_no_text_is_more_than_read_or_refused(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n"):
        try:
            found = front_matter.read(whole)
        except NoFront as problem:
            assert 1 <= problem.line <= whole.count("\n") + 1
        else:
            assert found is None or set(found.lines) == set(found.facts) | set(found.lists)
