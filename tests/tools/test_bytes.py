# ruff: noqa: RUF001  letters of other scripts are what is tested here
"""Files as bytes: whatever they are stored as, lines that an edit does not touch stay byte for byte."""

from __future__ import annotations

import asyncio
import codecs
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import FileDiff
from agent_cli.kernel.wire import to_json as on_the_wire
from agent_cli.tools import disk, staging
from agent_cli.tools.capture import Capture
from agent_cli.tools.text import decode, encode
from tests.tools.bench import Bench

CHINESE = "# 配置文件，用来检查编码\nvalue = 1\n名称 = 测试"
TRADITIONAL = "# 這是一個測試檔案，用來檢查編碼\nvalue = 1\n名稱 = 測試"
JAPANESE = "# これはテストです。日本語の文章\nvalue = 1\n名前 = テスト"
KOREAN = "# 이것은 시험 파일입니다\nvalue = 1\n이름 = 시험"
RUSSIAN = "# Это тестовый файл настройки\nvalue = 1\nимя = проверка"
GERMAN = "# Grüße aus Köln\nvalue = 1\nName = Müller"


class Stored(NamedTuple):
    raw: bytes
    said: str = ""
    """What reading tells of the encoding."""


STORED = {
    "utf-8": Stored(GERMAN.encode()),
    "crlf": Stored(GERMAN.replace("\n", "\r\n").encode()),
    "mixed endings": Stored("# Grüße\r\nvalue = 1\nName\r\nlast\n".encode()),
    "lone cr": Stored(GERMAN.replace("\n", "\r").encode()),
    "cr inside of lines": Stored(b"# 10%\r20%\r30%\nvalue = 1\nend\n"),
    "bom": Stored(codecs.BOM_UTF8 + GERMAN.encode()),
    "cp1252": Stored(("“quoted” – " + GERMAN).encode("cp1252"), "cp1252"),
    "latin-1": Stored(GERMAN.encode("latin-1") + b"\x81", "latin-1"),
    "gbk": Stored(CHINESE.encode("gbk"), "gb18030"),
    "big5": Stored(TRADITIONAL.encode("big5"), "big5"),
    "shift-jis": Stored(JAPANESE.encode("cp932"), "cp932"),
    "euc-jp": Stored(JAPANESE.encode("euc_jp"), "euc_jp"),
    "euc-kr": Stored(KOREAN.encode("euc_kr"), "euc_kr"),
    "koi8-r": Stored(RUSSIAN.encode("koi8-r"), "koi8-r"),
    "cp1251": Stored(RUSSIAN.encode("cp1251"), "cp1251"),
    "utf-16-le with mark": Stored(codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), "utf-16-le with"),
    "utf-16-be with mark": Stored(codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16-be with"),
    "utf-16-le": Stored(GERMAN.encode("utf-16-le"), "utf-16-le"),
    "utf-16-be": Stored(GERMAN.encode("utf-16-be"), "utf-16-be"),
    "utf-32": Stored(codecs.BOM_UTF32_LE + GERMAN.encode("utf-32-le"), "utf-32-le"),
    "broken utf-8": Stored(GERMAN.encode().replace(b"K", b"K\xff"), "utf-8 with broken bytes"),
    "bom and broken utf-8": Stored(codecs.BOM_UTF8 + b"a \xff\nvalue = 1\nb", "utf-8 with broken bytes"),
    "greek": Stored("# Ελληνικό κείμενο δοκιμή\nvalue = 1\nόνομα".encode("cp1253"), "cannot be told"),
    "hebrew": Stored("# שלום עולם טוב מאוד\nvalue = 1\nשם".encode("cp1255"), "cannot be told"),
    "no final newline": Stored(b"a\nvalue = 1"),
    "only a final newline": Stored(b"value = 1\n"),
    "form feed": Stored(b"a\x0cb\nvalue = 1\n\x0c\nc\n"),
    "nel and line separators": Stored("a\u0085b\u2028c\nvalue = 1\nd\u2029e\x1c\n".encode()),
}


def swapped(raw: bytes, old: str, new: str) -> bytes:
    """The bytes with that one place replaced, in the width of the file."""
    form = (decode(raw) or pytest.fail("no text"))[1]
    width = form.encoding if form.encoding.startswith("utf-") else "ascii"
    return raw.replace(old.encode(width), new.encode(width))


@pytest.mark.parametrize("name", STORED)
async def test_what_is_not_touched_stays_byte_for_byte(bench: Bench, name: str) -> None:
    raw, said = STORED[name]
    wanted = swapped(raw, "value = 1", "value = 22")
    assert wanted != raw
    path = bench.put("a.txt", raw)
    told = await bench.text("read_file", path="a.txt")
    on_the_wire(told)
    assert "value = 1" in told
    assert said in told
    assert ("stored as" in told) == bool(said)
    output = await bench.call("edit_file", path="a.txt", edits=[{"old": "value = 1", "new": "value = 22"}])
    on_the_wire(output.for_human)
    assert path.read_bytes() == wanted
    patch = "*** Begin Patch\n*** Update File: a.txt\n-value = 22\n+value = 1\n*** End Patch\n"
    await bench.call("apply_patch", patch=patch)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("name", [name for name in STORED if "broken" not in name])
