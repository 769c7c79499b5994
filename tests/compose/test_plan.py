"""Where plan mode comes from, and what becomes of it where no plan can be recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.plan import planning
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.toolset import withheld
from agent_cli.kernel.errors import ConfigError


@pytest.fixture
def options(tmp_path):
    (tmp_path / "p").mkdir()

    def made(config: dict[str, Any] | None = None, **flags: Any) -> RunOptions:
        if config is not None:
            (tmp_path / "p" / ".agents").mkdir(exist_ok=True)
            (tmp_path / "p" / ".agents" / "config.json").write_text(json.dumps(config))
        environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h")}
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        return RunOptions(tmp_path / "p", environ, True, {"model.provider": "echo", **dotted}, trust=True)

    return made


def planned(options: RunOptions, **more: bool):
    loaded = prepare(options)
    return planning(loaded, withheld(loaded), **more)


@pytest.mark.parametrize("mode", ["off", "advisory", "required"])
def test_what_is_asked_for_is_what_is_in_force(options, mode: str) -> None:
    plan = planned(options({}, permissions__plan_mode=mode))
    assert (plan.mode, plan.recorded, plan.openings, plan.notices) == (mode, mode != "off", (), ())
    assert bool(plan.needs_plan) == (mode == "required")


WITHOUT = (
    (None, {}, "there is no .agents directory"),
    ({"tools": {"disable": ["record_plan"]}}, {}, "record_plan is disabled"),
    ({}, {"no_builtins": True}, "--no-builtin-tools"),
)


@pytest.mark.parametrize(("config", "more", "why"), WITHOUT)
def test_where_no_plan_can_be_recorded_a_class_default_is_dropped_and_a_wish_kept(
    options, config: dict[str, Any] | None, more: dict[str, bool], why: str
) -> None:
    of_class = planned(options(config, session__task_class="debug"), **more)
    assert (of_class.mode, of_class.recorded, of_class.notices) == ("off", False, ())
    assert why in of_class.openings[0]
    wished = planned(options(config, permissions__plan_mode="required"), **more)
    assert (wished.mode, wished.recorded) == ("required", False)
    assert why in wished.notices[0]
    assert "--plan-mode off" in wished.notices[0]
    inert = planned(options(config, permissions__plan_mode="advisory"), **more)
    assert (inert.mode, inert.openings, inert.notices) == ("off", (), ())


async def test_the_tool_is_there_where_plans_are_wanted(options) -> None:
    def tools(opened_options: RunOptions) -> set[str]:
        opened = open_session(opened_options)
        return set(opened.session._core.tools())

    assert "record_plan" not in tools(options({}))
    assert "record_plan" in tools(options({}, permissions__plan_mode="advisory"))


def test_the_old_spelling_works_and_says_so(options) -> None:
    for said, mode in ((True, "required"), (False, "off")):
        loaded = prepare(options({"permissions": {"require_plan_artifact": said}}))
        assert loaded.settings.permissions.plan_mode == mode
        assert "old spelling" in loaded.notices[0]
    flagged = prepare(options({"permissions": {"require_plan_artifact": True}}, permissions__plan_mode="off"))
    assert flagged.settings.permissions.plan_mode == "off", "the command line outranks config"


@pytest.mark.parametrize(("old", "new"), [(True, "off"), (True, "advisory"), (False, "required")])
def test_what_contradicts_itself_is_refused(options, old: bool, new: str) -> None:
    both = {"permissions": {"require_plan_artifact": old, "plan_mode": new}}
    with pytest.raises(ConfigError, match=r"contradict each other"):
        prepare(options(both))
    with pytest.raises(ConfigError, match=r"contradict each other"):
        prepare(options({}, permissions__require_plan_artifact=old, permissions__plan_mode=new))
