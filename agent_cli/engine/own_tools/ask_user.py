"""A question of the model to the operator. It waits where approvals wait, and is answered in words."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, structs

from agent_cli.engine.core import Core
from agent_cli.engine.own_tools.words import spec_of
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches

NAME = "ask_user"
NOBODY = "Nobody is here to answer. Decide by yourself, prefer what is easy to undo, and say in your answer what you assumed."


class QuestionArguments(Arguments, frozen=True):
    question: Annotated[str, for_people("one question, with what he has to know for it")]
    options: Annotated[tuple[str, ...], Meta(max_length=9), for_people("short answers to choose from")] = ()


class AskUser:
    """The gate asks about each call where somebody is there; what is answered becomes the result."""

    arguments = QuestionArguments
    read_only = True
    bounded = False

    def __init__(self, core: Core) -> None:
        self.spec = spec_of(NAME, QuestionArguments)
        self._answers: dict[int, tuple[QuestionArguments, str]] = {}

    @staticmethod
    def touches(args: QuestionArguments, /) -> Touches:
        if not args.question.strip():
            raise ToolError("`question` is empty: say what you want to know.")
        return Touches("none", args.question)

    def preview(self, args: QuestionArguments, /) -> Shown:
        numbered = (f"{number}  {option}" for number, option in enumerate(args.options, 1))
        return Shown("\n".join((args.question, *numbered)))

    def options(self, args: QuestionArguments, /) -> tuple[str, ...]:
        return args.options

    def edited(self, args: QuestionArguments, text: str, /) -> QuestionArguments:
        """The call with its answer."""
        answered = structs.replace(args)
        self._answers[id(answered)] = (answered, text)
        return answered

    async def run(self, args: QuestionArguments, say: Say, /) -> Output:
        _, answer = self._answers.pop(id(args), (args, ""))
        if not answer.strip():
            return Output((Text(NOBODY),), ok=False)
        return Output((Text(f"The operator answered: {answer.strip()}"),), Shown(answer.strip()))
