"""What a service wants back as it came is left out only where that was what it could not read."""

from __future__ import annotations

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.messages import Message, Prompt, Reasoning, Text
from agent_cli.providers.own_data import OwnData

THOUGHT = Reasoning("hm", "p", "m", signature="abc")
PROMPT = Prompt(
    model="m",
    system="",
    tools=(),
    messages=(Message("user", (Text("go"),)), Message("assistant", (THOUGHT, Text("I see.")))),
)
REFUSAL = RequestRefused("no", status=400)


def test_it_is_left_out_after_a_refusal():
    own = OwnData()
    assert own.refused(REFUSAL, PROMPT)
    assert own.readable(PROMPT).messages[1].parts == (Text("I see."),)


def test_it_is_sent_again_where_leaving_it_out_did_not_help():
    own = OwnData()
    assert own.refused(REFUSAL, PROMPT)
    assert not own.refused(REFUSAL, PROMPT)
    assert own.readable(PROMPT) is PROMPT


def test_other_refusals_leave_nothing_out():
    own = OwnData()
    assert not own.refused(RequestRefused("no", status=422), PROMPT)
    assert own.readable(PROMPT) is PROMPT
