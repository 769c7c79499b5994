"""The table of options: each with its words, its key, its values."""

from __future__ import annotations

import pytest

from agent_cli.cli.options import FLAGS, KEYS
from agent_cli.cli.values import UsageError, value_of

BY_NAME = {name: flag for flag in FLAGS for name in flag.names}

ABOUT_ONE_RUN = {"--trust",
    "--print", "--output-format", "--quiet", "--verbose", "--strict", "--script", "--script-strict",
    "--record-to", "--continue", "--resume", "--recipe", "--fork", "--json-schema", "--input-format", "--no-tui", "--no-repl", "--log-file",
    "--name", "--ephemeral", "--config", "--cd", "--attach-listen",
}  # fmt: skip


def test_every_lasting_option_has_a_config_key():
    assert {flag.name for flag in FLAGS if not flag.key} == ABOUT_ONE_RUN


def test_no_word_means_two_things():
    names = [name for flag in FLAGS for name in flag.names]
    assert len(names) == len(set(names))
    dests = [flag.dest for flag in FLAGS]
    assert len(dests) == len(set(dests))


def test_keys_are_shared_only_by_an_option_and_its_short_or_old_word():
    shared = {key for key in set(KEYS.values()) if sum(flag.key == key for flag in FLAGS) > 1}
    assert shared == {
        "agentic.enabled",
        "permissions.mode",
        "permissions.require_plan_artifact",
        "checkpoint.mode",
    }


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("--max-steps", "0", 0),
        ("--max-tokens", "400_000", 400_000),
        ("--max-tokens", "400,000", 400_000),
        ("--temperature", "0.7", 0.7),
        ("--temperature", "1", 1.0),
        ("--fallback-model", ["a", "b/c,d"], ["a", "b/c", "d"]),
        ("--max-duration", "90", 90.0),
        ("--max-duration", "1.5m", 90.0),
        ("--max-duration", "4h", 14_400.0),
        ("--max-duration", "1h30m", 5_400.0),
        ("--max-duration", "0", 0.0),
        ("--max-turn-cost-usd", "0", 0.0),
        ("--max-turn-cost-usd", "$2.50", 2.5),
        ("--permission-mode", "acceptedits", "acceptEdits"),
        ("--disable-tools", ["bash,grep", "bash glob"], ["bash", "grep", "glob"]),
        ("--allow-path", ["/a:rw", "/b,c"], ["/a:rw", "/b,c"]),
        ("--model", "opus", "opus"),
    ],
)
def test_values(name, typed, value):
    read = value_of(BY_NAME[name], typed)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("--max-steps", "-1", "whole number"),
        ("--max-steps", "many", "whole number"),
        ("--max-steps", "1.5", "whole number"),
        ("--max-steps", "9" * 5_000, "whole number"),
        ("--max-duration", "soon", "90s"),
        ("--max-duration", "-5", "90s"),
        ("--max-turn-cost-usd", "nan", "US dollars"),
        ("--max-turn-cost-usd", "inf", "US dollars"),
        ("--max-turn-cost-usd", "-1", "US dollars"),
        ("--effort", "hihg", "Did you mean 'high'?"),
        ("--permission-mode", "acceptedit", "Did you mean 'acceptEdits'?"),
        ("--output-format", "stream_json", "Did you mean 'stream-json'?"),
        ("--model", " ", "empty"),
    ],
)
def test_what_is_no_value_says_what_would_be_one(name, typed, said):
    with pytest.raises(UsageError) as raised:
        value_of(BY_NAME[name], typed)
    assert said in str(raised.value)
    assert name in str(raised.value)
