"""The keys of vi for the line one types into: a pure function of text, cursor and key; who holds the text applies it.

Motions h j k l w b e W B E 0 ^ $ gg G f F t T ; , with counts; operators d c y with them, with iw and aw, or doubled;
x X D C Y s S r ~ J p P u, i a I A o O. The clipboard of the system is not touched: what is cut or copied stays here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from agent_cli.tui.vi_motions import (
    STEPS,
    Span,
    found,
    indented,
    line_end,
    line_number,
    line_start,
    next_word,
    vertical,
    word_around,
)

OPERATORS = "dcy"
SEEKS = "fFtT"


class Done(NamedTuple):
    """What a key did: the cursor stands at `at`; where `text` is given, it stands for the characters `start` to `end`.

    `action` is one of those that the composer has anyhow.
    """

    at: int
    start: int = 0
    end: int = 0
    text: str | None = None
    action: Literal["", "undo", "redo", "up", "down"] = ""


class Vi:
    """`inserting` is the mode in which keys write. `waiting` are the keys of a command that is not whole yet."""

    def __init__(self) -> None:
        self.inserting = True
        self.waiting = ""
        self._held = ""
        self._held_lines = False
        self._sought = ("", "")

    def press(self, key: str, character: str | None, text: str, at: int) -> Done | None:
        """None where the key does what it does without vi."""
        if key == "escape":
            return self._escaped(text, at)
        if self.inserting or character is None or not character.isprintable():
            return self._redone(at) if key == "ctrl+r" and not self.inserting else None
        if not text and character in "/?!@#" and not self.waiting:
            self.inserting = True  # the beginning of a command
            return None
        self.waiting += character
        done = self._command(self.waiting, text, at)
        if done is None:
            return Done(at)
        self.waiting = ""
        return done if self.inserting else self._clamped(done, text)

    def begin(self) -> None:
        """Another text is begun."""
        self.inserting, self.waiting = True, ""

    def _escaped(self, text: str, at: int) -> Done | None:
        if self.inserting:
            self.inserting = False
            return Done(max(line_start(text, at), at - 1))
        if self.waiting:
            self.waiting = ""
            return Done(at)
        return None

    def _redone(self, at: int) -> Done:
        self.waiting = ""
        return Done(at, action="redo")

    def _clamped(self, done: Done, text: str) -> Done:
        """The cursor of the normal mode stands on a character, not behind the last of its line."""
        after = text if done.text is None else text[: done.start] + done.text + text[done.end :]
        at = max(0, min(done.at, len(after)))
        if at > line_start(after, at) and at == line_end(after, at):
            at -= 1
        return done._replace(at=at)

    def _command(self, keys: str, text: str, at: int) -> Done | None:
        """None where keys are still to come; keys that mean nothing do nothing."""
        times, rest, counted = _count(keys)
        if rest in ("", "r"):
            return None
        if rest[0] in OPERATORS:
            more, motion, again = _count(rest[1:])
            if not motion:
                return None
            span = self._span(rest[0], motion, text, at, times * more, counted=counted or again)
            return span if span is None else self._operated(rest[0], span, text, at)
        if rest[0] in _SHORT:
            return self._command(str(times) + _SHORT[rest[0]], text, at)
        simple = self._simple(rest, text, at, times)
        if simple is not None:
            return simple
        return self._moved(rest, text, at, times, counted=counted)

    def _moved(self, keys: str, text: str, at: int, times: int, *, counted: bool) -> Done | None:
        if keys in ("j", "k"):
            aim = vertical(text, at, times if keys == "j" else -times)
            return Done(at, action="down" if keys == "j" else "up") if aim is None else Done(aim)
        aim = self._motion(keys, text, at, times, counted=counted)
        return Done(at if aim < 0 else aim) if aim is not None else None

    def _motion(self, keys: str, text: str, at: int, times: int, *, counted: bool = False) -> int | None:
        """Where it leads; -1 where there is none such, None where a key is missing."""
        first = keys[0]
        if first in SEEKS or first in ";,":
            return self._seek(keys, text, at, times)
        if first == "g" and len(keys) == 1:
            return None
        if keys in ("G", "gg"):
            last = text.count("\n") if keys == "G" and not counted else times - 1
            return line_number(text, last)
        step = STEPS.get(keys)
        if step is None:
            return -1
        for _ in range(times):
            at = step(text, at)
        return at

    def _seek(self, keys: str, text: str, at: int, times: int) -> int | None:
        if keys[0] in SEEKS:
            if len(keys) == 1:
                return None
            self._sought = (keys[0], keys[1])
            how, what = self._sought
        else:
            how, what = self._sought
            how = how.swapcase() if keys == "," else how
        if not how:
            return -1
        aim, again = at, keys[0] in ";,"
        for _ in range(times):
            aim = found(text, aim, how, what, over=again)
            if aim < 0:
                return -1
        return aim

    def _span(
        self, operator: str, keys: str, text: str, at: int, times: int, *, counted: bool
    ) -> Span | None:
        if keys in ("i", "a"):
            return None
        if keys in (operator, "j", "k"):
            return _lines(keys, text, at, times)
        if keys[0] in "ia":
            return word_around(text, at, wide=keys[0] == "a") if keys[1] == "w" else Span(at, at)
        if operator == "c" and keys in ("w", "W"):  # as everywhere: to the end of the word, not to the next
            keys = "e" if keys == "w" else "E"
            if at < len(text) and text[at].isspace():
                return Span(at, next_word(text, at))
        aim = self._motion(keys, text, at, times, counted=counted)
        if aim is None or aim < 0:
            return None if aim is None else Span(at, at)
        low, high = sorted((at, aim))
        if keys in ("G", "gg"):
            return Span(line_start(text, low), line_end(text, high), lines=True)
        if keys in ("e", "E", "$") or keys[0] in "ft" or (keys[0] in ";," and aim > at):
            high = min(high + 1, len(text))
        if keys in ("w", "W") and "\n" in text[low:high]:
            high = low + text[low:high].index("\n") or high
        return Span(low, high)

    def _operated(self, operator: str, span: Span, text: str, at: int) -> Done:
        start, end, lines = span
        self._hold(text[start:end], lines=lines)
        if operator == "y":
            return Done(at if lines else start)
        if operator == "c":
            self.inserting = True
            return Done(start, start, end, "")
        if lines:
            if end < len(text):
                end += 1
            elif start > 0:
                start -= 1
        after = text[:start] + text[end:]
        place = indented(after, min(start + (1 if lines and end == len(text) and start else 0), len(after)))
        return Done(place if lines else start, start, end, "")

    def _hold(self, text: str, *, lines: bool) -> None:
        if text or lines:
            self._held, self._held_lines = text, lines

    def _simple(self, keys: str, text: str, at: int, times: int) -> Done | None:
        """A command of one key (or two), None where it is none."""
        first = keys[0]
        end = min(at + times, line_end(text, at))
        match first:
            case "r":
                return Done(max(end - 1, at), at, end, keys[1] * (end - at))
            case "i" | "a" | "I" | "A" | "o" | "O":
                return self._begun(first, text, at)
            case "u":
                return Done(at, action="undo")
            case "p" | "P":
                return self._put(first, text, at, times)
            case "~":
                return Done(end, at, end, text[at:end].swapcase())
            case "J":
                return _joined(text, at)
            case _:
                return None

    def _begun(self, key: str, text: str, at: int) -> Done:
        self.inserting = True
        start, end = line_start(text, at), line_end(text, at)
        match key:
            case "a":
                return Done(min(at + 1, end))
            case "I":
                return Done(indented(text, at))
            case "A":
                return Done(end)
            case "o":
                return Done(end + 1, end, end, "\n")
            case "O":
                return Done(start, start, start, "\n")
            case _:
                return Done(at)

    def _put(self, key: str, text: str, at: int, times: int) -> Done:
        if not self._held and not self._held_lines:
            return Done(at)
        if self._held_lines:
            whole = "\n".join([self._held] * times)
            if key == "P":
                start = line_start(text, at)
                return Done(start, start, start, whole + "\n")
            end = line_end(text, at)
            return Done(end + 1, end, end, "\n" + whole)
        place = min(at + 1, line_end(text, at)) if key == "p" else at
        put = self._held * times
        return Done(place + len(put) - 1, place, place, put)


_SHORT = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "Y": "yy", "s": "cl", "S": "cc"}


def _count(keys: str) -> tuple[int, str, bool]:
    """The number in front (1 for none), the rest, and whether there was one. 0 alone is a motion."""
    digits = 0
    while digits < len(keys) and keys[digits].isdecimal() and (digits or keys[0] != "0"):
        digits += 1
    return min(int(keys[:digits] or 1), 10_000), keys[digits:], digits > 0


def _lines(keys: str, text: str, at: int, times: int) -> Span:
    """The line and those below it (or, for j and k, as many as these go over); nothing where there are none."""
    if keys in ("j", "k"):
        other = vertical(text, at, times if keys == "j" else -times)
        low, high = sorted((at, at if other is None else other))
        return (
            Span(at, at) if other is None else Span(line_start(text, low), line_end(text, high), lines=True)
        )
    end = at
    for _ in range(times - 1):
        end = min(line_end(text, end) + 1, len(text))
    return Span(line_start(text, at), line_end(text, end), lines=True)


def _joined(text: str, at: int) -> Done:
    """The next line comes behind this one, a space between."""
    end = line_end(text, at)
    if end == len(text):
        return Done(at)
    after = end + 1
    while after < len(text) and text[after] in " \t":
        after += 1
    return Done(end, end, after, " ")
