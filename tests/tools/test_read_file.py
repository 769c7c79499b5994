"""What reading a file gives: pages, encodings, media, refusals."""

import base64
import os
import resource
import socket
from pathlib import Path

import pytest

from agent_cli.kernel.events import as_text
from agent_cli.kernel.messages import Document, Image, Text
from agent_cli.tools import read_file
from agent_cli.tools.seen import digest_of, digest_of_file
from tests.tools.bench import Bench

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PDF = b"%PDF-1.7\n" + b"\0" * 20


async def test_three_lines(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\nthree\n")
    assert await bench.text("read_file", path="a.txt") == "1\tone\n2\ttwo\n3\tthree"


@pytest.mark.parametrize(
    ("raw", "shown"),
    (
        (b"", "[the file is empty]"),
        (b"x", "1\tx"),
        (b"\n", "1\t"),
        (b"a\n\nb", "1\ta\n2\t\n3\tb"),
        (b"a\r\nb\r\n", "1\ta\n2\tb"),
        ("é\n".encode(), "1\té"),
        (b"\xef\xbb\xbfx\n", "1\tx"),
        ("ä€\n".encode("utf-16"), "1\tä€\n[stored as utf-16-le with byte order mark]"),
        (b"\xfe\xff" + "ä\n".encode("utf-16-be"), "1\tä\n[stored as utf-16-be with byte order mark]"),
        (b"\xff\xfe\0\0" + "ä\n".encode("utf-32-le"), "1\tä\n[stored as utf-32-le with byte order mark]"),
        ("“é”\n".encode("cp1252"), "1\t“é”\n[stored as cp1252]"),
        (b"\xe9\x81\n", "1\té\x81\n[stored as latin-1]"),
        ("a\u2028b\x0bc\n".encode(), "1\ta\u2028b\x0bc"),
    ),
)
async def test_encodings_and_line_ends(bench: Bench, raw: bytes, shown: str) -> None:
    bench.put("a.txt", raw)
    assert await bench.text("read_file", path="a.txt") == shown


@pytest.mark.parametrize("small", (True, False))
async def test_pages_say_how_to_go_on(bench: Bench, monkeypatch: pytest.MonkeyPatch, *, small: bool) -> None:
    if not small:
        monkeypatch.setattr(read_file, "WHOLE", 10)
    lines = [f"line {number} " + "x" * 90 for number in range(1, 3001)]
    bench.put("a.txt", "\n".join(lines) + "\n")
    seen: list[str] = []
    offset = 1
    for _ in range(10):
        text = await bench.text("read_file", path="a.txt", offset=offset)
        assert len(text.encode()) <= 100_000
        *page, note = text.split("\n")
        seen += [line.partition("\t")[2] for line in page]
        if "end of the file" in note:
            break
        offset = int(note.rpartition("offset=")[2].rstrip("]"))
        assert offset == len(seen) + 1
        assert ("of 3,000" in note) is small
    assert seen == lines


async def test_offset_and_limit(bench: Bench) -> None:
    bench.put("a.txt", "a\nb\nc\nd\n")
    assert (
        await bench.text("read_file", path="a.txt", offset=2, limit=2)
        == "2\tb\n3\tc\n[lines 2-3 of 4; go on with offset=4]"
    )
    assert await bench.text("read_file", path="a.txt", offset=4) == "4\td\n[lines 4-4, the end of the file]"
    assert await bench.text("read_file", path="a.txt", limit=4) == "1\ta\n2\tb\n3\tc\n4\td"
    assert (
        await bench.text("read_file", path="a.txt", offset=-3, limit=1)
        == "1\ta\n[lines 1-1 of 4; go on with offset=2]"
    )
    assert "the file has 4 lines" in await bench.refused("read_file", path="a.txt", offset=5)


@pytest.mark.parametrize("small", (True, False))
async def test_a_line_longer_than_a_page_is_cut_and_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, small: bool
) -> None:
    if not small:
        monkeypatch.setattr(read_file, "WHOLE", 10)
    bench.put("a.txt", "short\n" + "ä" * 300_000 + "\nlast\n")
    first = await bench.text("read_file", path="a.txt")
    assert first.startswith("1\tshort\n[lines 1-1")
    second = await bench.text("read_file", path="a.txt", offset=2)
    assert len(second.encode()) <= 100_000
    assert "line 2 is 300,00" in second
    assert "offset=3" in second
    assert (await bench.text("read_file", path="a.txt", offset=3)).startswith("3\tlast")


