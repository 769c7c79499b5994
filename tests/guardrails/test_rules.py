from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.compose.armed import armed
from agent_cli.compose.checks import listed, tried
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.config.guardrail_rules import read
from agent_cli.engine.alarm import within
from agent_cli.engine.inquiry import Inquiry
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.checks.check import Content, Found, Severity, Subject, Surface, worst
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.checks.rules import Bypass, Rule, Ruled
from agent_cli.kernel.errors import ConfigError
from tests.fakes.clock import FakeClock, InstantClock

RULE = """
[[rule]]
name = "no-prod"
surface = "action"
match = 'prod-db'
severity = "block"
message = "The production database is not for agents."
tools = ["bash"]
"""
BYPASS = """
[[bypass]]
check = "exfiltration"
tool = "bash"
owner = "ada"
reason = "the classifier is down"
until = 2999-12-24T00:00:00Z
"""
TEXT = Content("read_file", "read", "some text")


def project(tmp_path: Path, text: str, *, trust: bool = False) -> RunOptions:
    agents = tmp_path / "project" / ".agents"
    agents.mkdir(parents=True)
    (agents / "guardrails.toml").write_text(text)
    home = {"HOME": str(tmp_path / "home"), "AGENT_CLI_HOME": str(tmp_path / "state")}
    return RunOptions(cwd=agents.parent, environ=home, attended=False, trust=trust)


# ── rules ──


def test_a_rule_finds_what_matches_on_its_surface_and_with_its_tools(tmp_path: Path):
    options = project(tmp_path, RULE)
    (verdict,) = tried(options, "psql prod-db", "action", "bash")
    assert (verdict.check, verdict.severity) == ("rule:no-prod", "block")
    assert verdict.message == "The production database is not for agents"
    assert tried(options, "psql test-db", "action", "bash") == ()
    assert "rule:no-prod" not in [each.check for each in tried(options, "prod-db", "action", "fetch_url")]
    assert "rule:no-prod" in [row.check for row in listed(options)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]]\nname = 'x'", "missing required field `surface`"),
        (RULE.replace('"block"', '"stop"'), "severity"),
        (RULE.replace("'prod-db'", "'('"), "[[rule]] 1 (no-prod): `match` is no regular expression"),
        (RULE.replace('"no-prod"', '""'), "must not be empty"),
        (RULE + "colour = 1", "unknown field `colour`"),
        ("[[rule", "this is no TOML"),
        (BYPASS.replace('"ada"', '" "'), "owner must not be empty"),
        (BYPASS.replace("until = 2999-12-24T00:00:00Z", ""), "missing required field `until`"),
    ],
)
def test_a_mistake_is_told_with_its_file_when_it_is_loaded(tmp_path: Path, text: str, says: str):
    options = project(tmp_path, text, trust=True)
    with pytest.raises(ConfigError) as told:
        armed(prepare(options))
    assert says in str(told.value)
    assert "guardrails.toml" in str(told.value)


def test_a_project_without_trust_may_forbid_and_may_not_step_around(tmp_path: Path):
    found = armed(prepare(project(tmp_path / "a", RULE + BYPASS)))
    assert [check.name for check in found.own] == ["rule:no-prod"]
    assert found.bypasses == ()
    assert len(armed(prepare(project(tmp_path / "b", RULE + BYPASS, trust=True))).bypasses) == 1


def test_rules_that_only_forbid_wait_for_no_trust(tmp_path: Path):
    assert prepare(project(tmp_path / "a", RULE)).left_out == ()
    assert prepare(project(tmp_path / "b", BYPASS)).left_out == ("guardrails.toml",)


def test_a_check_that_no_package_has_is_told(tmp_path: Path):
    options = project(tmp_path, "")
    agents = options.cwd / ".agents"
    (agents / "config.json").write_text('{"guardrails": {"checks": ["nobody-has-this"]}}')
    with pytest.raises(ConfigError, match="no installed package has such a check"):
        armed(prepare(RunOptions(cwd=options.cwd, environ=options.environ, attended=False, trust=True)))


def link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


@pytest.mark.parametrize(
    "stand",
    [Path.mkdir, link("nowhere"), link("guardrails.toml"), os.mkfifo, link("/dev/zero")],
    ids=["directory", "link to nothing", "loop", "pipe", "device"],
)
@pytest.mark.parametrize("user", [False, True])
def test_rules_that_cannot_be_read_are_not_taken_for_none(
    tmp_path: Path, stand: Callable[[Path], None], *, user: bool
):
    options = project(tmp_path, "")
    directory = tmp_path / "state" if user else options.cwd / ".agents"
    directory.mkdir(exist_ok=True)
    (directory / "guardrails.toml").unlink(missing_ok=True)
    stand(directory / "guardrails.toml")
    with pytest.raises(ConfigError, match=r"guardrails\.toml cannot be read"):
        armed(prepare(options))


def test_no_file_is_no_rule(tmp_path: Path):
    assert read(tmp_path) == ((), ())


