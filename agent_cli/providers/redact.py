"""Secrets in texts, found by their shape and replaced by `[REDACTED:kind]`. Pure; every pattern takes linear time.

A pattern is anchored by what its issuer puts in front of every secret, or by the name beside it, so that ordinary
text stays as it is. Where a pattern has a group, only that is the secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

BEFORE = re.compile(r"(?:^|[^A-Za-z0-9]|\\[nrt])\Z")
"""What may stand before a secret: nothing of a word; a line end that is written out as JSON has it ends one."""
SHORTEST = 8
"""Characters of a known value that is looked for; shorter ones may stand for anything."""

TABLE: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END )[\s\S])*(?:-----END [A-Z0-9 ]+-----)?"),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openrouter-key", r"sk-or-[A-Za-z0-9-]{16,}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}"),
    ("api-key", r"sk-[A-Za-z0-9]{20,}"),
    ("google-key", r"AIza[A-Za-z0-9_-]{35}"),
    ("google-token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("groq-key", r"gsk_[A-Za-z0-9]{20,}"),
    ("xai-key", r"xai-[A-Za-z0-9]{20,}"),
    ("huggingface-token", r"hf_[A-Za-z0-9]{30,}"),
    ("github-token", r"gh[oprsu]_[A-Za-z0-9]{36,255}"),
    ("github-token", r"github_pat_[A-Za-z0-9_]{22,255}"),
    ("gitlab-token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("aws-key-id", r"(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("aws-secret", r"""(?i:aws_?secret_?access_?key)[\\"']{0,2}\s{0,4}[:=]\s{0,4}[\\"']{0,2}([A-Za-z0-9/+]{40})"""),
    ("slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", r"https://hooks\.slack\.com/services/([A-Za-z0-9/]{20,})"),
    ("stripe-key", r"[rs]k_live_[A-Za-z0-9]{16,}"),
    ("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("npm-token", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-token", r"pypi-AgE[A-Za-z0-9_-]{30,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("bearer-token", r"(?i:bearer)\s{1,4}([A-Za-z0-9._~+/-]{16,}=*)"),
    ("api-key", r"""(?i:(?:x-)?(?:goog-)?api-key)[\\"']{0,2}\s{0,4}[:=]\s{0,4}[\\"']{0,2}([A-Za-z0-9._~+/-]{12,}=*)"""),
    ("url-password", r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^/\s:@\"']{0,100}:([^/\s:@\"']{1,200})@"),
)  # fmt: skip


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(shape)) for kind, shape in TABLE)


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    for kind, pattern in _patterns():
        text = pattern.sub(_replacement(kind), text)
    return text


def without(text: str, values: Iterable[str]) -> str:
    """The text without known values, of keys in use, and without what looks like a secret."""
    for value in values:
        if len(value) >= SHORTEST:
            text = text.replace(value, "[REDACTED:key]")
    return redacted(text)


def _replacement(kind: str) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        whole, start = found.group(), found.start()
        if not BEFORE.search(found.string[max(0, start - 2) : start]):
            return whole
        if not found.re.groups:
            return f"[REDACTED:{kind}]"
        first, last = (place - start for place in found.span(1))
        return f"{whole[:first]}[REDACTED:{kind}]{whole[last:]}"

    return replace
