"""Sessions of any shape against a service that counts, caches and refuses as real ones do."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator

import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_cli.context import prefix, reduce
from agent_cli.context.view import View
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ContextOverflow, Overloaded
from agent_cli.kernel.messages import Part, Prompt, Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing
from tests.fakes.prompts import accepted
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

MARK = "keep the word marzipan"
LINES = "".join(f"def value_{n}(x):\n    return 'v{n}' + x * {n}\n\n" for n in range(4_000))


class Shape(msgspec.Struct, frozen=True):
    """One session. `steps` are (bytes of each result, bytes of text beside the calls); `turns` end after so many of them.

    `summaries` say what the summarizer does, one after the other, the last again and again.
    """

    window: int
    steps: list[tuple[tuple[int, ...], int]]
    turns: list[int]
    summaries: list[str]
    mode: str = "prune-then-summarize"


steps = st.tuples(
    st.lists(st.integers(300, 60_000), min_size=1, max_size=3).map(tuple), st.integers(500, 6_000)
)
shapes = st.builds(
    Shape,
    window=st.sampled_from((8_192, 20_000, 64_000)),
    steps=st.lists(steps, min_size=4, max_size=24),
    turns=st.lists(st.integers(1, 8), max_size=3),
    summaries=st.lists(
        st.sampled_from(("good", "empty", "long", "broken", "refused")), min_size=1, max_size=4
    ),
    mode=st.sampled_from(("prune-then-summarize", "summarize-only")),
)


def counted(part: Part) -> int:
    """As a service counts: a quarter of the bytes of its compact JSON."""
    return len(json.dumps(msgspec.to_builtins(part), ensure_ascii=False, separators=(",", ":")).encode()) // 4


class Service(Playing):
    """Plays a shape. `estimates` are (what was estimated, what was counted) of each request."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.session: Session | None = None
        self.sizes = iter([size for results, _ in shape.steps for size in results])
        self.step = 0
        self.summary = 0
        self.estimates: list[tuple[int, int]] = []
        self.marks: list[bool] = []

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        size = sum(counted(part) for message in prompt.messages for part in message.parts)
        size += len("".join(prompt.system)) // 4 + sum(len(str(tool)) for tool in prompt.tools) // 4
        if size > self.shape.window:
            raise ContextOverflow("prompt is too long", used=size, limit=self.shape.window)
        helper = prompt.tool_choice == "none" or not prompt.tools
        if helper:
            yield self._summary(size)
            return
        assert self.session is not None
        self.asked.append(prompt)
        self.estimates.append((self.session.state.context_tokens, size))
        yield self._step(size)

    def _summary(self, size: int) -> ev.Finished:
        kind = self.shape.summaries[min(self.summary, len(self.shape.summaries) - 1)]
        self.summary += 1
        match kind:
            case "broken":
                raise Overloaded("busy")
            case "refused":
                raise ContextOverflow("prompt is too long")
            case "empty":
                return ev.Finished((), Usage(input=size), "fake-1", "length", "MAX_TOKENS")
            case _:
                text = "## Current state\n" + "fine " * (40_000 if kind == "long" else 100)
                return ev.Finished((Text(text),), Usage(input=size, output=len(text) // 4), "fake-1", "stop")

    def _step(self, size: int) -> ev.Finished:
        at, self.step = self.step, self.step + 1
        if at >= len(self.shape.steps) or at in set(itertools.accumulate(n + 1 for n in self.shape.turns)):
            return ev.Finished((Text(f"answer {at}"),), Usage(input=size, output=10), "fake-1", "stop")
        results, text = self.shape.steps[at]
        calls = [ToolCall(f"c{at}-{n}", "read", {"path": f"f{at}-{n}"}) for n in range(len(results))]
        parts = (Text(LINES[:text]), *calls)
        output = sum(map(counted, parts))
        return ev.Finished(parts, Usage(input=size, output=output), "fake-1", "tool-calls")

    async def read(self, path: str, _: object) -> str:
        return LINES[: next(self.sizes, 500)]


async def played(shape: Shape) -> tuple[Service, ListLog]:
    service, log = Service(shape), ListLog()
    card = ModelCard("fake-1", "fake", window=shape.window, max_output=1_000)
    models = OneModel(service, card)
    service.session = session = open_session(
        service, FakeTool("read", service.read), log=log, models=models, model=models.open(card.id),
        summary_prompt="Write the hand-over.",
    )  # fmt: skip
    session.send(say(MARK))
    await session.idle()
    for turn in range(len(shape.turns)):
        await run(session, say(f"message {turn}"))
    endings = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert all(isinstance(ending, ev.TurnCompleted) for ending in endings), endings
    await session.close()
    return service, log


def views(log: ListLog) -> list[tuple[ev.Entry, View]]:
    """The view behind each entry: as a fresh process would read it."""
    entries = list(log.read())
    found: list[tuple[ev.Entry, View]] = []
    for end, entry in enumerate(entries, 1):
        view = View()
        for before in entries[:end]:
            view.feed(before)
        found.append((entry, view))
    return found


REDUCTIONS = (ev.CompactionPerformed, ev.CheckpointPerformed)
deep = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


@deep
@example(Shape(8_192, [((60_000, 60_000), 6_000)] * 8, [], ["empty"]))
@example(Shape(20_000, [((30_000,), 500)] * 20, [3, 3, 3], ["broken", "good", "long"]))
@given(shapes)
async def test_no_session_dies_of_its_length_and_every_request_is_valid(shape: Shape):
    service, _ = await played(shape)
    accepted(service.asked)
    for prompt in service.asked:
        assert MARK in str(prompt.messages[0]), "what the operator said is never lost"


@deep
@given(shapes)
async def test_one_request_begins_as_the_one_before_it_unless_a_reduction_lies_between(shape: Shape):
    service, log = await played(shape)
    asked, before, reduced = iter(service.asked), None, True
    for event in log.events:
        if isinstance(event, REDUCTIONS):
            reduced = True
        elif isinstance(event, ev.StepStarted):
            prompt = next(asked, None)
            if prompt is None:
                break
            if before is not None and not reduced:
                assert prefix.change(before, prompt) == ""
            before, reduced = prompt, False


@deep
@given(shapes)
async def test_a_reduction_never_makes_the_view_larger_and_a_restart_changes_nothing(shape: Shape):
    service, log = await played(shape)
    before = 0
    for entry, view in views(log):
        size = reduce.tokens_of(view.items())
        if isinstance(entry.event, REDUCTIONS):
            assert size <= before
            assert entry.event.tokens_after < entry.event.tokens_before
        before = size
    last = views(log)[-1][1].messages()
    assert last[: len(service.asked[-1].messages)] == service.asked[-1].messages


@deep
@given(shapes)
async def test_what_is_estimated_is_hardly_ever_less_than_what_is_counted(shape: Shape):
    service, _ = await played(shape)
    for estimated, counted_ in service.estimates[1:]:
        assert estimated >= 0.9 * counted_ - 50, (estimated, counted_)
