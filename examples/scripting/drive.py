"""Another program drives a whole session: it speaks, decides what may run, and interrupts.

Plays a script, so that it needs no key: python drive.py
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("drive.jsonl")
PATIENCE = 5
"""Pieces of a long answer that are listened to before it is interrupted."""


class Session:
    """`agent-cli` as a child process. `events` yields what happens, `order` says what is to."""

    def __init__(self, *options: str, cwd: str) -> None:
        words = [
            sys.executable,
            "-m",
            "agent_cli",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ]
        self._child = subprocess.Popen(
            [*words, "--quiet", *options], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )  # fmt: skip

    def order(self, kind: str, **fields: Any) -> None:
        print(json.dumps({"type": kind, **fields}), file=self._child.stdin, flush=True)

    def events(self) -> Iterator[dict[str, Any]]:
        yield from map(json.loads, self._child.stdout or ())

    def exit_code(self) -> int:
        with self._child:  # closes what is open, and waits
            pass
        return self._child.returncode


def may_run(asked: dict[str, Any]) -> bool:
    return asked["tool"] == "write_file" and asked["subject"].endswith(".txt")


def drive(session: Session) -> None:
    heard = 0
    for event in session.events():
        match event["type"]:
            case "ready":
                session.order("message", text="Write the plan down, then clean up.")
            case "approval-requested":
                allowed = may_run(event)
                print(f"{event['tool']} {event['subject']}: {'yes' if allowed else 'no'}")
                session.order("answer", call_id=event["call_id"], allowed=allowed, message="Only text files.")
            case "turn-completed":
                print(f"turn {event['turn']}: {event['outcome']}")
                session.order("message", text="Now tell me all about it.")
            case "text-delta" if event["turn"] == 2:
                heard += 1
                if heard == PATIENCE:
                    session.order("interrupt")
            case "turn-error":
                print(f"turn {event['turn']}: {event['message']}")
                session.order("end")
            case "result":
                print(f"{event['steps']} steps, {event['tool_calls']} calls, exit code {event['exit_code']}")
            case _:
                pass


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        session = Session("--ephemeral", "--script", str(SCRIPT), cwd=directory)
        drive(session)
        print("ended with", session.exit_code())


if __name__ == "__main__":
    main()
