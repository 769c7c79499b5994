"""The case of each check: caught as it is armed, and missed by one that has lost its teeth."""

from __future__ import annotations

import pytest

from agent_cli.guardrails.checks.armed import Actions, Armed
from agent_cli.guardrails.checks.book import book
from agent_cli.guardrails.checks.check import Content, Found, Subject, Surface
from agent_cli.guardrails.checks.known import NAMES, known_positives
from agent_cli.guardrails.checks.past import Past
from agent_cli.permissions.secrets import looks_secret

ALL = Armed(actions=Actions(max_per_turn={"bash": 2}, max_written_bytes=10))


def test_every_check_catches_its_case():
    assert set(NAMES) == {check.name for check in book(ALL, looks_secret)}
    assert {fed.check: fed.verdict for fed in known_positives(ALL, looks_secret)} == dict.fromkeys(
        ("secrets", *NAMES), "caught"
    )


def test_what_is_off_is_told():
    found = {
        fed.check: fed for fed in known_positives(Armed(redact=False, untrusted_text="off"), looks_secret)
    }
    assert found["secrets"].verdict == found["untrusted-text"].verdict == "off"
    assert (found["rate"].verdict, found["rate"].reason) == ("off", "no number is set")


class Brings:
    name, version = "brings", "1"
    surface: Surface = "input"
    known_positive = Content("t", "read", "bad")

    def __init__(self, finds: str) -> None:
        self._finds = finds

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        return Found("warn", "it is bad") if self._finds in subject.text else None


@pytest.mark.parametrize(("finds", "verdict"), [("bad", "caught"), ("worse", "missed")])
def test_a_check_of_a_package_may_bring_its_case(finds: str, verdict: str):
    assert known_positives(Armed(own=(Brings(finds),)), looks_secret)[-1].verdict == verdict
