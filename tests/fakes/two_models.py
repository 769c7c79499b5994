"""A session with a large model and a small one, whose subtasks run on the small one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_cli.engine.own_tools.agentic import WRAPPERS
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard, Price
from agent_cli.ports import OpenModel
from tests.fakes.clock import FakeClock
from tests.fakes.models import CARD, Playing, wants
from tests.fakes.sessions import open_session
from tests.fakes.tools import FakeTool

SMALL = ModelCard(
    "small-1", "fake", window=50_000, max_output=4_000, prices=(Price(input=100.0, output=200.0),)
)


class TwoModels:
    """A large model and a small one, each with a script of its own."""

    def __init__(self, large: Playing, small: Playing) -> None:
        self.large, self.small = large, small

    def open(self, name: str, /) -> OpenModel:
        match name:
            case "fake-1":
                return OpenModel(self.large, CARD)
            case "small-1":
                return OpenModel(self.small, SMALL)
            case _:
                raise ConfigError(f"unknown model '{name}'")


def opened(large: Playing, little: Playing, *tools: FakeTool, **changes: Any) -> Session:
    models = TwoModels(large, little)
    changes = {"small": lambda card: "small-1", "clock": FakeClock(), **changes}
    return open_session(
        large, *tools, models=models, model=models.open("fake-1"), own_tools=frozenset(WRAPPERS), **changes
    )


def tools(work: Callable[..., Any] | None = None) -> list[FakeTool]:
    return [FakeTool(name, work) for name in ("read_file", "grep", "list_dir", "glob")]


def asks(*questions: str, tool: str = "agentic_grep") -> ev.Finished:
    return wants(*[(tool, {"question": question}) for question in questions])
