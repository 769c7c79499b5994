"""What a terminal sends, on its way to Textual's reader of keys (8.x), in the form that it understands.

It would end a paste at an escape within it and take the rest for keys; of Alt+Enter, and of keys as xterm and tmux write
them with modifiers, it would make other keys.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder

START, END = "\x1b[200~", "\x1b[201~"
ESCAPE, MARK = "\x1b", "\ue01b"
"""What stands for an escape within a paste, on its way through that reader: a character that nobody has a use for."""


ALT_ENTER = ("\x1b\r", "\x1b[13;3u")
"""As most terminals send it, and as it is read."""
MODIFIED = re.compile("\x1b\\[27;([0-9]+);([0-9]+)~")


class Decoder:
    """Bytes of the terminal as text. What is no UTF-8 is replaced, escapes within a paste become MARK."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._inside = False
        self._tail = ""  # the end of what was given out, which may begin a paste
        self._held = ""  # the end of what came, which may end one

    def decode(self, data: bytes, final: bool = False) -> str:
        text = self._held + self._decoder.decode(data, final)
        self._held, given = "", ""
        while text:
            part, text = self._inner(text, final=final) if self._inside else self._outer(text)
            given += part
        return given

    def _outer(self, text: str) -> tuple[str, str]:
        """Up to where a paste begins, and the rest."""
        joined = self._tail + text
        at = joined.find(START)
        if at < 0:
            self._tail = joined[1 - len(START) :]
            return _keys(text), ""
        self._inside = True
        end = at + len(START) - len(self._tail)
        self._tail = ""
        return _keys(text[:end]), text[end:]

    def _inner(self, text: str, *, final: bool) -> tuple[str, str]:
        """Up to where the paste ends, and the rest."""
        at = text.find(END)
        if at >= 0:
            self._inside = False
            return text[:at].replace(ESCAPE, MARK) + END, text[at + len(END) :]
        kept = (
            0
            if final
            else next((size for size in range(len(END) - 1, 0, -1) if text.endswith(END[:size])), 0)
        )
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept].replace(ESCAPE, MARK), ""


def _keys(text: str) -> str:
    return MODIFIED.sub("\x1b[\\2;\\1u", text.replace(*ALT_ENTER)) if ESCAPE in text else text


def whole(pasted: str) -> str:
    """What was pasted, its escapes in their places."""
    return pasted.replace(MARK, ESCAPE)
