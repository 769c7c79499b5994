"""Reading on in what was too long."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import as_text
from agent_cli.tools.results import LARGEST, Results
from agent_cli.tools.retrieve_output import PAGE, RetrieveArguments, RetrieveOutput


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results" / "s1")


async def read(results: Results, call: str, offset: int = 0, limit: int = 0) -> str:
    return as_text(
        await RetrieveOutput(results).run(RetrieveArguments(call, offset, limit), lambda text: None)
    )


def test_only_the_owner_can_read_what_is_kept(results: Results):
    path = Path(results.keep("c1", "secret"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_an_id_never_leads_out_of_the_directory(results: Results):
    for odd in ("../../x", "/etc/passwd", "", "a" * 500, "ü"):
        path = Path(results.keep(odd, "x"))
        assert path.parent == results.directory
        assert path.read_bytes() == b"x"


def test_at_most_ten_megabytes_are_kept(results: Results):
    assert Path(results.keep("c1", "x" * (LARGEST + 5))).stat().st_size == LARGEST


def test_where_nothing_can_be_written_there_is_no_path(tmp_path: Path):
    (tmp_path / "results").write_text("a file")
    assert Results(tmp_path / "results" / "s1").keep("c1", "x") == ""


async def test_pages_in_a_row_are_the_whole(results: Results):
    whole = "".join(f"{n} é€😀\n" for n in range(20_000))
    results.keep("c1", whole)
    got, offset = "", 0
    while True:
        page = await read(results, "c1", offset, 70_001)
        text, _, note = page.rpartition("\n[bytes ")
        got += text
        assert len(page.encode()) <= PAGE
        following = re.search(r"offset=(\d+)", note)
        if following is None:
            break
        offset = int(following[1])
    assert got == whole
    assert note.endswith("; the end]")


async def test_a_page_is_at_most_a_hundred_thousand_bytes(results: Results):
    results.keep("c1", "x" * 300_000)
    page = await read(results, "c1", limit=250_000)
    assert PAGE - 1_000 < len(page) <= PAGE


async def test_an_unknown_id_names_the_known_ones(results: Results):
    with pytest.raises(ToolError, match="none was too long so far"):
        await read(results, "c9")
    results.keep("c1", "x")
    results.keep("c2", "x")
    with pytest.raises(ToolError, match=r"no kept result 'c9'; there are c[12], c[12]"):
        await read(results, "c9")
    with pytest.raises(ToolError, match="no byte 7: the result has 1 bytes"):
        await read(results, "c1", 7)


def test_it_reads_one_file_and_says_which(results: Results):
    touches = RetrieveOutput(results).touches(RetrieveArguments("c1"))
    assert (touches.effect, touches.paths[0].path) == ("read", str(results.directory / "c1.txt"))
