"""What the screen is shown in tests."""

from __future__ import annotations

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Reasoning, Text, ToolCall
from agent_cli.kernel.usage import Usage
from tests.fakes.session import FakeSession

MARKDOWN = '''\
# Title here

A paragraph with **bold *nested* words** and `code`, [a link](https://x.y/z), <b>html</b> and ~~gone~~.
Its second line.

1. one
2. two, with a line that is long enough to be wrapped at eighty cells because it goes on and on
   - nested
   - nested too

     a paragraph in the nested one
3. three

- [ ] open
- [x] done

> a quote that is long enough to be wrapped at eighty cells because it goes on and on and on
> - with a list

| name | meaning | count |
|---|:-:|--:|
| `a` | a cell with many words, so that it has to be wrapped where the table does not fit | 3 |
| bc | y | 1200 |

```python
def load(path: str) -> int:
    """Reads
    a file."""
    return 1  # comment
```

---

The end.
'''

DIFF = """\
--- a/src/parser.py
+++ b/src/parser.py
@@ -10,6 +10,7 @@ def parse(text):
     tokens = lex(text)
-    if not tokens:
-        return None
+    if not tokens:  # nothing to do
+        raise ParseError("empty")
+    log.debug("%d tokens", len(tokens))
     tree = build(tokens)
     return tree
"""

HOSTILE = (
    "red \x1b[31mtext\x1b[0m, title \x1b]0;owned\x07, bell \x07, back \x08\x08, c1 \x9b31m, nul \x00, "
    "bidi \u202eevil\u202c, tag \U000e0041, [bold]markup[/bold] [/nope] [@click=app.quit]x[/]"
)
"""Text that would do something to a terminal or to a markup parser."""


def output(text: str, *, ok: bool = True) -> ev.Output:
    return ev.Output((Text(text),), ok=ok)


def edited() -> ev.Output:
    return ev.Output((Text("ok"),), ev.FileDiff("src/parser.py", DIFF, 3, 2))


def whole_turn(session: FakeSession) -> None:
    """A turn with everything in it: thought, text, calls that go well and badly, a diff, an answer."""
    read = ToolCall("c1", "read_file", {"path": "src/parser.py"})
    test = ToolCall("c2", "bash", {"command": "pytest -q tests/test_parser.py"})
    edit = ToolCall("c3", "edit_file", {"path": "src/parser.py"})
    thought = Reasoning("They want the test repaired.\nThe file comes first.", "scripted", "scripted-1")
    log = "\n".join(f"tests/test_parser.py:{line}: in test_empty" for line in range(30))
    model = "scripted-1"
    session.play(
        ev.SessionStarted("/p", "0.1.0", "linux", "2026-11-30", "scripted", model, "ask"),
        ev.TurnStarted(model),
        ev.OperatorMessage((Text("The test fails since yesterday. Find out why, and repair it."),)),
        ev.StepStarted(model),
        ev.AssistantMessage(
            (thought, Text("I look at the **test** first."), read, test), "scripted", model, "tool-calls"
        ),
        ev.UsageReported(model, Usage(input=1200, cache_read=30_000, output=180), 0.0123),
        ev.ToolCallProposed(read),
        ev.ToolCallProposed(test),
        ev.ToolCallStarted("c1", "read_file", "src/parser.py", "read"),
        ev.ToolReturned("c1", "read_file", output("\n".join("line" for _ in range(120))), duration_s=0.02),
        ev.ToolCallStarted("c2", "bash", "pytest -q tests/test_parser.py", "rule"),
        ev.ToolReturned("c2", "bash", output(f"..F..\n{log}\n1 failed, 4 passed", ok=False), duration_s=2.13),
        ev.StepStarted(model),
        ev.AssistantMessage((Text("The empty input it is."), edit), "scripted", model, "tool-calls"),
        ev.UsageReported(model, Usage(input=300, cache_read=32_000, output=90), 0.0101),
        ev.ToolCallProposed(edit),
        ev.ToolCallStarted("c3", "edit_file", "src/parser.py", "accept"),
        ev.ToolReturned("c3", "edit_file", edited(), duration_s=0.01),
        ev.StepStarted(model),
        ev.AssistantMessage((Text("It is repaired; `parse` raises now."),), "scripted", model),
        ev.UsageReported(model, Usage(input=200, cache_read=36_000, output=480), 0.0223),
        ev.TurnCompleted("completed", "stop"),
    )


def asks(session: FakeSession) -> None:
    """Two calls wait for the operator."""
    commit = ToolCall("c5", "bash", {"command": "git commit -am 'Repair the parser'"})
    write = ToolCall("c6", "write_file", {"path": "CHANGES.md"})
    session.play(
        ev.TurnStarted("scripted-1"),
        ev.OperatorMessage((Text("Commit it."),)),
        ev.StepStarted("scripted-1"),
        ev.AssistantMessage((commit, write), "scripted", "scripted-1", "tool-calls"),
        ev.ToolCallProposed(commit),
        ev.ToolCallProposed(write),
        ev.ApprovalRequested(
            "c5",
            "bash",
            "git commit -am 'Repair the parser'",
            "it changes the repository and no rule allows it",
            "mode-ask",
            ev.Shown("git commit -am 'Repair the parser'"),
            "bash:git commit*",
        ),
        ev.ApprovalRequested(
            "c6",
            "write_file",
            "CHANGES.md",
            "it writes a file",
            "mode-ask",
            ev.FileDiff("CHANGES.md", DIFF, 3, 2),
        ),
    )
