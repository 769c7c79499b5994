"""Text that arrives in pieces."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.wire import is_list, is_object, is_too_deep
from agent_cli.providers.memo import json_bytes


class Pile:
    """Adds pieces up. Half of a surrogate pair at the end of a piece waits for its other half."""

    __slots__ = ("_half", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        """What there is to show now; "" where there is nothing."""
        if self._half:
            piece, self._half = self._half + piece, ""
        if not piece.isascii():
            if "\ud800" <= piece[-1] <= "\udbff":
                piece, self._half = piece[:-1], piece[-1]
            piece = _whole(piece)
        if piece:
            self._pieces.append(piece)
        return piece

    def text(self) -> str:
        return "".join(self._pieces)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def parsed(data: bytes | str, *, strict: bool = False) -> Any:
    """The JSON value. Raises ValueError.

    The second reader takes what the first refuses and some servers write: NaN (not where it is `strict`), and halves of
    surrogate pairs. In an event a half stays as it is: the next event may bring the other one.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        import json

        try:
            return json.loads(data, parse_constant=_refused if strict else None)
        except RecursionError:
            raise _too_deep() from None
    except RecursionError:
        raise _too_deep() from None


def mended(value: Any) -> Any:
    """With U+FFFD for halves of pairs: no path, no file and no request can hold them."""
    if isinstance(value, str):
        return _whole(value)
    if is_list(value):
        return [mended(item) for item in value]
    return {_whole(key): mended(item) for key, item in value.items()} if is_object(value) else value


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _too_deep() -> ValueError:
    return ValueError("it is nested too deeply to be read")


def arguments_of(raw: str) -> dict[str, Any] | None:
    """A call's arguments; no text at all means none, None that the text is no JSON object."""
    if not raw.strip():
        return {}
    try:
        value = parsed(raw, strict=True)
    except ValueError:
        return None
    return mended(value) if is_object(value) and not is_too_deep(value) else None


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as JSON text: exactly as they were written, unless that was no JSON or had to be mended.

    Some servers read the arguments of earlier calls, and refuse the request for ever where one is broken.
    """
    if call.arguments is None:
        return json_bytes({"_unparsed": call.raw}).decode()
    if call.raw.strip() and arguments_of(call.raw) == call.arguments:
        return call.raw
    return json_bytes(call.arguments).decode()