async def test_the_text_of_a_file_written_back_is_no_change(bench: Bench, name: str) -> None:
    raw = STORED[name].raw
    path = bench.put("a.txt", raw)
    await bench.call("read_file", path="a.txt")
    text, form = decode(raw) or pytest.fail("no text")
    assert encode(text, form, text) == raw
    output = await bench.call("write_file", path="a.txt", content=text)
    assert path.read_bytes() == raw or name == "mixed endings"
    assert output.no_op or name == "mixed endings"


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("gbk", "名称"),
        ("big5", "名稱"),
        ("shift-jis", "日本"),
        ("euc-kr", "이름"),
        ("koi8-r", "имя"),
        ("cp1251", "имя"),
    ],
)
async def test_new_text_is_stored_as_the_rest_is(bench: Bench, name: str, new: str) -> None:
    raw, encoding = STORED[name]
    path = bench.put("a.txt", raw)
    await bench.call("edit_file", path="a.txt", edits=[{"old": "value = 1", "new": f"value = {new}"}])
    assert path.read_bytes() == raw.replace(b"value = 1", b"value = " + new.encode(encoding))


@pytest.mark.parametrize("name", ["greek", "hebrew"])
async def test_letters_for_an_encoding_that_cannot_be_told_are_refused(bench: Bench, name: str) -> None:
    raw = STORED[name].raw
    path = bench.put("a.txt", raw)
    told = await bench.refused("edit_file", path="a.txt", edits=[{"old": "value = 1", "new": "value = ξש"}])
    assert "cannot be told" in told
    assert "convert the file to UTF-8 first" in told
    assert path.read_bytes() == raw


async def test_new_lines_end_as_the_lines_of_an_old_mac_do(bench: Bench) -> None:
    path = bench.put("a.txt", b"one\rtwo\rthree\r")
    assert "2\ttwo\n" in await bench.text("read_file", path="a.txt")
    await bench.call("edit_file", path="a.txt", edits=[{"old": "one\ntwo\n", "new": "one\nnew\ntwo\n"}])
    assert path.read_bytes() == b"one\rnew\rtwo\rthree\r"
    await bench.call("write_file", path="a.txt", content="x\ny\n")
    assert path.read_bytes() == b"x\ry\r"


async def test_mode_symlink_and_other_names(bench: Bench) -> None:
    path = bench.put("a.sh", b"value = 1\n")
    path.chmod(0o751)
    (bench.root / "link.sh").symlink_to("a.sh")
    edits = [{"old": "value = 1", "new": "value = 2"}]
    await bench.call("edit_file", path="link.sh", edits=edits)
    assert (bench.root / "link.sh").is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"value = 2\n", 0o751)
    os.link(path, bench.root / "b.sh")
    told = await bench.text("edit_file", path="a.sh", edits=[{"old": "value = 2", "new": "value = 3"}])
    assert "It had 2 names (hard links); the others keep the old content." in told
    assert ((bench.root / "b.sh").read_bytes(), path.read_bytes()) == (b"value = 2\n", b"value = 3\n")


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "apply_patch"])
async def test_a_disk_that_does_not_keep_what_it_takes_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    bench.put("a.txt", b"value = 1\n")
    await bench.call("read_file", path="a.txt")
    kept = disk.staged

    def lossy(path: str, raw: bytes, *, like: str, parent: int | None = None) -> Path:
        return kept(path, raw[:-1], like=like, parent=parent)

    monkeypatch.setattr(disk, "staged", lossy)
    monkeypatch.setattr(staging, "staged", lossy)
    arguments = {
        "edit_file": {"path": "a.txt", "edits": [{"old": "1", "new": "2"}]},
        "write_file": {"path": "new.txt", "content": "x\n"},
        "apply_patch": {"patch": "*** Begin Patch\n*** Add File: n.txt\n+x\n*** End Patch\n"},
    }[tool]
    assert "does not hold what was written" in await bench.refused(tool, **arguments)


ANY = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"\xe4", b"\xc3\xa4", b"\xff", b"\x80", b" x", b"\xd6\xd0"])
)


@settings(deadline=None, max_examples=150)
@given(ANY, ANY)
def test_an_edit_and_its_reverse_restore_any_bytes(head: list[bytes], tail: list[bytes]) -> None:
    raw = b"".join((*head, b"<value = 1>", *tail))
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place).resolve())
        path = bench.put("f", raw)
        for old, new in (("value = 1", "value = 2"), ("value = 2", "value = 1")):
            try:
                output = asyncio.run(bench.call("edit_file", path="f", edits=[{"old": old, "new": new}]))
            except ToolError:
                assert decode(raw) is None
                return
            assert isinstance(output.for_human, FileDiff)
            on_the_wire(output.for_human)
            assert path.read_bytes() == raw.replace(b"value = 1", new.encode())


def captured(raw: bytes) -> str:
    capture = Capture()
    capture.add(raw)
    return capture.text()


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (PICTURE, "PNG image"),
        (b"\x7fELF" + bytes(range(256)) * 20, "ELF program or library"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 20, "PDF document"),
        (bytes(range(256)) * 20, "binary data"),
    ],
)
def test_what_a_command_prints_that_is_no_text_is_described(raw: bytes, name: str) -> None:
    assert captured(raw) == f"[{name}, {len(raw):,} bytes; no text to show]"


@pytest.mark.parametrize(
    "raw",
    [
        *(text.encode(name) * 40 for text, name in ((CHINESE, "gbk"), (JAPANESE, "shift_jis"), (RUSSIAN, "koi8-r"), (GERMAN, "latin-1"))),
        b"a file\0another one\0" * 40,
        GERMAN.encode("utf-16-le") * 40,
        b"a line of a log\n" * 400 + bytes(range(256)),
        b"ok \x00\xff",
    ],
)  # fmt: skip
def test_what_a_command_prints_is_shown_where_it_may_be_text(raw: bytes) -> None:
    assert "no text to show" not in captured(raw)


async def test_a_command_that_prints_a_picture_says_so(bench: Bench) -> None:
    bench.put("p.png", PICTURE)
    assert (
        await bench.text("bash", command="cat p.png")
        == f"[PNG image, {len(PICTURE):,} bytes; no text to show]\n[exit code 0]"
    )
