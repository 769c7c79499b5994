"""httpx2 without two things that nobody here asks of it: 15 of the 60 ms that it takes, in every run.

`importlib.metadata` tells it and httpcore2 their own versions; `httpx2._alias` makes `import httpx` mean httpx2, and pulls
in `importlib.abc` and with it half of what handles temporary files.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

_METADATA, _ALIAS = "importlib.metadata", "httpx2._alias"


class _Versions(ModuleType):
    """In the place of `importlib.metadata` during that import. Whoever wants more of it gets the real one."""

    @staticmethod
    def version(package: str) -> str:
        """From the name of the directory that the installer made; asked of the real one where there is none."""
        spec = PathFinder.find_spec(package)
        if spec is not None and spec.origin is not None:
            for found in Path(spec.origin).parents[1].glob(f"{package}-*.dist-info"):
                return found.name.removesuffix(".dist-info").removeprefix(f"{package}-")
        return _real(_METADATA).version(package)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import itself looks for
            raise AttributeError(name)
        return getattr(_real(_METADATA), name)


class _Alias(ModuleType):
    """In the place of `httpx2._alias`, until somebody calls what is in it."""

    __all__ = ("alias_httpx",)

    @staticmethod
    def alias_httpx() -> None:
        _real(_ALIAS).alias_httpx()


def httpx2() -> Any:
    """The module, imported if it was not yet."""
    if _METADATA in sys.modules or "httpx2" in sys.modules:
        import httpx2

        return httpx2
    stand_in = _Versions(_METADATA)
    sys.modules[_METADATA] = stand_in
    sys.modules[_ALIAS] = _Alias(_ALIAS)
    try:
        import httpcore2  # noqa: F401  # pyright: ignore[reportUnusedImport]  the client's; it asks for its version, too
        import httpx2
    finally:
        if sys.modules.get(_METADATA) is stand_in:
            del sys.modules[_METADATA]
    return httpx2


def _real(name: str) -> Any:
    from importlib import import_module

    if isinstance(sys.modules.get(name), (_Versions, _Alias)):
        del sys.modules[name]
    return import_module(name)
