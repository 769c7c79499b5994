"""What has to come of a damaged session: a good turn, or a clear refusal whose way on works.

By hand, as many cases as wanted: python -m tests.damage.trial --cases 5000 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import logging
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from random import Random

from agent_cli import Agent
from agent_cli.cli.app import answer
from agent_cli.kernel.errors import AgentError
from tests.damage.recorded import DATABASE, MODELS, SESSION, record, settings_of
from tests.damage.ways import harm
from tests.fakes.http_server import FakeService, Say

WAYS_ON = (
    "--session-db",
    "--ephemeral",
    "--model",
    "sessions list",
    "without --resume",
    "reset",
    "--fork",
    "Near: ",
    "The latest are ",
)
"""What a refusal names, one of them at least."""
ANSWER = "Going on."


class Broken(AssertionError):
    """A session that died, with what was done to it."""


@contextlib.asynccontextmanager
async def grounds(directory: Path) -> AsyncGenerator[Grounds]:
    """A sound session of every family, each with its service."""
    async with contextlib.AsyncExitStack() as stack:
        services: dict[str, FakeService] = {}
        for family in MODELS:
            services[family] = await stack.enter_async_context(FakeService([Say(ANSWER)]))
            await record(family, directory / family, services[family])
            services[family].replies = [Say(ANSWER)]
        yield Grounds(directory, services)


class Grounds:
    """Where sessions are damaged and gone on with."""

    def __init__(self, directory: Path, services: dict[str, FakeService]) -> None:
        self._directory = directory
        self.services = services

    async def attempt(self, seed: int) -> str:
        """One case; says what came of it: "good" or the kind of the refusal. Raises Broken."""
        random = Random(seed)
        family = random.choice(list(MODELS))
        home = self._directory / "case"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self._directory / family, home)
        done = harm(home / DATABASE, random)
        try:
            if seed % 3 == 0:
                look_at(home)
            return await self._gone_on(family, home)
        except Exception as problem:
            raise Broken(f"seed {seed}, {family}, {', '.join(done)}: {problem!r}") from problem

    async def _gone_on(self, family: str, home: Path) -> str:
        first = await self._turn(family, home, resume=SESSION)
        if first == "good":
            first = await self._turn(family, home, resume=SESSION)
        if first == "good":
            return "good"
        is_a_refusal(first)
        elsewhere = await self._turn(family, home, database=home / "another.db")
        assert elsewhere == "good", f"the way on failed: {elsewhere}"
        if "--ephemeral" in first:
            kept_nowhere = await self._turn(family, home)
            assert kept_nowhere == "good", f"--ephemeral failed, too: {kept_nowhere}"
        if "--model" in first:
            other = await self._turn(family, home, resume=SESSION, model=MODELS[family])
            assert other == "good" or is_a_refusal(other), f"another model failed: {other}"
        return first.replace(str(home), "")[:70]

    async def _turn(
        self,
        family: str,
        home: Path,
        resume: str | None = None,
        database: Path | None = None,
        model: str = "",
    ) -> str:
        """ "good", else the words of the refusal."""
        service = self.services[family]
        said = settings_of(family, home, service)
        if database is not None:
            said["settings"]["session.db"] = str(database)
        try:
            kept = resume is not None or database is not None
            agent = Agent.open(model if resume else MODELS[family], resume=resume, ephemeral=not kept, **said)
        except AgentError as problem:
            return str(problem)
        try:
            async with asyncio.timeout(20):
                reply = await agent.run("Go on.")
        except AgentError as problem:
            return str(problem)
        finally:
            with contextlib.suppress(AgentError):
                await agent.close()
        refused = len(service.violations)
        service.violations.clear()
        if reply.outcome == "completed":
            assert reply.text == ANSWER
            assert refused <= 2, "only what nobody but the service can judge may be refused, and once"
            return "good"
        return reply.problem


def is_a_refusal(words: str) -> bool:
    """Of a file that was harmed in its bytes another part may be met later."""
    assert any(way in words for way in WAYS_ON), f"names no way on: {words}"
    assert len(words) > 60, f"says too little: {words}"
    return True


LOOKS = (
    ("list",),
    ("list", "--json"),
    ("show", SESSION),
    ("show", SESSION, "--json"),
    ("context", SESSION),
    ("export", SESSION, "--format", "html"),
    ("export", SESSION, "--format", "jsonl"),
    ("search", "thing"),
)


def look_at(home: Path) -> None:
    """Commands that only look show what is there, or say why not."""
    before = dict(os.environ)
    os.environ |= {"AGENT_CLI_HOME": str(home), "HOME": str(home)}
    try:
        for words in LOOKS:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                code = answer(["sessions", *words])
            assert code in (0, 1, 2), f"{words}: {code}"
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _many(cases: int, seed: int) -> int:
    came: Counter[str] = Counter()
    broken = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        async with grounds(Path(directory)) as ground:
            for number in range(seed, seed + cases):
                try:
                    came[await ground.attempt(number)] += 1
                except Broken as problem:
                    broken += 1
                    print(problem)
                    if broken <= 3:
                        traceback.print_exc()
                    for service in ground.services.values():
                        service.violations.clear()
    for what, count in came.most_common():
        print(f"{count:6} {what}")
    print(f"{cases} cases, {broken} broken, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.disable()
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "AGENT_CLI_")):
            del os.environ[name]
    return asyncio.run(_many(given.cases, given.seed))


if __name__ == "__main__":
    sys.exit(main())
