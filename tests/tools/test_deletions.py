"""How much a call would delete, as the check of volume counts it: by file tools, by patches, by commands."""

from __future__ import annotations

import pytest

from agent_cli.tools.deletions import bytes_of
from tests.tools.bench import Bench


@pytest.fixture
def full(bench: Bench) -> Bench:
    bench.put("a.txt", "x" * 600)
    bench.put("b.txt", "y" * 70)
    bench.put("logs/one.log", "z" * 5_000)
    bench.put("logs/deep/two.log", "z" * 300)
    return bench


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("rm a.txt", 600),
        ("rm -f -- a.txt b.txt gone.txt", 670),
        ("rm *.txt", 670),
        ("rm {a,b}.txt", 670),
        ("rm a.txt; rm a.txt", 600),
        ("rm -rf logs", 5_300),
        ("rm -rf *", 5_970),
        ("cd logs && rm one.log", 5_000),
        ("sudo rm -r $PWD/logs/deep", 300),
        ("sh -c 'rm a.txt'", 600),
        ("make && git rm -rf logs/deep", 300),
        ("find . -name '*.txt' -delete", 670),
        ("find . -type f -not -name '*.log' -delete", 670),
        ("find logs -maxdepth 1 -name '*.log' -delete", 5_000),
        ("find logs -mindepth 2 -iname 'TWO*' -exec rm {} +", 300),
        ("find . -path './logs/deep/*' -print0 | xargs -0 rm -f", 300),
        ("find logs -mtime +7 -delete", 5_300),
        ("find . -name one.log -o -name two.log -delete", 5_970),
        ("find . -name '*.txt' | sort | xargs cat", None),
        ("find . -name '*.txt' -exec rm2 {} +", None),
        (": > a.txt", 600),
        ("> a.txt", 600),
        ("truncate -s 0 a.txt b.txt", 670),
        ("truncate --size=0 a.txt", 600),
        ("truncate -s 10M a.txt", None),
        ("mv b.txt a.txt", 600),
        ("mv b.txt logs/one.log logs/deep", 0),
        ("mv -n b.txt a.txt", None),
        ("mv a.txt new.txt", 0),
        ("make > build.log", None),
        ("echo rm a.txt", None),
        ("ls logs", None),
        ("rm gone.txt", 0),
    ],
)
def test_what_a_command_deletes_is_counted(full: Bench, command: str, size: int | None):
    assert full.touches("bash", command=command).deletes == size


def test_what_a_patch_deletes_is_counted(full: Bench):
    patch = "*** Begin Patch\n*** Delete File: a.txt\n*** Delete File: b.txt\n*** End Patch\n"
    assert full.touches("apply_patch", patch=patch).deletes == 670
    added = "*** Begin Patch\n*** Add File: c.txt\n+new\n*** End Patch\n"
    assert full.touches("apply_patch", patch=added).deletes is None


def test_a_link_is_what_it_is_itself_and_a_loop_of_links_ends(full: Bench):
    (full.root / "logs/loop").symlink_to(full.root / "logs")
    (full.root / "to_a").symlink_to(full.root / "a.txt")
    deleted = full.touches("bash", command="rm to_a").deletes
    assert deleted is not None
    assert deleted < 600
    assert bytes_of([str(full.root / "logs")]) < 6_000


def test_it_looks_at_so_many_files_and_no_more(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_cli.tools.deletions.MOST", 5)
    for n in range(20):
        bench.put(f"many/{n:02}.txt", "x" * 10)
    assert bytes_of([str(bench.root / "many")]) == 50


def test_a_pattern_of_everything_names_directories_only_where_something_is_deleted(full: Bench):
    named = {use.path for use in full.touches("bash", command="wc -l *").paths}
    assert str(full.root / "a.txt") in named
    assert str(full.root / "logs") not in named
