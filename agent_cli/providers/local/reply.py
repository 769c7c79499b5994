"""`decode` for small models: the streamed JSON of one call, as text where it is the answer."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_cli.kernel.events import ArgumentsDelta, Finished, FinishReason, Piece, TextDelta
from agent_cli.kernel.messages import Said, Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.local.simple import ANSWER, ARGUMENTS, expanded

_OPENING = re.compile(r'\s*\{\s*"tool"\s*:\s*"(\w+)"\s*,\s*"args"\s*:\s*(?=\{)')
_ANSWER_OPENING = re.compile(r'\{\s*"answer"\s*:\s*"')
_HEX = "[0-9a-fA-F]"
_HIGH = rf"\\u[dD][89abAB]{_HEX}{{2}}"
_ESCAPE = re.compile(
    rf"{_HIGH}\\u[dD][c-fC-F]{_HEX}{{2}}"  # a pair
    rf"|{_HIGH}(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])"  # a first half that stays alone
    rf"|\\u(?![dD][89abAB]){_HEX}{{4}}"
    r'|\\["\\/bfnrt]'
)
_HALVES = re.compile("[\ud800-\udfff]")
_PLAIN = re.compile(r'[^"\\]+')
RUN_CHARS = 400
RUN_PERIOD = 100
RUN_STRIDE = 64
RAN_AWAY = "repetition"
_NAMES = ("tool", "name", "function")
_ARGUMENTS = ("args", "arguments", "parameters")


class Reply:
    """Fed the text of one reply as it comes; pure, however the text is split.

    The text deltas joined are the text of the finished message. `call_id` is given to the call, if it is one.
    """

    def __init__(self, call_id: str) -> None:
        self._call_id = call_id
        self._text = ""
        self._at = 0
        self._tool = ""
        self._in_answer = False
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._closed = False
        self._start = 0
        self.ran_away = False

    def feed(self, text: str) -> list[Piece]:
        """The pieces that this much more text makes certain; none any more once the model repeats itself."""
        if self.ran_away:
            return []
        known, self._text = len(self._text), self._text + text
        for end in range(known - known % RUN_STRIDE + RUN_STRIDE, len(self._text) + 1, RUN_STRIDE):
            if runs_away(self._text[:end]):
                self.ran_away, self._text = True, self._text[:end]
                break
        if not self._tool and not self._open():
            return []
        shown = self._answer() if self._tool == ANSWER else self._arguments()
        if not shown:
            return []
        if self._tool == ANSWER:
            return [TextDelta(shown)]
        return [ArgumentsDelta(self._call_id, self._tool, shown)]

    def finish(self, usage: Usage, model: str, native_reason: str, response_id: str = "") -> Finished:
        """The message as far as it came. A call that was cut off has no arguments, only its raw text."""
        parts = self._parts()
        called = any(isinstance(part, ToolCall) for part in parts)
        reason: FinishReason = "tool-calls" if called else "stop"
        if native_reason == "length" or (native_reason == RAN_AWAY and called):
            reason = "length"
        return Finished(parts, usage, model, reason, native_reason, response_id)

    def _open(self) -> bool:
        opening = _OPENING.match(self._text)
        if opening:
            self._tool, self._at = opening.group(1), opening.end()
            self._start = self._at
        return bool(opening)

    def _answer(self) -> str:
        """Characters of the answer that are complete."""
        if not self._in_answer:
            opening = _ANSWER_OPENING.match(self._text, self._at)
            if not opening:
                return ""
            self._in_answer, self._at = True, opening.end()
        shown: list[str] = []
        while not self._closed:
            if plain := _PLAIN.match(self._text, self._at):
                shown.append(plain.group())
                self._at = plain.end()
            elif escape := _ESCAPE.match(self._text, self._at):
                shown.append(_unescaped(escape.group()))
                self._at = escape.end()
            elif self._text.startswith('"', self._at):
                self._closed = True
            else:
                break
        return "".join(shown)

    def _arguments(self) -> str:
        """The text of the arguments object, up to its closing brace."""
        start = self._at
        while self._at < len(self._text) and not self._closed:
            self._step(self._text[self._at])
            self._at += 1
        return self._text[start : self._at]

    def _step(self, character: str) -> None:
        if self._in_string:
            if self._escaped:
                self._escaped = False
            elif character == "\\":
                self._escaped = True
            elif character == '"':
                self._in_string = False
        elif character == '"':
            self._in_string = True
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self._closed = self._depth == 0

    def _parts(self) -> tuple[Said, ...]:
        call = parsed(self._text)
        if call is None and self._tool == ANSWER:
            cut_off = Reply("")
            shown = "".join(piece.text for piece in cut_off.feed(self._text) if isinstance(piece, TextDelta))
            return (Text(shown),) if shown else ()
        if call is None and self._tool:
            return (ToolCall(self._call_id, self._tool, None, self._text[self._start :]),)
        if call is None:
            return (Text(self._text),) if self._text.strip() else ()
        name, arguments = call
        if name == ANSWER:
            answer = _whole(str(arguments.get("answer", "")))
            return (Text(answer),) if answer else ()
        real = expanded(name, arguments)
        return (ToolCall(self._call_id, name, real, json.dumps(real, ensure_ascii=False)),)


class LocalDecoder:
    """Fed every event of one streamed chat completion of llama-server; `{"done": True}` stands for `[DONE]`.

    Also done where the model only repeats itself; the caller ends the generation by leaving.
    """

    def __init__(self, model: str, call_id: str) -> None:
        self.done = False
        self._model = model
        self._reply = Reply(call_id)
        self._usage = Usage()
        self._reason = ""
        self._id = ""
        self._tokens = 0

    def feed(self, event: dict[str, Any], /) -> list[Piece]:
        if event.get("done") is True:
            self.done = True
            return []
        self._id = self._id or str(event.get("id") or "")
        self._usage = _usage(event.get("usage")) or self._usage
        choices = event.get("choices")
        choice = choices[0] if is_list(choices) and choices else None
        if not is_object(choice):
            return []
        self._reason = str(choice.get("finish_reason") or self._reason)
        delta = choice.get("delta")
        content = delta.get("content") if is_object(delta) else None
        if not isinstance(content, str):
            return []
        self._tokens += 1
        pieces = self._reply.feed(content)
        if self._reply.ran_away:
            self.done, self._reason, self._usage = True, RAN_AWAY, Usage(output=self._tokens)
        return pieces

    def finished(self) -> Finished | None:
        """None while the reason of the end is missing."""
        if not self._reason:
            return None
        return self._reply.finish(self._usage, self._model, self._reason, self._id)


def _usage(reported: Any) -> Usage | None:
    if not is_object(reported):
        return None
    details = reported.get("prompt_tokens_details")
    cached = int(details.get("cached_tokens") or 0) if is_object(details) else 0
    prompt, output = int(reported.get("prompt_tokens") or 0), int(reported.get("completion_tokens") or 0)
    return Usage(input=prompt - cached, cache_read=cached, output=output)


def runs_away(text: str) -> bool:
    """True where the last `RUN_CHARS` characters are one short piece again and again: greedy sampling sticks there."""
    tail = text[-RUN_CHARS:]
    return len(tail) == RUN_CHARS and any(
        tail[period:] == tail[:-period] for period in range(1, RUN_PERIOD + 1)
    )


def parsed(text: str) -> tuple[str, dict[str, Any]] | None:
    """The call in a text: the whole text, or the first object in it that names a known tool.

    Models that the schema does not hold write fences, tags, doubled braces, or other keys.
    """
    decoder = json.JSONDecoder(strict=False)
    for brace in re.finditer(r"\{", text):
        try:
            found, _ = decoder.raw_decode(text, brace.start())
        except ValueError:
            continue
        call = _as_call(found)
        if call:
            return call
    return None


def _as_call(found: Any) -> tuple[str, dict[str, Any]] | None:
    if not is_object(found):
        return None
    name = next((found[key] for key in _NAMES if key in found), None)
    arguments = next((found[key] for key in _ARGUMENTS if key in found), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if isinstance(name, str) and name in ARGUMENTS and is_object(arguments):
        return name, {
            key: _whole(value) if isinstance(value, str) else value for key, value in arguments.items()
        }
    return None


def _unescaped(escape: str) -> str:
    return _whole(json.loads(f'"{escape}"'))


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which nothing can encode."""
    return _HALVES.sub("\ufffd", text)
