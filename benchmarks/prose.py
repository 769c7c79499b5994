"""Text like a model's: mixed Markdown of any length, the same each time. A token counts as four characters."""

from __future__ import annotations

from collections.abc import Iterator

TOKEN = 4
PIECE = 5 * TOKEN

SECTION = """## Section {n}: how the pieces fit

The session keeps **every fact** in a log, and anything that is shown is made from it; that is why
a resume, a fork and a rewind are one operation with three names. See `engine/session.py` for the
door, and *nothing else* knows about it. A line with a [link](https://example.org/{n}) and some
`inline code` follows, long enough to be wrapped at any width a terminal may have on a working day.

- first, read the request and decide what it needs
- then do it:
  - look before writing
  - keep the change small ({n} lines at most)
- at last, say what was done

```python
def fold_{n}(entries: list[Entry], *, since: int = 0) -> View:
    \"\"\"The conversation that these entries make.\"\"\"
    view = View()
    for entry in entries:
        if entry.seq <= since:
            continue
        match entry.event:
            case OperatorMessage(content):
                view.append(Message("user", content))
            case AssistantMessage(parts):
                view.append(Message("assistant", parts))
    return view
```

| part | does | cost |
|---|---|---|
| hub | records, then tells | {n} us |
| store | writes one row | 40 us |
| screen | draws what is seen | as little as it can |

> What is not in the log did not happen, however well it looked on the screen.

1. Run the tests.
2. Read what they say; it is seldom what one expects. 日本語 and emoji 🙂 are text as well.

"""


def mixed_markdown(tokens: int) -> str:
    """Headings, prose, lists, code, tables and quotes."""
    text, section = "", 0
    while len(text) < tokens * TOKEN:
        section += 1
        text += SECTION.replace("{n}", str(section))
    return text[: tokens * TOKEN]


def one_fence(tokens: int) -> str:
    """A single block of code."""
    line = "    total = fold(entries, since={n})  # the same again, with another number\n"
    text, number = "```python\n", 0
    while len(text) < tokens * TOKEN - TOKEN:
        number += 1
        text += line.replace("{n}", str(number))
    return text[: tokens * TOKEN - TOKEN] + "\n```"


def pieces(text: str) -> Iterator[str]:
    """As a model's server sends them: five tokens at a time."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))
