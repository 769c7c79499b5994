"""What tests of commands share."""

from __future__ import annotations

import pytest

from agent_cli.cli.entry import run


@pytest.fixture
def ask(tmp_path, monkeypatch, capfd):
    """Runs a command in a directory of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def asked(*argv):
        code = run(list(argv))
        said = capfd.readouterr()
        return code, said.out, said.err

    return asked
