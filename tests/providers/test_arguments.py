"""What counts as the arguments of a call."""

from __future__ import annotations

import pytest

from agent_cli.providers.pile import arguments_of


@pytest.mark.parametrize("raw", ['{"a": NaN}', '{"a": Infinity}', '{"a": 1}{"b": 2}', "[1]", "nothing"])
def test_what_is_no_json_object_is_left_for_repair(raw: str):
    assert arguments_of(raw) is None


def test_halves_of_surrogate_pairs_are_replaced():
    assert arguments_of('{"a": "\\ud800"}') == {"a": "\ufffd"}
