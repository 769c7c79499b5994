"""Where a wheel lies on the Python package index that this environment is set up for.

By the simple repository API (https://packaging.python.org/en/latest/specifications/simple-repository-api/),
since an environment made by uv has no pip to ask.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import msgspec

from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.local.fetch import Broken

if TYPE_CHECKING:
    import httpx2

DEFAULT_INDEX = "https://pypi.org/simple"
INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


class Wheel(NamedTuple):
    """`sha256` is "" where the index does not tell it."""

    url: str
    sha256: str


def index_url() -> str:
    """The index that pip or uv would ask, by their variables and pip's config files."""
    for variable in INDEX_VARIABLES:
        if value := os.environ.get(variable, "").strip():
            return value.rstrip("/")
    for file in _pip_configs():
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read(file)
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("install", "global"):
            if value := config.get(section, "index-url", fallback="").strip():
                return value.rstrip("/")
    return DEFAULT_INDEX


def host_of(url: str) -> str:
    """The host alone, for people: an index URL may hold a password."""
    return urlsplit(url).hostname or url


def locate(client: httpx2.Client, index: str, package: str, version: str) -> Wheel:
    """The pure Python wheel of that version. Raises Broken, and what httpx2 raises."""
    page = f"{index}/{package}/"
    response = client.get(page, headers={"accept": ACCEPT})
    if response.status_code != 200:
        raise Broken(f"does not have {package} (status {response.status_code})")
    wanted = f"{re.sub(r'[-_.]+', '_', package)}-{version}-py3-none-any.whl"
    wheels = (
        _from_json(response) if "json" in response.headers.get("content-type", "") else _from_html(response)
    )
    if wanted not in wheels:
        raise Broken(f"does not have {package} {version} any more")
    found = wheels[wanted]
    return Wheel(urljoin(str(response.url), found.url), found.sha256)


def _from_json(response: httpx2.Response) -> dict[str, Wheel]:
    try:
        listed: Any = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        return {}
    files = listed.get("files") if is_object(listed) else None
    wheels: dict[str, Wheel] = {}
    for file in files if is_list(files) else []:
        if is_object(file):
            hashes = file.get("hashes")
            sha256 = str(hashes.get("sha256", "")) if is_object(hashes) else ""
            wheels[str(file.get("filename"))] = Wheel(str(file.get("url")), sha256)
    return wheels


def _from_html(response: httpx2.Response) -> dict[str, Wheel]:
    links = _Links()
    links.feed(response.text)
    wheels: dict[str, Wheel] = {}
    for link in links.found:
        url, _, fragment = link.partition("#")
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        wheels[urlsplit(url).path.rpartition("/")[2]] = Wheel(url, sha256)
    return wheels


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.found.append(href)


def _pip_configs() -> list[Path]:
    """Nearest first, as pip weighs them."""
    own = os.environ.get("PIP_CONFIG_FILE")
    home = Path.home()
    files = [
        Path(sys.prefix) / "pip.conf",
        home / ".config" / "pip" / "pip.conf",
        home / ".pip" / "pip.conf",
        Path("/etc/pip.conf"),
    ]
    return [Path(own), *files] if own else files
