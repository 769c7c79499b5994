"""Rules that can never match are found, and those that can are left alone."""

import pytest

from agent_cli.permissions.book import judge
from agent_cli.permissions.hosts import allowed, denied
from agent_cli.permissions.lint import dead
from agent_cli.ports import Facts
from tests.permissions.calls import network

TOOLS = ("bash", "read_file", "write_file", "edit_file", "grep", "fetch_url")

DEAD = (
    ("allow", "bsh:ls*", "there is no tool bsh; is bash meant?"),
    ("deny", "read_fil:*.env", "is read_file meant?"),
    ("deny", "read_fil", "is the tool read_file meant?"),
    ("allow", "bash:ls * && rm *", "one simple command"),
    ("allow", "bash:ls * > x", "one simple command"),
    ("allow", "bash:echo $HOME*", "expansion"),
    ("allow", "bash:sudo *", "runs other programs"),
    ("allow", "bash:env *", "runs other programs"),
)


@pytest.mark.parametrize(("which", "rule", "why"), DEAD)
def test_a_dead_rule_is_found_with_its_reason(which: str, rule: str, why: str) -> None:
    rules = {"allow": (), "deny": (), which: (rule,)}
    (found,) = dead(rules["allow"], rules["deny"], TOOLS)
    assert (found.list, found.rule) == (which, rule)
    assert why in found.why


@pytest.mark.parametrize(
    "rule",
    [
        "bash:ls*",
        "bash:ls && make",
        "read_file:.env",
        "*.py",
        "bash",
        "mcp__x__y",
        "src/",
        "secrets",
        "*:x",
        "bash:*",
        "write_*:a",
    ],
)
def test_a_rule_that_can_match_is_not(rule: str) -> None:
    assert list(dead((rule,), (), TOOLS)) == []
    assert list(dead((), (rule,), TOOLS)) == []


def test_what_a_deny_rule_covers_and_what_stands_twice_is_dead() -> None:
    found = [
        (row.rule, row.why)
        for row in dead(("bash:rm x", "bash:rm -r*", "bash:ls*", "bash:ls*"), ("bash:rm*",), TOOLS)
    ]
    assert found == [
        ("bash:rm x", "the deny rule 'bash:rm*' forbids all of it"),
        ("bash:rm -r*", "the deny rule 'bash:rm*' forbids all of it"),
        ("bash:ls*", "it stands there twice"),
    ]


# ── hosts ──


@pytest.mark.parametrize(
    ("host", "rule", "denies", "allows"),
    [
        ("example.org", "example.org", True, True),
        ("EXAMPLE.org.", "example.ORG", True, True),
        ("a.example.org", "example.org", True, False),
        ("a.example.org", "*.example.org", True, True),
        ("example.org", "*.example.org", False, False),
        ("badexample.org", "example.org", False, False),
        ("example.org.evil", "example.org", False, False),
        ("x", "*", True, True),
    ],
)
def test_a_refusal_of_a_host_is_read_widely_and_a_permission_narrowly(
    host: str, rule: str, denies: bool, allows: bool
) -> None:
    assert bool(denied(host, (rule,))) == denies
    assert bool(allowed(host, (rule,))) == allows


def test_hosts_that_are_named_are_read_without_asking_and_others_are_asked() -> None:
    url = network("https://example.org/x")
    base = Facts("ask", True, ())
    assert judge(url, base).verdict == "ask"
    named = Facts("ask", True, (), url_allow=("example.org",))
    assert (judge(url, named).verdict, judge(url, named).rule) == ("allow", "url-scope: example.org")
    other = Facts("ask", True, (), url_allow=("other.org",), allow=("fetch_url:*",))
    assert (judge(url, other).verdict, judge(url, other).rule) == ("ask", "url-scope")
    forbidden = Facts("yolo", True, (), url_allow=("example.org",), url_deny=("org",), allow=("*",))
    assert (judge(url, forbidden).verdict, judge(url, forbidden).rule) == ("deny", "url-scope: org")
