"""Vertex AI as far as it differs: Claude under `streamRawPredict`, and the sign-in of a service account."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOKEN = "ya29.token-of-the-fake"
CLAUDE = re.compile(
    r"/v1/projects/my-project/locations/[\w-]+/publishers/anthropic/models/([^:/]+):streamRawPredict"
)
GEMINI = re.compile(r"/v1beta1/projects/my-project/locations/[\w-]+/publishers/google/models/")


def account_file(directory: Path, token_url: str) -> Path:
    """A service account whose tokens come from that address."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "client_email": "agent@my-project.example",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "token_uri": token_url,
    }
    file = directory / "account.json"
    file.write_text(json.dumps(account), "utf-8")
    return file


def claude_rules(path: str, headers: dict[str, str], body: dict[str, Any]) -> Iterator[str]:
    """What the cloud refuses, before the model sees it. Fills in the model that the address names."""
    named = CLAUDE.fullmatch(path)
    if headers.get("authorization") != f"Bearer {TOKEN}":
        yield "Request had invalid authentication credentials."
    if body.pop("anthropic_version", None) != "vertex-2023-10-16":
        yield "anthropic_version: Field required"
    if "model" in body:
        yield "model: Extra inputs are not permitted"
    body["model"] = named.group(1) if named else ""
    if not named:
        yield f"no such address: {path}"


def gemini_rules(path: str, headers: dict[str, str]) -> Iterator[str]:
    if not GEMINI.match(path):
        yield f"no such address: {path}"
    if headers.get("authorization") != f"Bearer {TOKEN}":
        yield "Request had invalid authentication credentials."
