"""What a shell line would run, as far as that can be told without a shell.

`read_command` answers only for lines of which every word is certain, and None for the rest: expansions,
globs, redirections to files, background, groups, comments, anything unbalanced. `scan` guesses for any
line, and sees more commands rather than fewer: its segments serve refusals, never permissions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agent_cli.permissions.runners import BEHIND, PREFIXES, SHELLS, lines_of, starts

Words = tuple[str, ...]


class Commands(NamedTuple):
    """Simple commands in order; `joints[i]` (`&&`, `||`, `|` or `;`) stands between i and i + 1."""

    simple: tuple[Words, ...]
    joints: tuple[str, ...]


class Segment(NamedTuple):
    """One command of a line: its words without quotes, the files it is redirected to and from."""

    words: Words
    targets: Words = ()
    sources: Words = ()
    joint: str = ""


class Scan(NamedTuple):
    """`found` stand in the line itself, `nested` in substitutions and here-documents."""

    found: tuple[Segment, ...]
    nested: tuple[Segment, ...]
    certain: bool

    @property
    def segments(self) -> tuple[Segment, ...]:
        return (*self.found, *self.nested)


_RESERVED = frozenset({
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function",
    "select", "in", "!", "time", "coproc", "[[", "]]", "{", "}",
})  # fmt: skip
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>(){}*?\[~#\x00-\x1f\x7f]+")
_REDIRECTION = re.compile(r"&>>?|>>|>\||>&|<<<|<<-?|<&|<>|<|>")
_DUPLICATE = re.compile(r"(?:\d+|-)(?![^\s;&|<>()])")
_DELIMITER = re.compile(r"[ \t]*(?:'([^']*)'|\"([^\"]*)\"|(\\?[^\s;&|<>()]+))")
_SAFE_WORD = re.compile(r"[\w@%+=:,./~^-]+")
_DEPTH = 5
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


def read_command(line: str) -> Commands | None:
    """The simple commands of a line whose every word is literal; None where that cannot be told."""
    found = scan(line)
    if not found.certain or not found.found:
        return None
    simple = tuple(segment.words for segment in found.found)
    return Commands(simple, tuple(segment.joint for segment in found.found[:-1]))


def unwrapped(words: Words) -> Iterator[Words]:
    """A command, and what may stand behind assignments, `sudo`, `env`, `xargs`, `sh -c` and their like."""
    yield from _unwrapped(words, 0)


def trimmed(line: str) -> str:
    """Without what a shell passes over at both ends: to it, a no-break space or a vertical tab is part of a word."""
    return line.strip(" \t\n")


def joined(words: Words) -> str:
    """One line of these words; those that a shell would split or expand are quoted."""
    return " ".join(word if _SAFE_WORD.fullmatch(word) else f"'{word}'" for word in words)


def verb_of(words: Words) -> str:
    """The program's name without its directory."""
    return words[0].rpartition("/")[2] if words else ""


def _unwrapped(words: Words, depth: int) -> Iterator[Words]:
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words:
        return
    verb = verb_of(words)
    yield (verb, *words[1:])
    if depth > _DEPTH or words[1:2] in (("-v",), ("-V",)):
        return
    yield from _lines_in(verb, words, depth)
    looked = False
    for start in starts(verb, words):
        inner = words[start:]
        named = verb_of(inner)
        yield (named or inner[0], *inner[1:])
        if named in PREFIXES or _ASSIGNMENT.match(inner[0]):
            yield from _unwrapped(inner, depth + 1)
            break
        if named in BEHIND and not looked:
            looked = True
            yield from _lines_in(named, inner, depth)


def _lines_in(verb: str, words: Words, depth: int) -> Iterator[Words]:
    for word in lines_of(verb, words):
        if not _SAFE_WORD.fullmatch(word):
            for segment in scan(word).segments:
                yield from _unwrapped(segment.words, depth + 1)


@lru_cache(256)
def scan(line: str, depth: int = 0) -> Scan:
    return _Scanner(trimmed(line), depth).run()


