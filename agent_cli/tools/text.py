"""Text files as bytes: encoding, byte order mark, line endings."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from agent_cli.kernel.errors import ToolError

SAMPLE = 65_536
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})


class Form(NamedTuple):
    """How a text stands on disk."""

    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def name(self) -> str:
        return f"{self.encoding} with byte order mark" if self.mark else self.encoding


def form_of(sample: bytes) -> Form | None:
    """The form of a file that begins like this, None for what is no text."""
    marked = _marked(sample)
    if marked is not None or _is_binary(sample):
        return marked
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _single_byte(sample)
    return Form()


def decode(raw: bytes) -> tuple[str, Form] | None:
    """The text and its form, such that `encode` gives the same bytes again; None for what is no text."""
    form = _marked(raw)
    if form is None and (b"\0" in raw or _is_binary(raw[:SAMPLE])):
        return None
    try:
        return raw[len(form.mark) if form else 0 :].decode(form.encoding if form else "utf-8"), form or Form()
    except UnicodeDecodeError:
        if form is not None:
            return None
    form = _single_byte(raw)
    return raw.decode(form.encoding), form


def _marked(raw: bytes) -> Form | None:
    return next((Form(encoding, mark) for mark, encoding in _MARKS if raw.startswith(mark)), None)


def _is_binary(sample: bytes) -> bool:
    odd = len(sample) - len(sample.translate(None, _CONTROL))
    return b"\0" in sample or odd > 2 + len(sample) // 20


def _single_byte(raw: bytes) -> Form:
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return Form("latin-1")
    return Form("cp1252")


def encode(text: str, form: Form) -> bytes:
    """Raises ToolError naming the first character that the encoding does not have."""
    try:
        return form.mark + text.encode(form.encoding)
    except UnicodeEncodeError as problem:
        line = text.count("\n", 0, problem.start) + 1
        raise ToolError(
            f"The file is stored as {form.encoding}, which has no {text[problem.start]!r} (line {line} of the new "
            "text). Nothing was written: use characters of that encoding, or convert the file to UTF-8 first."
        ) from None


class Endings:
    """The line endings of a text, kept while the text is edited with plain new lines."""

    def __init__(self, text: str) -> None:
        pairs, lines = text.count("\r\n"), text.count("\n")
        self.usual = "\r\n" if pairs * 2 > lines else "\n"
        self._each: list[str] | None = None
        if pairs not in (0, lines):
            self._each = ["\r\n" if line.endswith("\r") else "\n" for line in text.split("\n")[:-1]]

    def splice(self, flat: str, start: int, end: int, new: str) -> str:
        """`flat` with that part replaced; lines that the two have in common at either end keep their endings."""
        if self._each is not None:
            first = flat.count("\n", 0, start)
            count = flat.count("\n", start, end)
            old = self._each[first : first + count]
            around = self._each[max(0, first - 1) : first + count + 1]
            self._each[first : first + count] = self._aligned(flat[start:end], new, old, around)
        return flat[:start] + new + flat[end:]

    def restore(self, flat: str) -> str:
        if self._each is None:
            return flat if self.usual == "\n" else flat.replace("\n", "\r\n")
        lines = flat.split("\n")
        return "".join(line + end for line, end in zip(lines, [*self._each, ""], strict=True))

    def _aligned(self, before: str, after: str, old: list[str], around: list[str]) -> list[str]:
        was, now = before.split("\n")[:-1], after.split("\n")[:-1]
        head = 0
        while head < min(len(was), len(now)) and was[head] == now[head]:
            head += 1
        tail = 0
        while tail < min(len(was), len(now)) - head and was[-1 - tail] == now[-1 - tail]:
            tail += 1
        middle = old[head : len(old) - tail]
        filler = (middle or old or around or [self.usual])[-1]
        wanted = len(now) - head - tail
        filled = (middle + [filler] * wanted)[:wanted]
        return old[:head] + filled + old[len(old) - tail :]


def flat(text: str) -> str:
    """The text with plain line endings."""
    return text.replace("\r\n", "\n") if "\r\n" in text else text
