"""What is piped in: read to its end, bounded, never mistaken for text."""

from __future__ import annotations

import os
import socket
import tempfile
import threading

import pytest

from agent_cli.cli import piped
from agent_cli.cli.piped import MENDED, SKIPPED, WAITING, read_piped
from agent_cli.cli.values import UsageError


def from_file(content: bytes):
    notes: list[str] = []
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return read_piped(notes.append, prompt_given=True, descriptor=file.fileno()), notes


def test_text_is_taken_as_it_is():
    assert from_file("ünï\r\n".encode()) == ("ünï\r\n", [])
    assert from_file(b"\xef\xbb\xbfx") == ("x", [])
    assert from_file(b"") == ("", [])


def test_what_is_not_utf8_is_replaced_and_said():
    assert from_file(b"caf\xe9") == ("caf\ufffd", [MENDED])


def test_binary_is_refused():
    with pytest.raises(UsageError, match="binary"):
        from_file(b"\x7fELF\0\0")


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(piped, "MOST_BYTES", 1_000)
    with pytest.raises(UsageError, match="larger than 1,000 bytes"):
        from_file(b"x" * 1_001)
    assert from_file(b"x" * 1_000)[0] == "x" * 1_000


def test_a_pipe_is_waited_for_with_a_word_about_it(monkeypatch):
    monkeypatch.setattr(piped, "PATIENCE", 0.01)
    reader, writer = os.pipe()
    noted = threading.Event()
    notes: list[str] = []

    def note(text):
        notes.append(text)
        noted.set()

    def write():
        noted.wait(10)
        os.write(writer, b"late")
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert read_piped(note, prompt_given=True, descriptor=reader) == "late"
    assert notes == [WAITING]
    thread.join()
    os.close(reader)


def test_a_socket_that_nobody_writes_to_is_given_up(monkeypatch):
    monkeypatch.setattr(piped, "PATIENCE", 0.01)
    ours, theirs = socket.socketpair()
    notes: list[str] = []
    with ours, theirs:
        assert read_piped(notes.append, prompt_given=True, descriptor=ours.fileno()) == ""
        assert notes == [SKIPPED]
        theirs.sendall(b"said")
        theirs.shutdown(socket.SHUT_WR)
        assert read_piped(notes.append, prompt_given=True, descriptor=ours.fileno()) == "said"


def test_a_terminal_is_never_read():
    leader, follower = os.openpty()
    assert read_piped(pytest.fail, prompt_given=False, descriptor=follower) == ""
    os.close(leader)
    os.close(follower)


def test_a_closed_stdin_is_empty():
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    assert read_piped(pytest.fail, prompt_given=True, descriptor=reader) == ""


def test_a_directory_as_stdin_is_said_to_be_unreadable(tmp_path):
    directory = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(UsageError, match="cannot be read"):
        read_piped(lambda _: None, prompt_given=True, descriptor=directory)
    os.close(directory)
