"""Agents that a session hands tasks to: inline, in the background, stopped, lost, and never with more than it has."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import narrower
from agent_cli.kernel.commands import Answer, Interrupt, Rewind, SetMode, StopAgent
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolResult, text_of
from agent_cli.ports import Facts, Proposal, Ruling
from tests.fakes.agents import (
    WRITER,
    Answering,
    Gate,
    Places,
    says,
    sends,
    session_with,
    spawns,
    staff,
    wants,
)
from tests.fakes.clock import settle
from tests.fakes.log import ListLog
from tests.fakes.sessions import allow, ask_writes, is_fact, run, say, until
from tests.fakes.tools import FakeTool, never

ALONE = Facts("ask", False, (("/p", "rw"),))


def ends(log: ListLog) -> list[ev.SubtaskCompleted]:
    return [event for event in log.events if isinstance(event, ev.SubtaskCompleted)]


def results(log: ListLog) -> list[str]:
    return [
        text_of(entry.event.output.for_model)  # type: ignore[arg-type]  # results of these tools are texts
        for entry in log.read()
        if isinstance(entry.event, ev.ToolReturned) and not entry.branch
    ]


def reports(log: ListLog) -> list[str]:
    return [
        text_of(event.content)
        for event in log.events
        if isinstance(event, ev.OperatorMessage) and event.subtask
    ]


def tools(**more: FakeTool) -> list[FakeTool]:
    made = {"read_file": FakeTool("read_file"), "write_file": FakeTool("write_file", read_only=False), **more}
    return list(made.values())


# ── inline ──


async def test_the_model_sees_names_and_descriptions_and_the_agent_its_own_words_and_the_task():
    log = ListLog()
    model = Answering(main=[spawns("do it"), says("ok")], do=[says("done")])
    session = session_with(model, *tools(), log=log)
    await run(session, say("a secret of the conversation"))
    (spec,) = [tool for tool in model.asked[0].tools if tool.name == "spawn_agent"]
    assert spec.description.endswith("- reader: reads\n- writer: writes")
    assert "You write" not in str(model.asked[0])
    (asked,) = model.prompts("do it")
    assert asked.system == ("You write. You are in /p.",)
    assert [tool.name for tool in asked.tools] == ["read_file", "write_file"], "agents start none"
    assert "secret" not in str(asked)
    assert results(log) == ["[writer-1 finished.]\ndone"]
    await session.close()


async def test_several_of_one_step_work_side_by_side_up_to_the_limit():
    log = ListLog()
    gates = [Gate(says("one")), Gate(says("two")), Gate(says("three"))]
    model = Answering(main=[spawns("t-a", "t-b", "t-c"), says("ok")], **{"t-": list(gates)})
    session = session_with(model, *tools(), log=log, staff=staff(most=2))
    session.send(say("go"))
    await gates[1].reached.wait()
    await settle()
    assert not gates[2].reached.is_set()
    for gate in gates:
        gate.open.set()
    await session.idle()
    assert [text.split("\n")[0] for text in results(log)] == [
        "[writer-1 finished.]",
        "[writer-2 finished.]",
        "[writer-3 finished.]",
    ]
    await session.close()


async def test_an_agent_has_the_tools_of_its_definition_that_the_session_has():
    model = Answering(main=[spawns("look", agent="reader"), says("ok")], look=[says("seen")])
    session = session_with(model, *tools())
    await run(session, say("go"))
    assert [tool.name for tool in model.prompts("look")[0].tools] == ["read_file"]
    await session.close()


async def test_an_unknown_agent_is_answered_with_the_nearest_name():
    log = ListLog()
    session = session_with(Answering(main=[spawns("x", agent="writter"), says("ok")]), *tools(), log=log)
    await run(session, say("go"))
    assert results(log) == [
        "There is no agent 'writter'. Did you mean 'writer'? The agents are reader, writer."
    ]
    await session.close()


async def test_what_it_returns_says_that_it_was_cut_short_or_stopped_talking():
    log = ListLog()
    loops = [wants(("read_file", {"path": f"f{at}"}), text="so far") for at in range(3)]
    model = Answering(
        main=[spawns("t-long"), spawns("t-mute"), says("ok")],
        **{"t-long": [*loops, says("I had to stop")], "t-mute": [says(""), says("")]},
    )
    short = replace(WRITER, max_steps=3)
    session = session_with(model, *tools(), log=log, staff=staff(short))
    await run(session, say("go"))
    cut, silent = results(log)
    assert cut.startswith("[writer-1 was cut short: its budget of steps was used up.")
    assert cut.endswith("I had to stop")
    assert silent.startswith("[writer-2 stopped talking: the model returned neither text nor a tool call")
    await session.close()


# ── in the background ──


async def test_the_parent_goes_on_and_the_report_joins_at_its_next_step():
    log = ListLog()
    gate = Gate(says("all written"))
    reading = asyncio.Event()

    async def reads(path: str, _say: object) -> str:
        gate.open.set()
        await reading.wait()
        return "content"

    model = Answering(
        main=[sends("write"), wants(("read_file", {"path": "a"})), says("ok")],
        write=[gate],
    )
    session = session_with(model, *tools(read_file=FakeTool("read_file", reads)), log=log)
    session.send(say("go"))
    await until(session, is_fact(ev.SubtaskCompleted))
    reading.set()
    await session.idle()
    assert results(log)[0].startswith("writer-1 works in the background")
    (report,) = reports(log)
    assert report.startswith("Report of the agent writer-1, which you started in the background.")
    assert report.endswith("[writer-1 finished.]\nall written")
    assert report in text_of(model.asked[-1].messages[-1].parts)
    assert session.state.reports == {}
    await session.close()


async def test_where_somebody_is_there_a_report_after_the_turn_waits_for_the_next_message():
    log = ListLog()
    gate = Gate(says("later"))
    model = Answering(main=[sends("write"), says("it is under way"), says("seen")], write=[gate])
    session = session_with(model, *tools(), log=log)
    await run(session, say("go"))
    (row,) = session.state.subtasks.values()
    assert row.outcome == "", "it goes on without the turn"
    gate.open.set()
    await until(session, is_fact(ev.SubtaskCompleted))
    await settle()
    assert not session.state.running
    assert list(session.state.reports.values()) == ["[writer-1 finished.]\nlater"]
    await run(session, say("and?"))
    assert "later" in text_of(model.asked[-1].messages[-1].parts)
    assert len(reports(log)) == 1
    await session.close()


async def test_where_nobody_is_there_the_turn_waits_for_its_agents():
    log = ListLog()
    gates = [Gate(says("first")), Gate(says("second"))]
    model = Answering(
        main=[sends("t-a", "t-b"), says("waiting"), says("still"), says("both are in")], **{"t-": list(gates)}
    )
    session = session_with(model, *tools(), log=log, facts=ALONE)
    session.send(say("go"))
    await gates[1].reached.wait()
    gates[1].open.set()
    await until(session, is_fact(ev.SubtaskCompleted))
    gates[0].open.set()
    await session.idle()
    assert session.state.answer == "both are in"
    assert [text.rpartition("\n")[2] for text in reports(log)] == ["second", "first"]
    await session.close()


async def test_its_report_passes_the_bound_of_results():
    log = ListLog()
    model = Answering(main=[sends("write"), says("ok")], write=[says("long " * 20_000)])
    session = session_with(model, *tools(), log=log, facts=ALONE)
    model.scripts["main"].append(says("done"))
    await run(session, say("go"))
    (report,) = reports(log)
    assert len(report) < 34_000
    assert "bytes left out here" in report
    await session.close()


async def test_more_than_may_work_at_once_are_refused_with_what_to_do():
    log = ListLog()
    gate = Gate(says("x"))
    model = Answering(main=[sends("t-a", "t-b"), says("ok")], **{"t-": [gate]})
    session = session_with(model, *tools(), log=log, staff=staff(most=1))
    await run(session, say("go"))
    assert results(log)[1] == (
        "No agent was started: 1 agents work already (writer-1). Wait for one with check_agent, or stop one with stop_agent."
    )
    await session.close()


async def test_check_agent_lists_waits_and_repeats_a_report_that_was_told():
    log = ListLog()
    gate = Gate(says("done"))
    model = Answering(
        main=[
            sends("write"),
            wants(("check_agent", {})),
            wants(("check_agent", {"id": "writer-1", "wait": 60})),
            wants(("check_agent", {"id": "writer-1"})),
            wants(("check_agent", {"id": "writer-9"})),
            says("ok"),
        ],
        write=[gate],
    )
    session = session_with(model, *tools(), log=log)
    session.send(say("go"))
    await gate.reached.wait()
    await settle()
    gate.open.set()
    await session.idle()
    listed, waited, again, unknown = results(log)[1:]
    assert listed.startswith("writer-1: running, ")
    assert waited.endswith("Its report comes next.")
    assert again.endswith("Its report was:\n[writer-1 finished.]\ndone")
    assert unknown.startswith("There is no agent 'writer-9' here. writer-1: completed")
    await session.close()


async def test_stop_agent_ends_one_and_what_it_had_comes_as_its_report():
    log, places = ListLog(), Places(lambda name: f"left by {name}")
    slow = FakeTool("read_file", never)
    model = Answering(
        main=[sends("write"), wants(("stop_agent", {"id": "writer-1"})), says("ok")],
        write=[wants(("read_file", {"path": "a"}), text="I began")],
    )
    session = session_with(model, *tools(read_file=slow), log=log, staff=staff(places=places))
    await run(session, say("go"))
    assert results(log)[1].startswith("writer-1: interrupted, ")
    (report,) = reports(log)
    assert (
        "[writer-1 was cut short: it was stopped with stop_agent. What it had until then follows]\nI began"
        in report
    )
    assert report.endswith("left by writer-1")
    assert places.left == ["writer-1"]
    await session.close()


async def test_the_operator_stops_one_and_the_others_go_on():
    log = ListLog()
    gates = [Gate(says("a")), Gate(says("b"))]
    model = Answering(main=[sends("t-a", "t-b"), says("ok")], **{"t-": list(gates)})
    session = session_with(model, *tools(), log=log)
    await run(session, say("go"))
    session.send(StopAgent("writer-1"))
    await until(session, is_fact(ev.SubtaskCompleted))
    assert [row.outcome for row in session.state.subtasks.values()] == ["interrupted", ""]
    assert ends(log)[0].digest.startswith("[writer-1 was cut short: interrupted by the operator.")
    await session.close()
    assert [row.outcome for row in session.state.subtasks.values()] == ["interrupted", "interrupted"]


@pytest.mark.parametrize("running", [True, False])
async def test_an_interrupt_stops_all_of_them_inline_and_beside(running: bool):
    log = ListLog()
    slow = FakeTool("read_file", never)
    work = [wants(("read_file", {"path": "a"})) for _ in range(2)]
    main = [sends("t-a"), *([spawns("t-b")] if running else [says("ok")])]
    session = session_with(Answering(main=main, **{"t-": work}), *tools(read_file=slow), log=log)
    session.send(say("go"))
    await settle(60)
    assert slow.running == (2 if running else 1)
    session.send(Interrupt())
    await session.idle()
    await settle()
    assert slow.running == 0
    assert {end.outcome for end in ends(log)} == {"interrupted"}
    assert len(ends(log)) == (2 if running else 1)
    await session.close()


async def test_what_cuts_the_turn_stops_those_beside_it_too():
    log = ListLog()
    gate = Gate(says("x"))
    model = Answering(
        main=[sends("write"), wants(("read_file", {"path": "a"})), says("stopping")], write=[gate]
    )
    session = session_with(model, *tools(), log=log, limits=Limits(max_steps=1))
    await run(session, say("go"))
    await settle()
    assert session.state.ending is not None
    assert session.state.ending.outcome == "budget-exhausted"
    assert "the turn that started it was stopped" in ends(log)[0].digest
    await session.close()


async def test_a_rewind_stops_those_that_were_started_for_what_is_taken_back():
    log = ListLog()
    gate = Gate(says("x"))
    model = Answering(main=[sends("write"), says("ok")], write=[gate])
    session = session_with(model, *tools(), log=log)
    await run(session, say("go"))
    session.send(Rewind(session.state.spoken[0].seq, "conversation"))
    await session.idle()
    await settle()
    assert "the message that it was started for was taken back" in ends(log)[0].digest
    await session.close()


# ── never with more than the session ──


def judged(proposal: Proposal, facts: Facts) -> Ruling:
    return allow(proposal, facts) if proposal.touches.effect == "none" else ask_writes(proposal, facts)


async def test_its_approvals_come_with_its_name_also_after_the_turn():
    log = ListLog()
    written = FakeTool("write_file", read_only=False)
    gate = Gate(wants(("write_file", {"path": "a"})))
    model = Answering(main=[sends("write"), says("ok")], write=[gate, says("done")])
    session = session_with(model, *tools(write_file=written), log=log, judge=judged)
    session.send(say("go"))
    await gate.reached.wait()
    gate.open.set()
    await until(session, is_fact(ev.ApprovalRequested))
    await session.idle()
    (asked,) = session.state.pending.values()
    assert asked.agent == "writer-1"
    session.send(Answer(asked.call_id, allowed=True))
    await until(session, is_fact(ev.SubtaskCompleted))
    assert written.ran == ["a"]
    assert session.state.pending == {}
    await session.close()


async def test_its_mode_is_the_narrower_one_and_its_rules_come_on_top():
    seen: list[Facts] = []

    def judge(proposal: Proposal, facts: Facts) -> Ruling:
        seen.append(facts)
        return Ruling("allow", "test", "")

    agent = replace(WRITER, mode="acceptEdits", deny=("bash:git push*",))
    model = Answering(
        main=[spawns("t-one"), spawns("t-two"), says("ok")],
        **{
            "t-": [
                wants(("read_file", {"path": "a"})),
                says("x"),
                wants(("read_file", {"path": "a"})),
                says("y"),
            ]
        },
    )
    session = session_with(
        model,
        *tools(),
        judge=judge,
        staff=staff(agent),
        facts=Facts("yolo", True, (("/p", "rw"),), deny=("x",)),
    )
    session.send(SetMode("yolo"))
    await run(session, say("go"))
    inner = [facts for facts in seen if "bash:git push*" in facts.deny]
    assert [(facts.mode, facts.deny) for facts in inner] == [("acceptEdits", ("x", "bash:git push*"))] * 2
    assert {facts.mode for facts in seen if facts not in inner} == {"yolo"}
    session.send(SetMode("plan"))
    model.scripts["main"] += [spawns("t-three"), says("ok")]
    model.scripts["t-"] += [wants(("read_file", {"path": "a"})), says("z")]
    seen.clear()
    await run(session, say("again"))
    assert {facts.mode for facts in seen} == {"plan"}
    await session.close()


def test_the_narrower_of_two_modes():
    assert narrower("yolo", "ask") == "ask"
    assert narrower("plan", "yolo") == "plan"
    assert narrower("ask", "allow") == "allow"


async def test_before_a_plan_is_recorded_none_is_started():
    from agent_cli.permissions.book import judge

    log = ListLog()
    session = session_with(
        Answering(main=[spawns("x"), says("ok")]),
        *tools(),
        log=log,
        judge=judge,
        facts=Facts("yolo", True, (("/p", "rw"),), needs_plan="record a plan first"),
    )
    await run(session, say("go"))
    assert results(log)[0].startswith("Refused (plan-gate): record a plan first")
    assert not session.state.subtasks
    await session.close()


async def test_agents_start_agents_as_deep_as_it_is_set_and_only_inline():
    log = ListLog()
    model = Answering(
        main=[spawns("t-outer"), says("ok")],
        **{
            "t-outer": [sends("t-inner"), spawns("t-inner"), says("outer")],
            "t-inner": [says("inner")],
        },
    )
    session = session_with(model, *tools(), log=log, staff=staff(depth=2))
    await run(session, say("go"))
    inner = [
        text_of(entry.event.output.for_model)  # type: ignore[arg-type]  # texts
        for entry in log.read()
        if entry.branch and isinstance(entry.event, ev.ToolReturned)
    ]
    assert inner[0].startswith("No agent was started: an agent that was started by another one")
    assert inner[1] == "[writer-2 finished.]\ninner"
    assert "spawn_agent" not in [tool.name for tool in model.prompts("t-inner")[0].tools]
    await session.close()


# ── what it may spend ──


async def test_calls_that_are_promised_to_one_beside_are_not_the_parents():
    log = ListLog()
    gate = Gate(wants(("read_file", {"path": "a"})))
    model = Answering(
        main=[
            sends("write"),
            wants(*[("read_file", {"path": f"f{at}"}) for at in range(9)]),
            says("eleven would be too many"),
        ],
        write=[gate, says("x")],
    )
    read = FakeTool("read_file")
    session = session_with(model, *tools(read_file=read), log=log, limits=Limits(max_tool_calls=10))
    await run(session, say("go"))
    assert read.ran == [], "one was used, one is promised, and nine do not fit into ten"
    assert session.state.ending is not None
    assert session.state.ending.exhausted == "tool-calls"
    await session.close()


async def test_what_was_promised_comes_back_when_it_ends():
    log = ListLog()
    model = Answering(
        main=[spawns("write"), wants(*[("read_file", {"path": f"f{at}"}) for at in range(9)]), says("ok")],
        write=[says("x")],
    )
    read = FakeTool("read_file")
    session = session_with(model, *tools(read_file=read), log=log, limits=Limits(max_tool_calls=10))
    await run(session, say("go"))
    assert len(read.ran) == 9
    await session.close()


# ── when the process dies ──


async def test_after_a_kill_two_in_flight_are_told_as_cut_short_and_do_not_run_again():
    log = ListLog()
    gates = [Gate(says("x")), Gate(says("y"))]
    model = Answering(
        main=[sends("t-a"), spawns("t-b"), says("ok")],
        **{"t-": [wants(("read_file", {"path": "a"}), text="I look"), *gates, says("z")]},
    )
    session = session_with(model, *tools(), log=log)
    session.send(say("go"))
    await gates[1].reached.wait()
    cut = ListLog(entries=list(log.read()))  # the process is gone; nothing more was written
    await session.close()

    model = Answering(main=[says("they were cut short")])
    again = session_with(model, *tools(), log=cut)
    assert [row.outcome for row in again.state.subtasks.values()] == ["interrupted", "interrupted"]
    assert sorted(again.state.reports) == ["s1:sub:writer-1", "s1:sub:writer-2"]
    await again.close()
    again = session_with(model, *tools(), log=cut)
    assert len(again.state.reports) == 2, "what was not told stays to be told"
    await run(again, say("and?"))
    assert len(model.asked) == 1
    told = str(model.asked[0].messages)
    assert (
        "[writer-1 was cut short: the process stopped while it ran. What it had said until then follows]"
        in told
    )
    assert "I look" in told
    assert (
        "[writer-2 was cut short: the process stopped while it ran. It had said nothing until then]" in told
    )
    assert [
        part for message in model.asked[0].messages for part in message.parts if isinstance(part, ToolResult)
    ]
    notes = [event.text for event in cut.events if isinstance(event, ev.OperatorNote)]
    assert any("the agent writer-1 was cut short; the model gets its report" in note for note in notes)
    await again.close()
    third = session_with(Answering(), *tools(), log=cut)
    assert third.state.reports == {}
    await third.close()


async def test_a_report_that_was_not_told_yet_outlives_the_process():
    log = ListLog()
    model = Answering(main=[sends("write"), says("ok")], write=[says("done")])
    session = session_with(model, *tools(), log=log)
    await run(session, say("go"))
    await settle()
    await session.close()
    model = Answering(main=[says("thanks")])
    again = session_with(model, *tools(), log=log)
    await run(again, say("hello again"))
    texts = [
        part.text for message in model.asked[0].messages for part in message.parts if isinstance(part, Text)
    ]
    assert any("[writer-1 finished.]\ndone" in text for text in texts)
    await again.close()
