"""Pictures and PDF files go with a message, and messages that wait are taken back."""

from __future__ import annotations

import asyncio
import base64
import struct
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say, Withdraw
from agent_cli.kernel.messages import Document, Image, Text
from agent_cli.kernel.pictures import LARGEST_IMAGE, pixels
from agent_cli.talk.attachments import NotAttached, attach, mentioned, named, of_bytes
from agent_cli.talk.door import Sources, Welcome
from agent_cli.tui.pastes import FILES_KEPT, Pastes
from tests.fakes.screen import screen, sees, strike, turn, until
from tests.fakes.session import CARD, FakeSession

SEES = replace(CARD, images=True, documents=True)
PDF = b"%PDF-1.4\n%%EOF\n"


def png(width: int = 3, height: int = 2) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes(width) for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def image(data: bytes) -> Image:
    return Image("image/png", base64.b64encode(data).decode())


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    (tmp_path / "a shot.png").write_bytes(png())
    (tmp_path / "b.png").write_bytes(png(1200, 800))
    (tmp_path / "paper.pdf").write_bytes(PDF)
    (tmp_path / "notes.png").write_text("no picture at all")
    (tmp_path / "code.py").write_text("")
    return tmp_path


# ── pure ──


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(1200, 800), (1200, 800)),
        (b"GIF89a" + struct.pack("<HH", 17, 9) + b"\0" * 8, (17, 9)),
        (
            b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xd8\xff\xc2\0\x11\x08"
            + struct.pack(">HH", 480, 640)
            + b"\0" * 8,
            (640, 480),
        ),
        (
            b"RIFF....WEBPVP8X" + b"\0" * 8 + (99).to_bytes(3, "little") + (49).to_bytes(3, "little"),
            (100, 50),
        ),
        (b"RIFF....WEBPVP8L....\x2f" + (99 | 49 << 14).to_bytes(4, "little") + b"\0" * 8, (100, 50)),
        (b"RIFF....WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 100, 50), (100, 50)),
        (b"\xff\xd8\xff\xe0", None),
        (b"\xff\xd8\xff\xe0\0\0\xff\xe0\0\0" * 3, None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"text", None),
    ],
)
def test_the_pixels_of_an_image(data: bytes, size: tuple[int, int] | None):
    assert pixels(data) == size


def test_what_a_terminal_writes_for_dropped_files(shots: Path):
    whole = shots / "a shot.png"
    for text in (
        str(whole),
        f"'{whole}'",
        f"{whole.as_posix().replace(' ', chr(92) + ' ')} ",
        f"file://{whole.as_posix().replace(' ', '%20')}\n",
    ):
        assert named(text, "/") == [whole], text
    assert named("b.png paper.pdf", str(shots)) == [shots / "b.png", shots / "paper.pdf"]
    for text in (
        "look at b.png",
        "code.py",
        "nothing.png",
        "b.png\0",
        "~nobody-of-that-name/x.png",
        "'b.png",
        "",
    ):
        assert named(text, str(shots)) == [], text


def test_what_does_not_go_along_says_why(shots: Path):
    with pytest.raises(NotAttached, match=r"scripted-1 takes no images: b.png is named, and not shown to it"):
        attach(shots / "b.png", CARD)
    with pytest.raises(NotAttached, match=r"notes.png is no PNG, JPEG, GIF, WebP or PDF"):
        attach(shots / "notes.png", SEES)
    with pytest.raises(NotAttached, match=r"page.png has 3\xd78,001 pixels, and 8,000 on a side"):
        of_bytes("page.png", png(3, 8_001), None)
    (shots / "b.png").write_bytes(png() + bytes(LARGEST_IMAGE))
    with pytest.raises(NotAttached, match=r"b.png has 3,750,\d+ bytes, and 3,750,000 can be sent"):
        attach(shots / "b.png", SEES)
    with pytest.raises(NotAttached, match=r"gone.png cannot be read: No such file"):
        attach(shots / "gone.png", SEES)


