"""Text files as bytes: encoding, byte order mark, line endings."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.tools.charsets import guess, is_broken_utf8

SAMPLE = 65_536
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
READABLE = "\ufffd"
_ESCAPED = re.compile("[\udc80-\udcff]")
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})


class Form(NamedTuple):
    """How a text stands on disk. `errors` keeps bytes that are none of the encoding.

    Not `sure`: the bytes do not say which encoding it is; they stay as they are, and nothing beyond ASCII is added.
    """

    encoding: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"
    sure: bool = True

    @property
    def name(self) -> str:
        if not self.sure:
            return "an encoding that cannot be told, shown as latin-1"
        if self.errors != "strict":
            return f"{self.encoding} with broken bytes, shown as {READABLE}"
        return f"{self.encoding} with byte order mark" if self.mark else self.encoding

    @property
    def is_plain(self) -> bool:
        """Nothing about it is worth saying."""
        return self.encoding == "utf-8" and self.errors == "strict"


def form_of(sample: bytes) -> Form | None:
    """The form of a file that begins like this, None for what is no text."""
    form = _marked(sample) or _wide(sample)
    if form is not None or _is_binary(sample):
        return form
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _other(sample)
    return Form()


def decode(raw: bytes) -> tuple[str, Form] | None:
    """The text and its form, such that `encode` gives the same bytes again; None for what is no text."""
    form = _marked(raw) or _wide(raw)
    if form is None and (b"\0" in raw or _is_binary(raw[:SAMPLE])):
        return None
    form = form or Form()
    try:
        return raw[len(form.mark) :].decode(form.encoding), form
    except UnicodeDecodeError:
        if form.encoding != "utf-8":
            return None
    form = form._replace(errors="surrogateescape") if form.mark else _other(raw)
    return raw[len(form.mark) :].decode(form.encoding, form.errors), form


def readable(text: str) -> str:
    """The text with a sign in place of each byte that is none of its encoding."""
    return text if text.isascii() else _ESCAPED.sub(READABLE, text)


def _marked(raw: bytes) -> Form | None:
    return next((Form(encoding, mark) for mark, encoding in _MARKS if raw.startswith(mark)), None)


def _wide(raw: bytes) -> Form | None:
    """UTF-16 without a mark: every second byte of text in western letters is 0, and no other."""
    sample = raw[:SAMPLE]
    if len(raw) < 8 or len(raw) % 2:
        return None
    for encoding, at in (("utf-16-le", 1), ("utf-16-be", 0)):
        if sample[1 - at :: 2].count(0) == 0 and sample[at::2].count(0) * 10 >= len(sample) * 4:
            text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
            if all(char.isprintable() or char in "\t\n\r\f" for char in text):
                return Form(encoding)
    return None


def _is_binary(sample: bytes) -> bool:
    odd = len(sample) - len(sample.translate(None, _CONTROL))
    return b"\0" in sample or odd > 2 + len(sample) // 20


def _other(raw: bytes) -> Form:
    """Of what is no sound UTF-8."""
    if is_broken_utf8(raw):
        return Form(errors="surrogateescape")
    guessed = guess(raw)
    return Form(guessed.encoding, sure=guessed.sure)


def encode(text: str, form: Form, before: str = "") -> bytes:
    """`before` is what the file held. Raises ToolError naming the first character that the encoding does not have."""
    if not form.sure:
        _check_adds_nothing(text, before)
    try:
        return form.mark + text.encode(form.encoding, form.errors)
    except UnicodeEncodeError as problem:
        line = text.count("\n", 0, problem.start) + 1
        raise ToolError(
            f"The file is stored as {form.encoding}, which has no {text[problem.start]!r} (line {line} of the new "
            "text). Nothing was written: use characters of that encoding, or convert the file to UTF-8 first."
        ) from None


def _check_adds_nothing(text: str, before: str) -> None:
    """Refuses characters beyond ASCII that would stand for other ones in the encoding of the file."""
    added = Counter(char for char in text if char > "\x7f") - Counter(
        char for char in before if char > "\x7f"
    )
    if added:
        raise ToolError(
            f"Which encoding the file is stored in cannot be told, so {next(iter(added))!r} cannot be written to it. "
            "Nothing was written: add only ASCII characters, or convert the file to UTF-8 first."
        )


class Endings:
    """The line endings of a text, kept while the text is edited with plain new lines."""

    def __init__(self, text: str) -> None:
        pairs, lines = text.count("\r\n"), text.count("\n")
        self.usual = "\r\n" if pairs * 2 > lines else "\n"
        if is_old_mac(text):
            self.usual = "\r"
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
            return flat if self.usual == "\n" else flat.replace("\n", self.usual)
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


def is_old_mac(text: str) -> bool:
    """Lines end in a carriage return alone."""
    return "\r" in text and "\n" not in text


def flat(text: str) -> str:
    """The text of a file with plain line endings."""
    if "\r" not in text:
        return text
    return text.replace("\r", "\n") if "\n" not in text else text.replace("\r\n", "\n")


def plain(text: str) -> str:
    """A text of the model with plain line endings."""
    return text.replace("\r\n", "\n")
