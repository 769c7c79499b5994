from __future__ import annotations

import time

import pytest

from agent_cli.providers.redact import redacted, without
from tests.fakes.pace import slowness

KEY = "abcDEF0123456789abcDEF0123456789abcDEF01"
BLOCK = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n{KEY}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"export K=sk-ant-api03-{KEY}", "export K=[REDACTED:anthropic-key]"),
        (f'"sk-or-v1-{KEY}"', '"[REDACTED:openrouter-key]"'),
        (f"sk-proj-{KEY}_x-", "[REDACTED:openai-key]"),
        (f"sk-{KEY}", "[REDACTED:api-key]"),
        (f"AIza{KEY[:35]}", "[REDACTED:google-key]"),
        (f"ya29.{KEY}", "[REDACTED:google-token]"),
        (f"ghp_{KEY}", "[REDACTED:github-token]"),
        (f"a github_pat_{KEY} b", "a [REDACTED:github-token] b"),
        (f"glpat-{KEY}", "[REDACTED:gitlab-token]"),
        ("id: AKIAIOSFODNN7QK4WXY2.", "id: [REDACTED:aws-key-id]."),
        (f'AWS_SECRET_ACCESS_KEY="{KEY}"', 'AWS_SECRET_ACCESS_KEY="[REDACTED:aws-secret]"'),
        (f'{{"aws_secret_access_key": "{KEY}"}}', '{"aws_secret_access_key": "[REDACTED:aws-secret]"}'),
        (f"xoxb-1234567890-{KEY}", "[REDACTED:slack-token]"),
        (
            f"https://hooks.slack.com/services/T0/{KEY}",
            "https://hooks.slack.com/services/[REDACTED:slack-webhook]",
        ),
        (f"sk_live_{KEY}", "[REDACTED:stripe-key]"),
        (f"npm_{KEY[:36]}", "[REDACTED:npm-token]"),
        (f"hf_{KEY[:34]}", "[REDACTED:huggingface-token]"),
        (f"eyJ{KEY}.eyJ{KEY}.{KEY}", "[REDACTED:jwt]"),
        (f"Authorization: Bearer {KEY}==", "Authorization: Bearer [REDACTED:bearer-token]"),
        (f"x-api-key: {KEY}", "x-api-key: [REDACTED:api-key]"),
        (f'\\"X-Goog-Api-Key\\": \\"{KEY}\\"', '\\"X-Goog-Api-Key\\": \\"[REDACTED:api-key]\\"'),
        ("postgres://me:hunter2@db7/x", "postgres://me:[REDACTED:url-password]@db7/x"),
        (f"key:\\nsk-ant-api03-{KEY}\\n", "key:\\n[REDACTED:anthropic-key]\\n"),
        (f"<{BLOCK}>", "<[REDACTED:private-key]>"),
        (f"cut {BLOCK[:80]}", "cut [REDACTED:private-key]"),
        (f"{BLOCK} and {BLOCK}", "[REDACTED:private-key] and [REDACTED:private-key]"),
    ],
)
def test_secrets_are_found_by_their_shape(text: str, expected: str):
    assert redacted(text) == expected
    assert redacted(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "task-0123456789abcdef0123456789",
        "disk-utilisation-of-the-whole-machine",
        "class=sk-folding-cube-of-some-length-here",
        "the bearer of this letter",
        "api-key: none",
        "https://example.com:8080/path@v1",
        "def compute(a, b): return a @ b",
        "AKIAlower",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "Grüße 🙂",
        "",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str):
    assert redacted(text) == text


def test_values_of_keys_in_use_are_found_wherever_they_stand():
    assert without("a=my-own-key-1,b", ["my-own-key-1", "a", ""]) == "a=[REDACTED:key],b"


@pytest.mark.parametrize(
    "unit", ["a", "-----BEGIN PRIVATE KEY-----", "eyJa.", "://:", "bearer ", "sk-", "x-api-key"]
)
def test_it_takes_linear_time(unit: str):
    begun = time.process_time()
    redacted(unit * (400_000 // len(unit)))
    assert time.process_time() - begun < 2.0 * slowness()