# ── what cannot end by itself ──


class Endless:
    """A quick check from a package, which is none."""

    name, version = "endless", "1"
    surface: Surface = "input"

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        while True:
            time.monotonic()


@pytest.mark.parametrize(
    "check", [Ruled(Rule("slow", "input", r"(a+)+$", "warn")), Endless()], ids=["pattern", "package"]
)
async def test_a_pattern_or_a_check_that_would_never_end_is_unavailable(check: Ruled | Endless):
    began = time.monotonic()
    inquiry = Inquiry(FakeClock(), Armed(deadline=0.2, own=(check,)))
    found, down = await inquiry.ask([check], Content("t", "read", "a" * 40 + "b"), Past())
    assert found == []
    assert down is not None
    assert "did not answer within 0.2 s" in down.problem
    assert time.monotonic() - began < 20


def test_an_alarm_of_somebody_else_goes_on():
    import signal

    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    kept = signal.setitimer(signal.ITIMER_REAL, 50)
    try:
        assert within(5, lambda: 1) == 1
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 0 < left <= 50
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *kept)


class Late:
    """A check that answers, but lets nothing run meanwhile: no deadline can stop it."""

    name, version, gates, sample, keeps, fallback = "late", "1", True, 1.0, 60.0, None
    surface: Surface = "input"

    def __init__(self, clock: InstantClock) -> None:
        self._clock = clock

    async def look(self, subject: Subject, past: Past, /) -> Found | None:
        await self._clock.sleep(3)
        return None


async def test_an_answer_that_comes_after_the_deadline_is_none():
    clock = InstantClock()
    check = Late(clock)
    inquiry = Inquiry(clock, Armed(own=(check,)))
    for _ in range(2):
        found, down = await inquiry.ask([check], TEXT, Past())
        assert found == []
        assert down is not None, "it is not kept as a pass either"
        assert "did not answer within 2 s" in down.problem
    (row,) = inquiry.rows()
    assert (row.runs, row.missing) == (0, 2)


class Measures:
    name, version, gates, sample, keeps, fallback = "measures", "1", False, 1.0, 0.0, None
    surface: Surface = "action"

    async def look(self, subject: Subject, past: Past, /) -> Found | None:
        return Found("halt", "odd")


async def test_what_only_measures_tells_what_it_found_and_refuses_nothing():
    check = Measures()
    found, down = await Inquiry(FakeClock(), Armed(own=(check,))).ask([check], TEXT, Past())
    assert down is None
    assert [(each.found.severity, each.found.message) for each in found] == [("warn", "odd")]


# ── kept verdicts ──


class Asked:
    name, gates, sample, fallback = "remote", True, 1.0, None
    surface: Surface = "input"

    def __init__(self, version: str = "1", keeps: float = 60.0) -> None:
        self.version = version
        self.keeps = keeps
        self.asked = 0

    async def look(self, subject: Subject, past: Past, /) -> Found | None:
        self.asked += 1
        return Found("warn", "odd")


async def test_a_verdict_is_kept_for_its_time_and_for_nothing_else():
    clock, check = FakeClock(), Asked()
    inquiry = Inquiry(clock, Armed())
    for _ in range(3):
        found, _ = await inquiry.ask([check], TEXT, Past())
        assert [each.found.message for each in found] == ["odd"]
    assert check.asked == 1
    await inquiry.ask([check], Content("read_file", "read", "other text"), Past())
    await inquiry.ask([check], TEXT, Past(cwd="/elsewhere"))
    newer = Asked(version="2")
    await inquiry.ask([newer], TEXT, Past())
    assert (check.asked, newer.asked) == (3, 1)
    await clock.advance(61)
    await inquiry.ask([check], TEXT, Past())
    assert check.asked == 4
    rows = {row.check: row for row in inquiry.rows()}
    assert rows["remote"].cached == 2


# ── what steps around ──


async def test_a_bypass_holds_for_its_check_and_tool_until_it_expires():
    clock = FakeClock()
    bypass = Bypass("rule:x", "read_file", "ada", "outage", clock.now() + 10)
    inquiry, check = Inquiry(clock, Armed(bypasses=(bypass,))), Ruled(Rule("x", "input", "text", "block"))
    assert (await inquiry.ask([check], TEXT, Past()))[0] == []
    assert inquiry.stepped() == [(bypass, "input")]
    assert inquiry.rows()[0].missing == 1, "what was not looked at is no pass"
    assert len((await inquiry.ask([check], Content("grep", "read", "text"), Past()))[0]) == 1
    await clock.advance(11)
    assert len((await inquiry.ask([check], TEXT, Past()))[0]) == 1


@given(st.lists(st.sampled_from(["warn", "block", "halt"]), max_size=6))
def test_the_worst_is_never_milder_than_any(severities: list[Severity]):
    most = worst([Found(severity, "x") for severity in severities])
    order = ["warn", "block", "halt"]
    assert (order.index(most.severity) if most else -1) == max(map(order.index, severities), default=-1)
