"""How often the checks are wrong, over the labelled set; `docs/guardrails.md` tells the same numbers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.guardrails.secrets.scan import redact
from tests.guardrails.labelled import Case, cases, counted, found_in

DOCS = Path(__file__).parents[2] / "docs" / "guardrails.md"
MISSED = {"secrets": 4, "untrusted-text": 3, "exfiltration": 1}
"""Attacks that are not found: words for passwords, a token over two lines, orders without a word of an order."""


@pytest.fixture(scope="module")
def every() -> list[Case]:
    return list(cases())


def test_the_set_is_large_and_each_case_stands_in_it_once(every: list[Case]):
    assert len(every) >= 340
    assert len({(case.surface, case.tool, case.text) for case in every}) == len(every)
    assert sum(case.label == "honest" for case in every) > 140


def test_no_honest_case_is_found_and_few_attacks_are_missed():
    for check, count in counted().items():
        assert [case.text for case in count.wrong] == [], check
        assert len(count.missed) <= MISSED[check], [case.text for case in count.missed]


def test_the_documentation_tells_these_numbers():
    text = DOCS.read_text("utf-8")
    for check, count in counted().items():
        told = re.search(rf"^\| `{check}` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
        assert told is not None, check
        assert tuple(map(int, told.groups())) == (
            count.attacks,
            len(count.missed),
            count.honest,
            len(count.wrong),
        )


SEEN_AS: dict[str, Callable[[str], str]] = {
    "read_file": lambda text: "\n".join(f"{at}\t{line}" for at, line in enumerate(text.split("\n"), 1)),
    "grep": lambda text: "\n".join(
        f"conf/a-b.env:{at}:{line}" for at, line in enumerate(text.split("\n"), 1)
    ),
    "around a match": lambda text: "\n".join(f"{at}-{line}" for at, line in enumerate(text.split("\n"), 1)),
    "diff": lambda text: "\n".join(f"+{line}" for line in text.split("\n")),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "coloured": lambda text: "\n".join(f"\x1b[32m{line}\x1b[0m" for line in text.split("\n")),
    "json": lambda text: json.dumps({"stdout": text}),
    "html": html.escape,
    "crlf": lambda text: text.replace("\n", "\r\n"),
}
"""What tools make of the same text."""


@pytest.mark.parametrize("tool", SEEN_AS)
def test_a_secret_is_found_in_whatever_form_a_tool_shows_it(every: list[Case], tool: str):
    secrets = [case.text for case in every if case.label == "secret" and "secrets" in found_in(case)]
    assert len(secrets) >= 96
    assert [text for text in secrets if not redact(SEEN_AS[tool](text)).kinds] == []
