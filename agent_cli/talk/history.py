"""Earlier messages of a project, in a file that only grows at its end."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

LIMIT = 500
"""Messages that are kept."""
LONGEST = 20_000
"""Characters; a longer message is not kept."""


class History:
    """`older` and `newer` walk through it, starting from a draft that is given back at the end.

    One JSON string a line, without secrets. A file that cannot be read or written costs the memory, never the message:
    `trouble` says what went wrong.
    """

    def __init__(self, path: str = "") -> None:
        self._path = Path(path) if path else None
        self._texts: list[str] | None = None
        self._at = 0
        self._draft = ""
        self.trouble = ""

    def add(self, text: str) -> None:
        texts = self._load()
        if text.strip() and len(text) <= LONGEST and texts[-1:] != [text]:
            texts.append(text)
            self._write(_encoded(_discreet(text)), "a")
        self._at = len(texts)

    def older(self, current: str) -> str | None:
        """The message before; None where there is none."""
        texts = self._load()
        if self._at == 0:
            return None
        if self._at >= len(texts):
            self._draft = current
        self._at -= 1
        return texts[self._at]

    def newer(self) -> str | None:
        texts = self._load()
        if self._at >= len(texts):
            return None
        self._at += 1
        return texts[self._at] if self._at < len(texts) else self._draft

    def matching(self, sought: str) -> list[str]:
        """Messages that hold the text, the newest first, each once."""
        wanted = sought.casefold()
        return list(dict.fromkeys(text for text in reversed(self._load()) if wanted in text.casefold()))

    def rewind(self) -> None:
        """The next `older` starts from the newest."""
        self._at = len(self._load())

    def _load(self) -> list[str]:
        if self._texts is None:
            self._texts = self._read()
            self._at = len(self._texts)
        return self._texts

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            lines = self._path.read_text("utf-8", "replace").split("\n")
        except FileNotFoundError:
            return []
        except OSError as problem:
            self.trouble = f"the earlier messages in {self._path} cannot be read: {problem.strerror}"
            return []
        texts = [text for line in lines if (text := _decoded(line))]
        if len(texts) > 2 * LIMIT:
            texts = texts[-LIMIT:]
            self._write("".join(map(_encoded, texts)), "w")
        return texts[-LIMIT:]

    def _write(self, text: str, how: str) -> None:
        """Appends, or replaces all of it at once."""
        if self._path is None:
            return
        target = self._path if how == "a" else self._path.with_suffix(f".{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if how == "a" else os.O_TRUNC)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(target, flags, 0o600), how, encoding="utf-8") as file:  # noqa: PTH123  a mode of its own
                file.write(text)
            if how == "w":
                target.replace(self._path)
        except OSError as problem:
            self.trouble = f"messages are not remembered: {self._path}: {problem.strerror}"


def _discreet(text: str) -> str:
    from agent_cli.guardrails.secrets.scan import redacted  # not before something is said

    return redacted(text)


def _encoded(text: str) -> str:
    return msgspec.json.encode(text.encode("utf-8", "replace").decode()).decode() + "\n"


def _decoded(line: str) -> str:
    try:
        return msgspec.json.decode(line, type=str) if line else ""
    except msgspec.MsgspecError:  # cut off by a crash
        return ""
