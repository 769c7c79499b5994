"""How full the window is: what the service counted, and an estimate of what came since."""

from __future__ import annotations

from agent_cli.context.estimate import tokens_of_prose
from agent_cli.engine.parts import Settings
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Image, Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.talk import views
from tests.fakes.models import Playing, says
from tests.fakes.session import FakeSession
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

COUNTED = Usage(input=1_000, cache_read=400, cache_write=200, output=50)


def used(*events: ev.Recorded) -> tuple[int, bool]:
    session = FakeSession()
    session.play(*events)
    return session.state.context_tokens, session.state.context_estimated


def returned(text: str, *more: object) -> ev.ToolReturned:
    return ev.ToolReturned("c1", "read", ev.Output((Text(text), *more)))  # type: ignore[arg-type]  # blocks of any kind


def test_what_the_service_counted_is_all_of_the_prompt_and_the_answer():
    assert used(ev.TurnStarted("m"), ev.UsageReported("m", COUNTED, None)) == (1_650, False)


def test_the_text_of_the_model_is_never_estimated():
    said = ev.AssistantMessage((Text("long " * 900), ToolCall("c1", "read", {"path": "a" * 900})), "p", "m")
    assert used(ev.TurnStarted("m"), said, ev.UsageReported("m", COUNTED, None)) == (1_650, False)


def test_results_that_nobody_counted_yet_take_three_bytes_a_token_rounded_up():
    begun = (ev.TurnStarted("m"), ev.UsageReported("m", COUNTED, None))
    assert used(*begun, returned("x" * 300)) == (1_750, True)
    assert used(*begun, returned("x" * 301)) == (1_751, True)
    assert used(*begun, returned("é" * 300)) == (1_850, True), "bytes, not characters"
    assert used(*begun, returned("", Image("image/png", "aaaa"))) == (3_250, True)


def test_the_estimate_is_dropped_as_soon_as_the_next_answer_is_counted():
    counted = Usage(input=1_700, output=30)
    events = (
        ev.TurnStarted("m"), ev.UsageReported("m", COUNTED, None), returned("x" * 9_000),
        ev.OperatorMessage((Text("more " * 90),)), ev.UsageReported("m", counted, None),
    )  # fmt: skip
    assert used(*events) == (1_730, False)
    assert used(*events[:4]) == (1_650 + 3_000 + tokens_of_prose("more " * 90), True)


def test_what_a_summary_or_a_subtask_took_says_nothing_about_the_window():
    begun = (ev.TurnStarted("m"), ev.UsageReported("m", COUNTED, None))
    for purpose in ("summary", "subtask"):
        assert used(*begun, ev.UsageReported("m", Usage(input=90_000), None, purpose)) == (1_650, False)


def test_after_a_reduction_the_figure_is_an_estimate_until_the_service_counts_again():
    begun = (
        ev.TurnStarted("m"),
        ev.UsageReported("m", COUNTED, None),
        ev.CompactionPerformed("prune", 1_650, 700),
    )
    assert used(*begun) == (700, True)
    assert used(*begun, ev.UsageReported("m", Usage(input=680, output=20), None)) == (700, False)


async def test_where_nothing_was_counted_yet_the_whole_prompt_is_estimated():
    provider = Playing(says("Done."))
    session = open_session(provider, FakeTool("read"), settings=Settings(attempts=1))
    used, estimated = session.context_used()
    assert estimated
    assert used == sum(share.tokens for share in session.shares()) > 0, "instructions and tools are sent, too"
    rows = dict(views.context(session.state, session.shares()).rows)
    assert rows["next prompt"] == f"~{used:,} tokens (part of it estimated)"
    await run(session, say("a question"))
    assert f"last-context {used + 3} " in (provider.asked[0].status or "")
    assert session.context_used() == (110, False)
    await session.close()
