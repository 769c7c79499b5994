"""The web page: one file, whose script and style are the only ones that a browser runs in it."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("page.html")


class Page(NamedTuple):
    """`policy` is its Content-Security-Policy."""

    text: str
    policy: str


@cache
def page() -> Page:
    text = FILE.read_text("utf-8")
    rules = (
        "default-src 'none'",
        f"script-src {_hashed(text, 'script')}",
        f"style-src {_hashed(text, 'style')}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
    return Page(text, "; ".join(rules))


def _hashed(text: str, element: str) -> str:
    """What stands in the one element of that name, as a browser compares it."""
    inner = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in inner)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