async def test_two_gigabytes_do_not_enter_memory(bench: Bench) -> None:
    path = bench.put("big.log", "first line\nsecond\n")
    with path.open("r+b") as file:
        file.truncate(2_000_000_000)
        file.seek(100_000_000)
        file.write(b"\n")
    head = b"x" * 200_000 + b"\n"
    with path.open("r+b") as file:
        file.write(b"first line\nsecond\n" + head)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = await bench.text("read_file", path="big.log", limit=2)
    assert text == "1\tfirst line\n2\tsecond\n[lines 1-2, more follow; go on with offset=3]"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    ("name", "raw", "media"),
    (
        ("a.png", PNG, "image/png"),
        ("a", b"\xff\xd8\xff\xe0" + b"\0" * 9, "image/jpeg"),
        ("a.gif", b"GIF89a" + b"\0" * 9, "image/gif"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ),
)
async def test_images_go_to_models_that_take_them(bench: Bench, name: str, raw: bytes, media: str) -> None:
    bench.put(name, raw)
    seeing = Bench(bench.root, images=True)
    blocks = (await seeing.call("read_file", path=name)).for_model
    assert blocks[1] == Image(media, base64.b64encode(raw).decode())
    assert "this model does not take images" in await bench.text("read_file", path=name)


async def test_documents(bench: Bench) -> None:
    bench.put("a.pdf", PDF)
    reading = Bench(bench.root, documents=True)
    blocks = (await reading.call("read_file", path="a.pdf")).for_model
    assert blocks == (
        Text("PDF document, 29 bytes"),
        Document("application/pdf", base64.b64encode(PDF).decode(), "a.pdf"),
    )
    assert "does not take documents" in await bench.text("read_file", path="a.pdf")


async def test_too_large_an_image_is_described(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "LARGEST_IMAGE", 10)
    bench.put("a.png", PNG)
    output = await Bench(bench.root, images=True).call("read_file", path="a.png")
    assert "more than the 10 bytes" in as_text(output)


@pytest.mark.parametrize(
    ("raw", "said"),
    (
        (b"\x7fELF\0\0\0", "ELF program"),
        (b"PK\x03\x04\0\0", "zip archive"),
        (b"abc\0def", "binary data, 7 bytes"),
        (bytes(range(256)), "binary data"),
    ),
)
async def test_binary_is_described(bench: Bench, raw: bytes, said: str) -> None:
    bench.put("a.bin", raw)
    assert said in await bench.text("read_file", path="a.bin")


async def test_what_is_no_file_is_named(bench: Bench) -> None:
    (bench.root / "dir").mkdir()
    os.mkfifo(bench.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(bench.root / "sock"))
    assert "dir is a directory, not a file" in await bench.refused("read_file", path="dir")
    assert "pipe (FIFO)" in await bench.refused("read_file", path="pipe")
    assert "sock" in await bench.refused("read_file", path="sock")
    assert "device" in await bench.refused("read_file", path="/dev/zero")
    bench.put("file", "x")
    assert "There is no file file/below" in await bench.refused("read_file", path="file/below")
    (bench.root / "loop").symlink_to("loop")
    assert "circle" in await bench.refused("read_file", path="loop")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_file_is_named(bench: Bench) -> None:
    bench.put("a.txt", "x").chmod(0)
    assert "permission denied" in await bench.refused("read_file", path="a.txt")


async def test_reading_marks_the_content_as_seen(bench: Bench) -> None:
    path = bench.put("a.txt", "x")
    await bench.call("read_file", path="a.txt")
    assert bench.workspace.seen.digest(str(path)) == digest_of(b"x") == digest_of_file(str(path))
    assert bench.workspace.seen.digest(str(bench.root / "b.txt")) is None


def test_the_largest_files_are_known_by_their_facts(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"")
    os.truncate(path, 100_000_000)
    before = digest_of_file(str(path))
    with path.open("r+b") as file:
        file.write(b"changed")
    os.utime(path, ns=(1, 1))
    assert digest_of_file(str(path)) != before


async def test_pages_in_a_thread_are_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.put("a.txt", "one\ntwo\n")
    inline = await bench.text("read_file", path="a.txt")
    monkeypatch.setattr(read_file, "INLINE", 0)
    assert await bench.text("read_file", path="a.txt") == inline
