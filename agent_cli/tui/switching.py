"""Another session in the same screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import structs
from textual.theme import Theme
from textual.widget import Widget

from agent_cli.kernel.errors import AgentError, ModelGone
from agent_cli.talk.commands import sessions as commands
from agent_cli.talk.door import Door, Sessions, Welcome
from agent_cli.talk.stage import Picking, Row, Wish
from agent_cli.tui.blocks.notice import Banner
from agent_cli.tui.conversation import Conversation
from agent_cli.tui.ink import ink_of


class Holder(Protocol):
    """The app that holds the conversation."""

    conversation: Conversation
    welcome: Welcome

    @property
    def current_theme(self) -> Theme: ...

    def leave(self, exit_code: int = 0) -> None: ...

    def adopt(self, welcome: Welcome) -> None: ...

    def mount(self, *widgets: Widget) -> Awaitable[None]: ...

    def batch_update(self) -> AbstractContextManager[None]: ...


async def switch(app: Holder, wish: Wish) -> None:
    """The other one is opened first: where that fails, this one stays. What was typed is taken along."""
    before = app.conversation
    source = before.desk.sources.sessions
    if source is None:
        return
    try:
        if wish.anew:
            await source.check()
            await _close(before, "it is opened anew")
        session = await _opened(before, source, wish)
        if not wish.anew:
            await _close(before, "the operator went to another session")
    except AgentError as problem:
        before.put(Banner("The session could not be opened.", f"{problem}\n\nNothing else has changed."))
        return
    after = Conversation(app.welcome, ink_of(app.current_theme), before.desk.sources, app.leave)
    after.desk.attach(session, before.desk)  # whoever leaves now closes this one
    app.conversation = after
    with app.batch_update():
        await before.remove()
        await app.mount(after)
    app.adopt(app.welcome)
    before.composer.resume()
    after.composer.pastes = before.composer.pastes
    after.composer.put(before.composer.text)
    await after.follow(session)


async def _opened(conversation: Conversation, source: Sessions, wish: Wish) -> Door:
    """With another model where its own is gone, if the operator names one."""
    try:
        return await source.open(wish)
    except ModelGone as problem:
        return await source.open(structs.replace(wish, model=await another_model(conversation, problem)))


async def another_model(conversation: Conversation, problem: ModelGone) -> str:
    """Asks which model to go on with. Raises the problem where none was chosen."""
    conversation.put(Banner("The model of that session is gone.", str(problem)))
    models = conversation.desk.sources.models
    rows: Callable[[], list[Row]] = lambda: [Row(name, name) for name in models()]  # noqa: E731  one line
    name = await _picked(
        conversation, Picking("Go on with which model?", rows, _nobody, "no model is known here")
    )
    if not name:
        raise problem
    return name


async def _picked(conversation: Conversation, picking: Picking) -> str:
    """The key of what was chosen, "" for nothing."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def chosen(key: str) -> None:
        if not answer.done():
            answer.set_result(key)

    conversation.stage.pick(picking._replace(chosen=chosen, left=lambda: chosen("")))
    return await answer


def _nobody(key: str) -> None:
    """In the place of who is told what was chosen."""


async def _close(conversation: Conversation, reason: str) -> None:
    if conversation.desk.session is not None:
        await conversation.desk.session.close(reason)


async def choose(conversation: Conversation) -> Wish:
    """Asks which session to go on with; a new one where none was chosen or none is kept."""
    source = conversation.desk.sources.sessions
    if source is None:
        return Wish()
    return Wish(
        resume=await _picked(
            conversation, commands.picking(source, "", _nobody, cwd=conversation.desk.welcome.cwd)
        )
    )
