"""Which variables of the environment hold secrets that can be told apart from ordinary words."""

from __future__ import annotations

import re

from agent_cli.guardrails.secrets import table
from agent_cli.guardrails.secrets.scan import entropy, is_random

NAMED = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$", re.IGNORECASE)
PUBLIC = re.compile(r"(?:^|_)(?:PUB|PUBLIC|PUBLISHABLE|GPG|SIGNING|HOST)_?KEY$|FINGERPRINT", re.IGNORECASE)
"""Names of keys that are no secrets."""
LEAST, LEAST_KEY, MOST = 16, 12, 4_096
"""Characters of what such a variable holds, and of the key of a service; shorter ones may stand for anything."""
ENTROPY = 3.0
"""Bits a character of what a variable holds."""
ELSEWHERE = ("/", "~", "./", "$")
"""What a path, or the name of another variable, begins with."""


def telling(name: str, value: str, *, in_use: bool = False) -> bool:
    """Whether the value is a secret that may be replaced wherever it stands, without harm to ordinary text.

    `in_use` says that a service takes it for a key; otherwise the variable has to be named like a secret.
    """
    data = value.encode("utf-8", "replace")
    if not (LEAST_KEY if in_use else LEAST) <= len(value) <= MOST or any(char.isspace() for char in value):
        return False
    if re.search(table.PLACEHOLDER, data) or value.startswith(ELSEWHERE) or "://" in value:
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    named = NAMED.search(name) is not None and PUBLIC.search(name) is None
    return (in_use and mixed) or (named and entropy(data[:400]) >= ENTROPY and is_random(data[:400]))
