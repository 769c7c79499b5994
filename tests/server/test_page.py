"""The web page, as far as it can be looked at without a browser."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from typing import get_args

import pytest

from agent_cli.kernel import events as ev
from agent_cli.server.page import page
from tests.fakes.attached import attached

SCRIPT = re.findall(r"<script>(.*?)</script>", page().text, re.DOTALL)[0]
KINDS = {str(kind.__struct_config__.tag) for kind in (*get_args(ev.Recorded), *get_args(ev.Live))}


async def test_it_is_there_without_a_token_and_nothing_runs_in_it_but_its_own(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        server.token("mine")
        answer = await server.client.get("/")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["connect-src"] == "'self'"
        for element in ("script", "style"):
            (inner,) = re.findall(f"<{element}>(.*?)</{element}>", answer.text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
            assert policy[f"{element}-src"] == f"'sha256-{digest}'"
        linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert (await server.client.get("/", headers=linked)).status_code == 200, "a link leads to it"


def test_it_makes_no_markup_of_what_models_and_files_say():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", SCRIPT)
    assert not re.search(r"<[^>]+\s(on\w+|style|src)=", page().text)


def test_it_knows_events_by_the_names_that_they_have():
    shown = set(re.findall(r'^  "([a-z-]+)": \(', SCRIPT, re.MULTILINE))
    moves = set(re.findall(r'"([a-z-]+)"', re.findall(r"MOVES = new Set\((.*?)\);", SCRIPT)[0]))
    assert len(shown) > 10
    assert len(moves) > 10
    assert shown | moves <= KINDS


@pytest.mark.skipif(shutil.which("node") is None, reason="node reads the script")
def test_its_script_can_be_read(tmp_path):
    file = tmp_path / "page.js"
    file.write_text(SCRIPT)
    done = subprocess.run(["node", "--check", str(file)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
