"""What a client asks of sessions, over real sockets."""

from __future__ import annotations

import asyncio

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import Usage
from agent_cli.server.door import Opened, Terms
from agent_cli.server.hosted import Hosted
from tests.fakes.attached import Attached, attached, ended, is_type, until
from tests.fakes.http_server import FakeService, Say
from tests.fakes.session import FakeSession
from tests.server.conftest import MODEL


def keys(service: FakeService) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": service.url}


WRITES = {"calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}}]}


async def turns(server: Attached, session: str, count: int, since: int = 0) -> list[object]:
    """Events until so many turns have ended."""
    seen = 0

    def enough(heard) -> bool:
        nonlocal seen
        seen += ended(heard)
        return seen == count

    return await server.heard(session, enough, since=since)


async def test_a_session_begins_from_config_and_answers(project, script):
    async with attached(project, script=script({"text": "Hi there."}), model__provider="scripted") as server:
        made = await server.post("/sessions", {"message": "hello", "name": "mine"})
        assert made["status_code"] == 201
        heard = await server.heard(made["id"], ended)
        assert [event.id for event in heard if event.id] == list(range(1, heard[-1].id + 1)), (
            "every fact, once, in order"
        )
        found = await server.get(f"/sessions/{made['id']}")
        assert (found["answer"], found["name"], found["running"], found["halted"]) == (
            "Hi there.",
            "mine",
            False,
            False,
        )
        assert (found["open"], found["held_by"], found["ending"]["outcome"]) == (
            True,
            "this server",
            "completed",
        )
        listed = await server.get("/sessions")
        assert [row["id"] for row in listed["sessions"]] == [made["id"]]


async def test_a_session_without_a_message_waits_for_one_and_is_on_record(project, script):
    async with attached(project, script=script({"text": "Hi."}), model__provider="scripted") as server:
        session = await server.begin()
        assert [row["id"] for row in (await server.get("/sessions"))["sessions"]] == [session]
        told = await server.post(f"/sessions/{session}/inject", {"message": "hello"})
        assert (told["queued"], told["halt"], told["running"], told["turn"]) == (False, None, True, 1)
        await server.heard(session, ended)


async def test_a_halted_session_takes_messages_and_a_reset_with_enough_has_them_answered_in_order(
    project, service
):
    async with attached(
        project, environ=keys(service), model__name=MODEL, agent__max_session_cost_usd=1.0
    ) as server:
        session = await server.begin("spend")
        await server.heard(session, is_type("guardrail-trip"))
        await server.hosting.peek(session).door.idle()
        asked = len(service.requests)

        for number, text in enumerate(("first", "second", "third"), start=1):
            told = await server.post(f"/sessions/{session}/inject", {"message": text})
            assert (told["status_code"], told["queued"], told["waiting"]) == (200, True, number)
            assert told["halt"]["guardrail"] == "cost_ceiling"
            assert "cost ceiling exceeded" in told["halt"]["reason"]
        assert len(service.requests) == asked, "nothing was asked of the model"

        stands = await server.get(f"/sessions/{session}/guardrails")
        assert (stands["halted"], stands["waiting"]) == (True, 3)
        ceiling = next(each for each in stands["ceilings"] if each["per"] == "session")
        assert ceiling["limit"] == 1.0
        assert ceiling["used"] > 1.0
        assert stands["trips"][0]["guardrail"] == "cost_ceiling"
        least = stands["additional_budget_usd"]
        assert least == told["halt"]["additional_budget_usd"] > 0

        bare = await server.post(f"/sessions/{session}/guardrails/reset")
        assert (bare["status_code"], bare["error"]["kind"]) == (409, "would-trip-again")
        assert bare["error"]["additional_budget_usd"] == least
        assert f'"additional_budget_usd": {least:.2f}' in bare["error"]["message"], (
            "the words are those of HTTP"
        )
        assert (
            "agent-cli guardrails"
            not in bare["error"]["message"] + told["halt"]["reset"] + stands["halts"][0]["reset"]
        )
        less = await server.post(
            f"/sessions/{session}/guardrails/reset", {"additional_budget_usd": round(least - 0.01, 2)}
        )
        assert less["status_code"] == 409
        assert (await server.get(f"/sessions/{session}"))["halted"] is True

        service.replies = [Say("Cheap.", usage={"input_tokens": 10, "output_tokens": 1})]
        since = (await server.get(f"/sessions/{session}"))["seq"]
        enough = await server.post(f"/sessions/{session}/guardrails/reset", {"additional_budget_usd": least})
        assert (enough["status_code"], enough["halted"], enough["running"]) == (200, False, True)
        heard = await server.heard(session, ended, since=since)
        (reset,) = [event.data for event in heard if event.type == "guardrail-reset"]
        assert reset["added_usd"] == least, "granted budget is a fact"
        said = [event.data["content"][0]["text"] for event in heard if event.type == "operator-message"]
        assert said == ["first", "second", "third"]
        assert (await server.get(f"/sessions/{session}"))["waiting"] == 0
        usage = await server.get(f"/sessions/{session}/usage")
        assert usage["total"]["cost_usd"] > 1.0, "spent dollars stay spent"


async def test_a_halt_and_what_waits_outlive_the_server(project, service):
    more = {"model__name": MODEL, "agent__max_session_cost_usd": 1.0}
    async with attached(project, environ=keys(service), **more) as server:
        session = await server.begin("spend")
        await server.heard(session, is_type("guardrail-trip"))
        await server.post(f"/sessions/{session}/inject", {"message": "waits"})
    async with attached(project, environ=keys(service), **more) as server:
        assert server.hosting.peek(session) is None
        found = await server.get(f"/sessions/{session}")
        assert (found["open"], found["halted"], found["waiting"]) == (False, True, 1)
        assert found["halt"]["guardrail"] == "cost_ceiling"
        stands = await server.get(f"/sessions/{session}/guardrails")
        assert stands["additional_budget_usd"] > 0
        assert server.hosting.peek(session) is None, "looking opens nothing"
        told = await server.post(f"/sessions/{session}/inject", {"message": "waits, too"})
        assert (told["queued"], told["waiting"]) == (True, 2)
        service.replies = [Say("Cheap.", usage={"input_tokens": 10, "output_tokens": 1})]
        reset = {"guardrail": "cost_ceiling", "additional_budget_usd": stands["additional_budget_usd"]}
        assert (await server.post(f"/sessions/{session}/guardrails/reset", reset))["running"] is True
        heard = await server.heard(session, ended, since=told["seq"])
        said = [event.data["content"][0]["text"] for event in heard if event.type == "operator-message"]
        assert said == ["waits", "waits, too"]


async def test_an_approval_waits_for_whoever_is_attached(project, script):
    replies = script(WRITES, {"text": "Written."}, WRITES, {"text": "Not written."})
    async with attached(project, terms=Terms(approval_wait=0.05), script=replies) as server:
        session = await server.begin()
        following = asyncio.create_task(turns(server, session, 2))
        await until(lambda: server.hosting.peek(session)._deciders)
        await server.post(f"/sessions/{session}/inject", {"message": "write it"})
        await server.heard(session, is_type("approval-requested"))
        (asked,) = (await server.get(f"/sessions/{session}"))["pending_approvals"]
        assert (asked["tool"], asked["subject"]) == ("write_file", "b.txt")
        assert server.hosting.peek(session)._patience is None, "somebody is there"
        place = f"/sessions/{session}/approvals/{asked['call_id']}"
        assert (await server.post(place, {"decision": "approve"}))["allowed"] is True
        first = await server.heard(session, ended)
        assert (project / "b.txt").read_text() == "new\n"
        assert (await server.post(place, {"decision": "approve"}))["status_code"] == 404
        odd = await server.post(f"/sessions/{session}/approvals/a%2Fb%2525", {"decision": "approve"})
        assert (odd["status_code"], "'a/b%25'" in odd["error"]["message"]) == (404, True)
        await server.post(f"/sessions/{session}/inject", {"message": "again"})
        heard = await server.heard(session, is_type("approval-requested"), since=first[-1].id)
        denied = {"decision": "deny", "message": "leave it alone"}
        await server.post(f"/sessions/{session}/approvals/{heard[-1].data['call_id']}", denied)
        (result,) = [
            event.data
            for event in await following
            if event.type == "tool-result" and not event.data["executed"]
        ]
        assert "leave it alone" in result["output"]["for_model"][0]["text"]


async def test_an_approval_that_nobody_can_decide_is_refused_after_a_while(project, script):
    replies = script(WRITES, {"text": "Then not."})
    async with attached(project, terms=Terms(approval_wait=0.05), script=replies) as server:
        reader = server.token("reader", "read")
        writer = server.token("writer", "write")
        made = await server.post("/sessions", {"message": "write it"}, headers=writer)
        heard = await server.heard(made["id"], ended, headers=reader)
        (decided,) = [event.data for event in heard if event.type == "approval-decided"]
        assert decided["allowed"] is False
        assert "nobody was attached" in decided["message"]
        assert not (project / "b.txt").exists()


async def test_a_question_of_the_model_is_answered(project, script):
    asks = {"calls": [{"name": "ask_user", "arguments": {"question": "Which one?", "options": ["a", "b"]}}]}
    async with attached(project, script=script(asks, {"text": "b it is."})) as server:
        session = await server.begin("choose")
        heard = await server.heard(session, is_type("approval-requested"))
        assert heard[-1].data["options"] == ["a", "b"]
        place = f"/sessions/{session}/approvals/{heard[-1].data['call_id']}"
        assert (await server.post(place, {"decision": "approve", "edit": "b"}))["status_code"] == 200
        heard = await server.heard(session, ended)
        (result,) = [event.data for event in heard if event.type == "tool-result"]
        assert "b" in result["output"]["for_model"][0]["text"]


async def test_a_turn_is_interrupted_and_what_waits_goes_out_with_the_next_word(project, script):
    replies = script({"text": "slow " * 50, "pace_ms": 100}, {"text": "Both."})
    async with attached(project, script=replies) as server:
        session = await server.begin("go")
        await server.heard(session, is_type("text-delta"))
        told = await server.post(f"/sessions/{session}/inject", {"message": "later", "when": "after"})
        assert (told["queued"], told["halt"]) == (True, None)
        assert (await server.post(f"/sessions/{session}/compact"))["error"]["kind"] == "turn-in-flight"
        assert (await server.post(f"/sessions/{session}/interrupt"))["interrupted"] is True
        heard = await server.heard(session, ended)
        assert heard[-1].data["outcome"] == "interrupted"
        assert (await server.post(f"/sessions/{session}/interrupt"))["interrupted"] is False
        await server.post(f"/sessions/{session}/inject", {"message": "now"})
        heard = await turns(server, session, 2)
        said = [event.data["content"][0]["text"] for event in heard if event.type == "operator-message"]
        assert said[:2] == ["go", "later"]


async def test_reductions_are_done_between_turns_and_told_as_events(project, script):
    replies = script({"text": "Done."}, {"text": "A summary of it."}, {"text": "A record."})
    async with attached(project, script=replies) as server:
        empty = await server.begin()
        assert (await server.post(f"/sessions/{empty}/checkpoint"))["error"]["kind"] == "nothing-said"
        session = await server.begin("do it")
        await server.heard(session, ended)
        told = await server.post(f"/sessions/{session}/checkpoint", {"note": "did it"})
        assert (told["status_code"], told["accepted"]) == (202, True)
        done = ("checkpoint-performed", "operator-note", "context-reduction-failed")
        heard = await server.heard(session, lambda event: event.type in done, since=told["since"])
        assert heard[-1].id > told["since"]


async def test_an_inbox_is_bounded_and_refuses_instead_of_dropping(project, script):
    replies = script({"text": "slow " * 50, "pace_ms": 100}, {"text": "Ok."})
    async with attached(project, terms=Terms(inbox=2), script=replies) as server:
        session = await server.begin("go")
        await server.heard(session, is_type("text-delta"))
        codes = []
        for text in "abc":
            answer = await server.client.post(
                f"/sessions/{session}/inject", json={"message": text, "when": "after"}
            )
            codes.append(answer.status_code)
        assert codes == [200, 200, 429]
        assert answer.json()["error"]["kind"] == "inbox-full"
        assert int(answer.headers["retry-after"]) > 0
        waiting = (await server.get(f"/sessions/{session}"))["messages_waiting"]
        assert [each["message"] for each in waiting] == ["a", "b"]


async def test_only_so_many_sessions_are_open_and_one_that_has_nothing_to_do_is_let_go(project, script):
    async with attached(
        project, terms=Terms(sessions=1, idle=0.2), script=script({"text": "Hi."}, {"text": "Hi."})
    ) as server:
        session = await server.begin("hello")
        full = await server.post("/sessions", {"message": "me too"})
        assert (full["status_code"], full["error"]["kind"]) == (503, "too-many-sessions")
        await server.heard(session, is_type("session-ended"))
        await until(lambda: not server.hosting.hosted)
        assert (await server.get(f"/sessions/{session}"))["open"] is False
        assert (await server.post(f"/sessions/{session}/inject", {"message": "again"}))["queued"] is False


async def test_a_session_whose_agents_work_on_in_the_background_is_not_let_go():
    session = FakeSession()
    session.play(ev.SessionStarted("/p", "0.1.0", "linux", "2026-11-30", "scripted", "m", "ask"))
    session.play(
        ev.SubtaskStarted("reviewer", "m", "review it", "agent:reviewer-1", "c1", "reviewer", background=True)
    )
    hosted = Hosted(Opened(session, "enforce"), Terms(idle=0.0), lambda entry: None)
    assert not hosted.spare
    usage = Usage(input=1)
    session.play(ev.SubtaskCompleted("reviewer", "completed", "fine", usage, 0.0, "m", "agent:reviewer-1"))
    assert hosted.spare
    with hosted.used():
        assert not hosted.spare, "a request is at work on it"
    await hosted.close("over")


BODIES = [
    ("inject", "", 422, "needs a body"),
    ("inject", "{", 400, "no JSON"),
    ("inject", '{"mesage": "x"}', 422, "unknown field `mesage`"),
    ("inject", '{"message": 7}', 422, "Expected `str`"),
    ("inject", '{"message": "  "}', 422, "blanks"),
    ("inject", '{"message": "x", "when": "now"}', 422, "when"),
    ("guardrails/reset", '{"additional_budget_usd": -1}', 422, ">= 0"),
    ("guardrails/reset", '{"additional_budget_usd": "1"}', 422, "Expected `float`"),
    ("guardrails/reset", '{"guardrail": "everything"}', 422, "everything"),
    ("approvals/c1", '{"decision": "maybe"}', 422, "maybe"),
]


async def test_bodies_are_checked_and_the_refusal_says_what_would_be_right(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        session = await server.begin()
        for place, body, status, words in BODIES:
            answer = await server.client.post(f"/sessions/{session}/{place}", content=body)
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), body
            assert words in answer.json()["error"]["message"], body
        long = await server.client.post(
            f"/sessions/{session}/inject", content=b'{"message":"' + b"x" * (1 << 20) + b'"}'
        )
        assert long.status_code == 413
        assert (await server.get(f"/sessions/{session}"))["turn"] == 0, "nothing of it was said"


@pytest.mark.parametrize("body", [{"cwd": "/"}, {"cwd": ".."}, {"cwd": "missing"}, {"cwd": "a\0b"}])
async def test_a_session_is_begun_only_where_and_with_what_may_be(project, script, body):
    async with attached(project, script=script({"text": "Hi."})) as server:
        refused = await server.post("/sessions", body)
        assert (refused["status_code"], refused["error"]["kind"]) == (422, "config")
        assert (await server.get("/sessions"))["sessions"] == []
        (project / "sub").mkdir()
        made = await server.post("/sessions", {"cwd": "sub"})
        assert made["cwd"] == str(project / "sub")


async def test_a_model_that_is_not_there_is_said_and_begins_nothing(project):
    async with attached(project) as server:
        for body in ({"message": "hello"}, {"model": "claude-opus-5"}):
            refused = await server.post("/sessions", body)
            assert refused["status_code"] == 422
            assert "ANTHROPIC_API_KEY" in refused["error"]["message"]
        assert (await server.get("/sessions"))["total"] == 0
