"""Reading tools that keep what they read out of the conversation: a subtask on a small model reads, its digest returns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

from agent_cli.context.system import system_prompt
from agent_cli.engine import calls
from agent_cli.engine.core import Core
from agent_cli.engine.own_tools.words import spec_of
from agent_cli.engine.subtasks import SubtaskSpec, run_subtask
from agent_cli.kernel.errors import AgentError, StoreError, ToolError
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, describe, for_people
from agent_cli.ports import Say, Touches

_HERE = Path(__file__).parent
QUESTION = "in full sentences: the reader sees nothing else"


class FileQuestion(Arguments, frozen=True):
    path: Annotated[str, for_people("absolute, ~ or relative to the working directory")]
    question: Annotated[str, describe(QUESTION)]


class PageQuestion(Arguments, frozen=True):
    url: Annotated[str, for_people("the page")]
    question: Annotated[str, describe(QUESTION)]


class SearchQuestion(Arguments, frozen=True):
    question: Annotated[str, describe(QUESTION)]
    pattern: Annotated[str, describe("regular expression to begin with")] = ""
    path: Annotated[str, for_people("file or directory to search")] = "."


class OpenQuestion(Arguments, frozen=True):
    question: Annotated[str, describe(QUESTION)]
    path: Annotated[str, for_people("directory to begin in")] = "."


class Wrapper(NamedTuple):
    """One tool: what it takes, and what its subtask may use."""

    arguments: type[Any]
    inner: tuple[str, ...]


WRAPPERS: dict[str, Wrapper] = {
    "agentic_read_file": Wrapper(FileQuestion, ("read_file",)),
    "agentic_fetch_url": Wrapper(PageQuestion, ("fetch_url",)),
    "agentic_grep": Wrapper(SearchQuestion, ("grep", "read_file")),
    "agentic_research": Wrapper(OpenQuestion, ("read_file", "grep", "list_dir", "glob")),
}
"""In the order in which a model sees them."""


class Agentic:
    """Asks for nothing by itself: each call that its subtask makes is judged like one of the session."""

    read_only = True
    bounded = False

    def __init__(self, wrapper: Wrapper, core: Core) -> None:
        name = next(name for name, known in WRAPPERS.items() if known is wrapper)
        self.spec = spec_of(name, wrapper.arguments)
        self.arguments = wrapper.arguments
        self._inner = wrapper.inner
        self._core = core

    @staticmethod
    def touches(args: Any, /) -> Touches:
        return Touches("none", _subject(args))

    def preview(self, args: Any, /) -> None:
        """Nothing to see: the question says it."""

    async def run(self, args: Any, say: Say, /) -> Output:
        if not args.question.strip():
            raise ToolError("`question` is empty: say what the reader is to find out.")
        spec = SubtaskSpec(
            name=self.spec.name,
            system="\n\n".join(system_prompt(_words("subtask"), self._core.started)),
            task=_task(args),
            tools=self._inner,
            call_id=calls.running.get(),
        )
        try:
            result = await run_subtask(self._core, spec)
        except StoreError:
            raise
        except AgentError as problem:
            raise ToolError(f"{problem}. Use {' or '.join(self._inner)} yourself.") from None
        return Output((Text(result.digest),), ok=result.how == "finished")


def _words(name: str) -> str:
    return (_HERE / f"{name}.md").read_text(encoding="utf-8")


def _subject(args: Any) -> str:
    """The question, and where it is asked."""
    match args:
        case FileQuestion(path, question):
            return f"{path}: {question}"
        case PageQuestion(url, question):
            return f"{url}: {question}"
        case SearchQuestion(question, pattern, path):
            return f"{pattern} in {path}: {question}" if pattern else f"{path}: {question}"
        case _:
            return f"{args.path}: {args.question}"


def _task(args: Any) -> str:
    """The one message that the subtask gets."""
    match args:
        case FileQuestion(path, question):
            return f"Read the file {path} and answer this:\n\n{question}"
        case PageQuestion(url, question):
            return f"Read the page {url} and answer this:\n\n{question}"
        case SearchQuestion(question, pattern, path):
            begin = f" Begin with the regular expression {pattern}." if pattern else ""
            return f"Search {path} for the answer to this.{begin}\n\n{question}"
        case _:
            return f"Find out, beginning in {args.path}:\n\n{args.question}"
