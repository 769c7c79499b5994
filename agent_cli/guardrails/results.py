"""Results told apart: exactly, and without times and hashes."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from agent_cli.guardrails.masks import digest, masked
from agent_cli.kernel.messages import Text
from agent_cli.kernel.outputs import Output, as_text

CALLS = 32
"""Of so many calls the last results are known."""
VARIANTS = 4


def readable(call_id: str, output: Output) -> str | None:
    """What the model reads, without the name of the file that holds all of it; None where it is no text."""
    if not all(isinstance(block, Text) for block in output.for_model):
        return None
    return as_text(output).replace(f"{call_id}.txt", "#").replace(f'id="{call_id}"', "#")


class _Variant(msgspec.Struct):
    """One result of a call, under the name of the first that was equal to it; its text is kept until it was masked."""

    exact: str
    text: str
    name: str
    masked: str = ""

    def mask(self) -> str:
        if not self.masked:
            self.masked, self.text = digest(masked(self.text)), ""
        return self.masked


class Results(msgspec.Struct):
    """Gives results that differ in times and hashes only one name. Masking costs something only where a call comes
    again and its result is not the same to the letter.
    """

    held: OrderedDict[str, list[_Variant]] = msgspec.field(default_factory=OrderedDict[str, list[_Variant]])

    def names(self, key: str, text: str | None) -> tuple[str, str]:
        """Of the result of that call: by all of it, and by what is left without times and hashes."""
        if text is None:
            return "", ""
        exact = digest(text)
        known = self.held.setdefault(key, [])
        self.held.move_to_end(key)
        name = _name(known, exact, text)
        while len(self.held) > CALLS:
            self.held.popitem(last=False)
        return exact, name


def _name(known: list[_Variant], exact: str, text: str) -> str:
    for variant in known:
        if variant.exact == exact:
            return variant.name
    fresh = _Variant(exact, text, exact)
    for variant in known:
        if variant.mask() == fresh.mask():
            fresh.name = variant.name
            break
    known.append(fresh)
    del known[:-VARIANTS]
    return fresh.name
