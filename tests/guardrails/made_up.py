"""Secrets of made-up values: no real one, and none that a scanner of this repository would take for one, is in a file.

In a text, `«PREFIX:SIZE»` stands for the prefix and that many random letters and digits, `«PREFIX:SIZE:hex»` (or
`lower`, `upper`, `digits`, `base64`, `url`) for others.
"""

from __future__ import annotations

import random
import re
import string

ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + "234567",
    "digits": string.digits,
    "base64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
}
_MARK = re.compile(r"«([^:«»]*):(\d+)(?::(\w+))?»")


def made_up(text: str, seed: int = 7) -> tuple[str, tuple[str, ...]]:
    """The text with values in the place of the marks, and the values, without their prefixes."""
    dice = random.Random(seed)
    bodies: list[str] = []

    def value(mark: re.Match[str]) -> str:
        prefix, size, alphabet = mark.groups()
        body = "".join(dice.choices(ALPHABETS[alphabet or ""], k=int(size)))
        bodies.append(body)
        return prefix + body

    return _MARK.sub(value, text), tuple(bodies)
