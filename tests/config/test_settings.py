"""The schema: every key described and in range, and nothing beside it."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.config.check import Refused, read
from agent_cli.config.durations import seconds
from agent_cli.config.fields import all_keys, field_at, from_text, json_schema, nearest, path_of, written
from agent_cli.config.sections.tools import AllowedPath
from agent_cli.config.settings import Settings
from tests.fakes.strategies import json_values

KEYS = """\
version
model.name model.provider model.base_url model.effort model.max_output_tokens model.temperature model.context_window
model.first_byte_timeout model.stall_timeout model.attempts model.cache_ttl model.fallback model.transport model.tier
model.tiers.frontier model.tiers.mid model.tiers.small
providers.NAME.base_url providers.NAME.api_key_env providers.NAME.api providers.NAME.headers
providers.NAME.project providers.NAME.location
models.NAME.window models.NAME.max_output models.NAME.input models.NAME.output models.NAME.cache_read
models.NAME.cache_write models.NAME.cache_write_1h models.NAME.tier models.NAME.aliases
claude.command claude.setting_sources budgets.max_steps budgets.max_tool_calls budgets.max_tokens budgets.max_duration budgets.unattended.max_steps budgets.unattended.max_duration budgets.unattended.max_turn_cost_usd budgets.unattended.max_session_cost_usd budgets.reserve budgets.on_exhaustion
budgets.children budgets.child.max_steps budgets.child.max_duration budgets.child.max_tokens budgets.child.max_cost_usd
agent.max_turn_cost_usd agent.max_session_cost_usd agent.append_system_prompt agent.system_prompt_file
compaction.enabled compaction.mode compaction.threshold compaction.threshold_by_tier.frontier
compaction.threshold_by_tier.mid compaction.threshold_by_tier.small compaction.limit compaction.keep_recent_tokens
compaction.model checkpoint.mode checkpoint.heuristic
tools.builtin tools.disable tools.enable tools.concurrency tools.max_output_bytes tools.ask tools.diagnostics tools.NAME.max_output_bytes
tools.NAME.timeout tools.NAME.max_calls tools.NAME.required tools.NAME.args
agentic.enabled agentic.small_model agents.enabled agents.max_parallel agents.max_depth
permissions.mode permissions.allow permissions.plan_mode permissions.plan_approval
permissions.require_plan_artifact permissions.deny
path_scope.allow_paths sandbox.mode sandbox.network url_scope.allow url_scope.deny
mcp.enabled mcp.wait mcp.share
hooks admission.pool admission.when_full admission.wait admission.lease admission.hard admission.estimate_usd
admission.estimate_calls_per_minute admission.degraded_concurrency
safety.bash_search_gate safety.small_tier_parent safety.watchdog watchdog.profile watchdog.signals.NAME.threshold
watchdog.signals.NAME.severity watchdog.signals.NAME.scope watchdog.signals.NAME.enabled
guardrails.redact guardrails.untrusted_text guardrails.deadline guardrails.checks guardrails.actions.exfiltration guardrails.actions.max_per_turn
guardrails.actions.rate guardrails.actions.max_written_bytes guardrails.actions.max_deleted_bytes guardrails.actions.volume
guardrails.actions.redacted_text guardrails.actions.unread guardrails.actions.unusual_path guardrails.actions.first_use
guardrails.output.gate
session.db session.task_class session.answer_schema session.transcripts task_classes.NAME.tier task_classes.NAME.compaction_threshold
task_classes.NAME.permission_mode task_classes.NAME.plan_mode task_classes.NAME.ask task_classes.NAME.watchdog_profile task_classes.NAME.when_full task_classes.NAME.drop_tools
serve.approval_wait serve.idle serve.inbox serve.sessions serve.streams serve.requests_per_minute
ui.theme ui.notify ui.title ui.keys ui.vi ui.mouse ui.motion ui.status_command run_status
"""


def test_every_key_is_there_and_described() -> None:
    assert [key.name for key in all_keys()] == KEYS.split()
    assert [key.name for key in all_keys() if not key.description.endswith(".")] == []


def test_the_schema_is_one_for_msgspec_too() -> None:
    schema = msgspec.json.schema(Settings)["$defs"]
    assert schema["Ui"]["additionalProperties"] is False
    assert schema["Model"]["properties"]["temperature"]["anyOf"][0] == {
        "type": "number",
        "minimum": 0,
        "maximum": 2,
    }
    assert msgspec.convert({"model": {"temperature": 1}}, Settings).model.temperature == 1.0


def test_a_tool_has_options_of_its_own_beside_those_of_all_tools() -> None:
    found = read(Settings, {"tools": {"concurrency": 2, "bash": {"max_output_bytes": 4_000}}})
    assert found.tools.each["bash"].max_output_bytes == 4_000
    assert written(found)["tools"]["bash"]["max_output_bytes"] == 4_000
    assert field_at(path_of("tools.bash.max_output_bytes")) is not None
    assert field_at(path_of("tools.bash")) is None
    assert nearest(path_of("tools.bash.max_outputbytes")) == "tools.bash.max_output_bytes"
    described = json_schema()["$defs"]["Tools"]
    assert described["additionalProperties"] == {"$ref": "#/$defs/ToolOptions"}
    assert "each" not in described["properties"]


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"concurency": 2}, ("tools", "concurency")),
        ({"bash": {"max_bytes": 4_000}}, ("tools", "bash", "max_bytes")),
        ({"bash": {"max_output_bytes": 10}}, ("tools", "bash", "max_output_bytes")),
        ({"each": []}, ("tools", "each")),
    ],
)
def test_a_slip_in_the_options_of_tools_is_told_where_it_stands(
    tree: dict[str, Any], path: tuple[str, ...]
) -> None:
    with pytest.raises(Refused) as refused:
        read(Settings, {"tools": tree})
    assert [mistake.path for mistake in refused.value.mistakes] == [path]


def test_defaults() -> None:
    settings = Settings()
    defaults = {key.name: key.default for key in all_keys() if not key.named}
    for name, default in defaults.items():
        found: object = settings
        for part in name.split("."):
            found = getattr(found, part)
        assert found == default, name
    assert defaults["tools.max_output_bytes"] == 32_000
    assert defaults["model.first_byte_timeout"] == 120.0


def test_nothing_can_be_changed() -> None:
    settings = Settings()
    for section, name in ((settings, "run_status"), (settings.model, "name"), (settings.tools, "disable")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(section, name, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("0.5", 0.5),
        ("4h", 14_400),
        ("30 m", 1800),
        ("1h30m", 5400),
        ("1d 2s", 86_402),
        ("500ms", 0.5),
    ],
)
def test_durations(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "wrong",
    ["", "h", "4x", "-5", "2m30", "1 2", "inf", -1, True, None, [1], math.inf, math.nan],
    ids=repr,
)
def test_what_is_no_duration(wrong: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        seconds(wrong)


@given(st.floats(min_value=0.001, max_value=1e9))
def test_a_number_of_seconds_is_itself(value: float) -> None:
    assert seconds(value) == value


def test_paths_as_the_command_line_takes_them() -> None:
    given = ["/a", "/b:rw", "/c:x", "d:w", {"path": "/e"}]
    found = read(Settings, {"path_scope": {"allow_paths": given}}).path_scope.allow_paths
    assert found == (
        AllowedPath(path="/a", access="r"),
        AllowedPath(path="/b", access="rw"),
        AllowedPath(path="/c:x", access="r"),
        AllowedPath(path="d", access="w"),
        AllowedPath(path="/e", access="r"),
    )


def test_what_is_given_is_what_is_not_none() -> None:
    row = read(Settings, {"models": {"m": {"window": 4096, "input": 0, "output": None}}}).models["m"]
    assert row.given() == {"window": 4096, "input": 0.0}


def test_mistakes_are_listed_with_their_places() -> None:
    tree = {"tools": {"disable": ["a", 1], "concurrency": 0}, "glow": {}, "path_scope": {"allow_paths": [{}]}}
    with pytest.raises(Refused) as told:
        read(Settings, tree)
    assert [mistake.path for mistake in told.value.mistakes] == [
        ("tools", "disable", 1),
        ("tools", "concurrency"),
        ("glow",),
        ("path_scope", "allow_paths", 0, "path"),
    ]


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("model", "providers", "permissions", "tools"), json_values)
    )
)
def test_anything_is_settings_or_refused(tree: dict[str, Any]) -> None:
    try:
        made = read(Settings, tree)
    except Refused as refused:
        assert refused.mistakes
    else:
        assert read(Settings, written(made)) == made


@pytest.mark.parametrize(
    ("key", "text", "meant"),
    [
        ("model.name", "5", "5"),
        ("model.effort", "low", "low"),
        ("budgets.max_steps", "5", 5),
        ("budgets.max_steps", "five", "five"),
        ("budgets.max_duration", "4h", "4h"),
        ("budgets.max_duration", "90", 90.0),
        ("agent.max_turn_cost_usd", "0.5", 0.5),
        ("permissions.allow", "bash:git *, read_file", ["bash:git *", "read_file"]),
        ("permissions.allow", '["bash:a, b"]', ["bash:a, b"]),
        ("permissions.allow", "[broken", "[broken"),
        ("path_scope.allow_paths", "/a:r,/b", ["/a:r", "/b"]),
        ("models.gpt-4.1.input", "3", 3.0),
    ],
)
def test_what_a_text_means(key: str, text: str, meant: object) -> None:
    field = field_at(path_of(key))
    assert field is not None
    assert from_text(field, text) == meant


@pytest.mark.parametrize(
    "key", ["model", "providers", "providers.x", "model.nam", "model.name.x", "x", "", "models.a.b"]
)
def test_what_is_no_setting(key: str) -> None:
    assert field_at(path_of(key)) is None


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("model.nmae", "model.name"),
        ("modle", "model"),
        ("max_steps", "budgets.max_steps"),
        ("model.max_stps", "budgets.max_steps"),
        ("providers.x.base-url", "providers.x.base_url"),
        ("providers.x.url", "providers.x.base_url"),
        ("qqq", ""),
        ("providers.x.e", ""),
    ],
)
def test_the_key_that_was_meant(key: str, near: str) -> None:
    assert nearest(path_of(key)) == near
