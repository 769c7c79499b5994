"""How often the checks are wrong, over the labelled set; `docs/guardrails.md` tells the same numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.guardrails.labelled import Case, cases, counted

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