def test_mentioned_files_go_along_once_each(shots: Path):
    text = 'see @b.png, @b.png (@paper.pdf) and @"a shot.png"; not me@b.png, @code.py or @notes.png.'
    found, troubles = mentioned(text, str(shots), SEES)
    assert found == (
        image(png(1200, 800)),
        Document("application/pdf", base64.b64encode(PDF).decode(), "paper.pdf"),
        image(png()),
    )
    assert troubles == ["notes.png is no PNG, JPEG, GIF, WebP or PDF by what is in it"]


def test_chips_of_files_are_their_own_and_few_are_kept():
    pastes = Pastes()
    first, other = Image("image/png", "AAAA"), Image("image/png", "BBBB")
    assert pastes.hold("[image a.png]", first) == "[image a.png]"
    assert pastes.hold("[image a.png]", first) == "[image a.png]"
    assert pastes.hold("[image a.png]", other) == "[image a.png #2]"
    assert pastes.files("x [image a.png #2] y [image a.png]") == (other, first)
    assert pastes.chip_before("x [image a.png #2]") == "[image a.png #2]"
    for number in range(FILES_KEPT):
        pastes.hold(f"[image {number}.png]", first)
    assert pastes.files("[image a.png]") == ()


# ── on the screen ──


async def test_a_dropped_picture_is_a_chip_and_goes_along(shots: Path):
    session = FakeSession(SEES)
    session.state.cwd = str(shots)
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "what is ")
        await until(pilot, lambda: composer.text == "what is ")
        app.post_message(events.Paste(str(shots / "b.png")))
        await until(pilot, lambda: composer.text == "what is [image b.png 1200\xd7800]")
        await pilot.press("backspace")
        assert composer.text == "what is ", "a chip goes as one"
        app.post_message(events.Paste(str(shots / "b.png")))
        await until(pilot, lambda: composer.text.endswith("800]"))
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        said = (Text("what is [image b.png 1200\xd7800]"), image(png(1200, 800)))
        assert session.commands == [Say(said)]
        await pilot.press("up", "enter")
        await until(pilot, lambda: len(session.commands) == 2)
        assert session.commands[1] == Say(said), "an earlier message has its picture still"


async def test_a_completed_picture_is_a_chip_where_the_model_takes_it(shots: Path):
    session = FakeSession(SEES)
    session.state.cwd = str(shots)
    files = Sources(files=lambda: ["a shot.png", "b.png", "code.py"])
    async with screen(session, sources=files) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "see @shot")
        await sees(pilot, "a shot.png")
        await pilot.press("tab")
        assert composer.text == "see [image a shot.png 3\xd72] "
        strike(app, "@code")
        await sees(pilot, "code.py")
        await pilot.press("tab", "enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text("see [image a shot.png 3\xd72] @code.py "), image(png())))]


async def test_a_model_without_eyes_gets_the_path_and_the_operator_is_told(shots: Path):
    session = FakeSession()
    session.state.cwd = str(shots)
    async with screen(session) as (app, pilot):
        app.post_message(events.Paste(str(shots / "b.png")))
        await sees(pilot, "scripted-1 takes no images")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text(str(shots / "b.png")),))]


