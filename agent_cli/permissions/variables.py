"""What words of a shell line become by the variables that the line itself sets: `x=private/f; cat $x`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from agent_cli.permissions.shell import Segment, scan

_SET = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_USED = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?[-=+]([^}$`]*)|[^}]*)?\})")
_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
_MOST = 20
"""Spellings of one word, and values of one variable."""


@lru_cache(256)
def segments(line: str) -> tuple[Segment, ...]:
    """Every command that can be made out, those in substitutions and here-documents for shells included, with what its
    words become by variables of the line. It sees more rather than less: for refusals, never for permissions.
    """
    found = scan(line).segments
    if "$" not in line:
        return found
    variables = _Variables()
    return tuple(variables.expanded(segment) for segment in found)


class _Variables:
    """Of one line, in the order of its commands. A variable that is set in more than one place may hold any of it."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, ...]] = {}

    def expanded(self, segment: Segment) -> Segment:
        """The segment with what its words become beside them; then what it sets is known."""
        segment = segment._replace(
            words=tuple(self._all(segment.words)),
            targets=tuple(self._all(segment.targets)),
            sources=tuple(self._all(segment.sources)),
        )
        self._take(segment.words)
        return segment

    def _all(self, words: tuple[str, ...]) -> Iterator[str]:
        for word in words:
            for spelled in self._spelled(word) if "$" in word else (word,):
                if spelled != word and any(char.isspace() for char in spelled):
                    yield from spelled.split()  # without quotes it is several words
                yield spelled

    def _spelled(self, word: str) -> Iterator[str]:
        """Every spelling that it may have; the word itself where nothing of it is known."""
        found = list(_USED.finditer(word))
        if not any(self._value_of(each) for each in found):
            yield word
            return
        choices = [self._value_of(each) or (each.group(),) for each in found]
        for values in islice(product(*choices), _MOST):
            parts, at = list[str](), 0
            for each, value in zip(found, values, strict=True):
                parts += (word[at : each.start()], value)
                at = each.end()
            yield "".join((*parts, word[at:]))

    def _value_of(self, used: re.Match[str]) -> tuple[str, ...]:
        """What it may hold, with what stands for it where it holds nothing."""
        default = (used.group(3),) if used.group(3) else ()
        return (*self._held.get(used.group(1) or used.group(2), ()), *default)

    def _take(self, words: tuple[str, ...]) -> None:
        verb = words[0] if words else ""
        if verb == "for" and len(words) > 2:
            self._set(words[1], tuple(word for word in words[2:] if word != "in"))
            return
        start = 1 if verb in _DECLARES else 0
        for word in words[start:]:
            is_set = _SET.fullmatch(word)
            if is_set is None:
                if start == 0:
                    return
                continue
            self._set(is_set.group(1), (is_set.group(2),))

    def _set(self, name: str, values: tuple[str, ...]) -> None:
        known = (*self._held.get(name, ()), *(value for value in values if value and "$(" not in value))
        self._held[name] = tuple(dict.fromkeys(known))[-_MOST:]
