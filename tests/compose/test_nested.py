"""Instructions of a subdirectory, through the whole product."""

from __future__ import annotations

import json
from pathlib import Path

from agent_cli import Agent
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of


async def test_instructions_of_a_subdirectory_join_when_a_file_there_is_read(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("Of all.")
    (tmp_path / "src" / "AGENTS.md").write_text("Mind the tabs.\n@include deep/more.md")
    (tmp_path / "src" / "deep" / "more.md").write_text("And the spaces.")
    (tmp_path / "src" / "deep" / "a.py").write_text("x = 1\n")
    call = {"name": "read_file", "arguments": {"path": "src/deep/a.py"}}
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(line) for line in ({"calls": [call]}, {"text": "It is one."})))
    async with Agent.open("scripted", cwd=tmp_path, script=script) as agent:
        reply = await agent.run("What is in it?")
        assert reply.text == "It is one."
        told = [
            text_of(entry.event.content)
            for entry in agent.session.past(0, 99)
            if isinstance(entry.event, ev.OperatorMessage) and entry.event.by == "product"
        ]
        system = "".join(agent.session._core.prefix().system)
    assert "Of all." in system
    assert "Mind the tabs." not in system
    assert len(told) == 1
    assert told[0].endswith("Mind the tabs.\nAnd the spaces.")
    assert list(agent.session.state.joined) == [str(tmp_path / "src" / "AGENTS.md")]