class _Scanner:
    """One pass over the characters. `certain` falls at the first thing that a shell would have to work out."""

    def __init__(self, line: str, depth: int) -> None:
        self.line = line
        self.depth = depth
        self.at = self.begun = 0
        self.certain = bool(line)
        self.word: list[str] | None = None
        self.words: list[str] = []
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.awaiting = ""
        self.found: list[Segment] = []
        self.nested: list[Segment] = []
        self.heredocs: list[tuple[str, bool]] = []
        self.bodies: list[tuple[str, bool]] = []

    def run(self) -> Scan:
        while self.at < len(self.line):
            self._step(self.line[self.at])
        self._end_segment("")
        if self.found and self.found[-1].joint not in ("", ";"):
            self.certain = False
        self._read_bodies()
        return Scan(tuple(self.found), tuple(self.nested), self.certain)

    def _step(self, char: str) -> None:
        plain = _PLAIN.match(self.line, self.at)
        if plain is not None:
            self._add(plain.group())
            self.at = plain.end()
        elif char in " \t":
            self._end_word()
            self.at += 1
        elif char in "'\"\\$`":
            self._quoting(char)
        elif char in ";&|\n()":
            self._operator(char)
        elif char in "<>":
            self._redirection()
        else:
            self._odd(char)

    # ── words ──

    def _add(self, text: str) -> None:
        if self.word is None:
            self.word, self.begun = [], self.at
        self.word.append(text)

    def _end_word(self) -> None:
        if self.word is None:
            return
        text = "".join(self.word)
        self.word = None
        if not self.awaiting:
            self.words.append(text)
            return
        if self.awaiting == "<<<":
            self.bodies.append((text, True))
            self.awaiting = ""
            return
        kept = self.sources if self.awaiting == "<" else self.targets
        if text not in HARMLESS_TARGETS or (kept is self.sources and text != "/dev/null"):
            kept.append(text)
            self.certain = False
        self.awaiting = ""

    def _end_segment(self, joint: str) -> None:
        self._end_word()
        if self.awaiting:
            self.certain = False
            self.awaiting = ""
        if not self.words:
            self.certain = self.certain and joint == "" and bool(self.found)
            if not self.targets and not self.sources:
                return
        elif self.words[0] in _RESERVED or _ASSIGNMENT.match(self.words[0]):
            self.certain = False
        self.found.append(Segment(tuple(self.words), tuple(self.targets), tuple(self.sources), joint))
        self.words, self.targets, self.sources = [], [], []

    # ── single characters ──

    def _odd(self, char: str) -> None:
        rest = self.line[self.at + 1 :]
        if char == "#" and self.word is None:
            end = rest.find("\n")
            self.at = len(self.line) if end < 0 else self.at + 1 + end
            self.certain = False
            return
        opens = self.word is None
        alone = opens and (not rest or rest[0] in " \t;&|")
        if char == "~":
            self.certain = self.certain and (not opens or alone or rest[0] == "/")
        elif char != "#" and not (char == "[" and alone and not self.words):
            self.certain = False
        self._add(char)
        self.at += 1

    def _operator(self, char: str) -> None:
        pair = self.line[self.at : self.at + 2]
        if char == "&" and pair == "&>":
            self._redirection()
            return
        if pair in ("&&", "||"):
            self._end_segment(pair)
            self.at += 2
            return
        if char not in ";|" or pair in (";;", "|&", ";&"):
            self.certain = False
        self._end_segment(char if char in ";|" else ";")
        self.at += 2 if pair in (";;", "|&") else 1
        if char == "\n":
            self._take_heredocs()

    # ── quotes and substitutions ──

    def _quoting(self, char: str) -> None:
        if char == "'":
            end = self.line.find("'", self.at + 1)
            self._add(self.line[self.at + 1 : end if end >= 0 else None])
            self.certain = self.certain and end >= 0
            self.at = end + 1 if end >= 0 else len(self.line)
        elif char == '"':
            self._double_quoted()
        elif char == "\\":
            escaped = self.line[self.at + 1 : self.at + 2]
            if escaped != "\n":
                self._add(escaped)
            self.certain = self.certain and bool(escaped)
            self.at += 2
        elif char == "`":
            self._backtick()
        else:
            self._dollar(quoted=False)

    def _double_quoted(self) -> None:
        self._add("")
        self.at += 1
        while self.at < len(self.line):
            char = self.line[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "$":
                self._dollar(quoted=True)
            elif char == "`":
                self._backtick()
            else:
                follows = self.line[self.at + 1 : self.at + 2]
                escaped = char == "\\" and follows != "" and follows in '$`"\\\n'
                self._add("" if escaped and follows == "\n" else follows if escaped else char)
                self.at += 2 if escaped else 1
        self.certain = False

    def _backtick(self) -> None:
        end = self.line.find("`", self.at + 1)
        end = len(self.line) if end < 0 else end
        self._nest(self.line[self.at + 1 : end])
        self.at = end + 1

    def _dollar(self, *, quoted: bool) -> None:
        """`$` before a quote, a blank or punctuation stands for itself, as in `grep "x$"`."""
        follows = self.line[self.at + 1 : self.at + 2]
        if follows in ("(", "{"):
            end = _closing(self.line, self.at + 1)
            inner = self.line[self.at + 2 : end]
            if follows == "(" or "$(" in inner or "`" in inner:
                self._nest(inner)
            self.certain = False
            self._add(f"${{{inner}}}" if follows == "{" else "")
            self.at = end + 1
            return
        stands_for_itself = ('"', "|", "/", ")", " ") if quoted else ("", " ")
        self.certain = self.certain and follows in stands_for_itself
        self._add("" if follows in ("'", '"') and not quoted else "$")
        self.at += 1

    def _nest(self, text: str) -> None:
        self.certain = False
        self._add("")
        if self.depth < _DEPTH:
            self.nested.extend(scan(text, self.depth + 1).segments)

    # ── redirections ──

    def _redirection(self) -> None:
        found = _REDIRECTION.match(self.line, self.at)
        if found is None:
            self.certain = False
            self.at += 1
            return
        operator, self.at = found.group(), found.end()
        if self.word is not None and self.line[self.begun : found.start()].isdigit():
            self.word = None  # the number of a stream
        self._end_word()
        duplicate = _DUPLICATE.match(self.line, self.at)
        if operator in (">&", "<&") and duplicate is not None:
            self.at = duplicate.end()
        elif operator in ("<<", "<<-"):
            self._heredoc()
        elif operator == "<<<":
            self.certain, self.awaiting = False, operator
        else:
            self.certain = self.certain and not self.awaiting and operator != "<>"
            self.awaiting = "<" if operator == "<" else ">"

    def _heredoc(self) -> None:
        self.certain = False
        found = _DELIMITER.match(self.line, self.at)
        if found is None:
            return
        single, double, bare = found.groups()
        quoted = bare is None or bare.startswith("\\")
        self.heredocs.append((single or double or (bare or "").lstrip("\\"), quoted))
        self.at = found.end()

    def _take_heredocs(self) -> None:
        for delimiter, quoted in self.heredocs:
            body: list[str] = []
            while self.at < len(self.line):
                end = self.line.find("\n", self.at)
                end = len(self.line) if end < 0 else end
                text = self.line[self.at : end]
                self.at = end + 1
                if text.strip("\t") == delimiter:
                    break
                body.append(text)
            self.bodies.append(("\n".join(body), quoted))
        self.heredocs.clear()

    def _read_bodies(self) -> None:
        """A here-document is commands where a shell reads it, and else text that may hold substitutions."""
        runs = any(words[0] in SHELLS for segment in self.found for words in unwrapped(segment.words))
        for body, quoted in self.bodies:
            if runs:
                self._nest(body)
            elif not quoted:
                for found in re.finditer(r"\$\(|`", body):
                    end = _closing(body, found.start() + 1) if found.group() != "`" else len(body)
                    self._nest(body[found.end() : end])


def _closing(text: str, start: int) -> int:
    """Where the bracket at `start` closes, the end of the text if nowhere."""
    opens = text[start]
    closes = ")" if opens == "(" else "}"
    depth = 0
    for at in range(start, len(text)):
        if text[at] == opens:
            depth += 1
        elif text[at] == closes:
            depth -= 1
            if depth == 0:
                return at
    return len(text)