@pytest.fixture
def clipboard(shots: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is the clipboard; the image in it is returned."""
    held = shots / "held.png"
    program = shots / "wl-paste"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --list-types ] && {{ [ -e {held} ] && echo image/png; exit 0; }}\ncat {held}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shots}:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setattr("sys.platform", "linux")
    return held


async def test_an_image_of_the_clipboard_goes_along(clipboard: Path):
    session = FakeSession(SEES)
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        await pilot.press("ctrl+v")
        await sees(pilot, "There is no image in the clipboard.")
        app.copy_to_clipboard("a text")
        await pilot.press("ctrl+v")
        await until(pilot, lambda: composer.text == "a text")
        await asyncio.to_thread(clipboard.write_bytes, png(7, 8))
        await pilot.press("ctrl+v")
        await until(pilot, lambda: composer.text == "a text[image clipboard.png 7\xd78]")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text("a text[image clipboard.png 7\xd78]"), image(png(7, 8))))]


async def test_without_a_clipboard_one_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    async with screen(FakeSession(SEES)) as (app, pilot):
        await pilot.press("ctrl+v")
        await sees(pilot, "drop the file on the terminal")
        app.copy_to_clipboard("cut here")
        await pilot.press("ctrl+v")
        await until(pilot, lambda: app.conversation.composer.text == "cut here")


async def test_a_message_that_waits_is_taken_back_with_its_picture():
    session = FakeSession(SEES)
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        turn(session)
        session.play(ev.MessageQueued((Text("first"),)))
        session.play(ev.MessageQueued((Text("look at [image b.png 3\xd72]"), image(png()))))
        await sees(pilot, "Alt+Up takes the last one back")
        strike(app, "draft")
        await pilot.press("alt+up")
        await until(pilot, lambda: composer.text == "look at [image b.png 3\xd72]\ndraft")
        assert session.commands == [Withdraw(session.state.seq)]
        session.play(ev.MessageWithdrawn(session.state.seq))
        await until(
            pilot, lambda: [say.content for say in app.conversation.desk.queued] == [(Text("first"),)]
        )
        await pilot.press("alt+enter")
        await until(pilot, lambda: len(session.commands) == 2)
        assert session.commands[1] == Say(
            (Text("look at [image b.png 3\xd72]\ndraft"), image(png())), "after"
        )


async def test_up_takes_back_what_waits_instead_of_saying_it_twice():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        composer = app.conversation.composer
        turn(session)
        composer.past.add("before")
        session.play(ev.MessageQueued((Text("that waits"),)))
        await sees(pilot, "↳ that waits")
        await pilot.press("up")
        await until(pilot, lambda: composer.text.strip() == "that waits")
        assert session.commands == [Withdraw(session.state.seq)]
        session.play(ev.MessageWithdrawn(session.state.seq))
        await until(pilot, lambda: not app.conversation.desk.queued)
        composer.clear()
        await pilot.press("up")
        await until(pilot, lambda: composer.text == "before")


async def test_what_waits_for_the_session_is_taken_back_too():
    async with screen(welcome=Welcome()) as (app, pilot):
        desk = app.conversation.desk
        desk.session = None
        desk.say("first")
        await sees(pilot, "when the session is open")
        await pilot.press("alt+up")
        await until(pilot, lambda: app.conversation.composer.text == "first")
        assert desk.unsent == []


async def test_a_message_that_is_gone_back_to_has_its_picture_still():
    """Also in another run, which never held it; a chip whose file nobody has any more is told."""
    session = FakeSession(SEES)
    said = (Text("look at [image b.png 3\xd72]"), image(png()))
    session.play(
        ev.TurnStarted("scripted-1"), ev.OperatorMessage(said), ev.TurnCompleted("completed", "stop")
    )
    async with screen(session) as (app, pilot):
        app.conversation.desk.take("/rewind 1 conversation")
        await until(pilot, lambda: app.conversation.composer.text == "look at [image b.png 3\xd72]")
        await pilot.press("enter")
        await until(pilot, lambda: len(session.commands) == 2)
        assert session.commands[1] == Say(said)
        app.conversation.composer.put("and [image gone.png 1\xd71]")
        await pilot.press("enter")
        await sees(pilot, "[image gone.png 1\xd71] went without its file")


async def test_what_was_pasted_names_no_files(shots: Path):
    """Else a text that somebody else wrote could give a picture of this machine away."""
    session = FakeSession(SEES)
    session.state.cwd = str(shots)
    pasted = "their words\n" * 30 + "see @b.png"
    async with screen(session) as (app, pilot):
        app.post_message(events.Paste(pasted))
        await until(pilot, lambda: app.conversation.composer.text == "[pasted 31 lines]")
        await pilot.press("enter")
        await until(pilot, lambda: session.commands)
        assert session.commands == [Say((Text(pasted),))]
