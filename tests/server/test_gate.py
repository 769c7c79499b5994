"""Who is let in."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.server import peers
from agent_cli.server.door import Terms
from agent_cli.server.rates import Rates
from agent_cli.server.routes import ROUTES
from agent_cli.server.tokens import SCOPES, Tokens, digest_of
from tests.fakes.attached import attached

PLACES = {"{session}": "nope", "{approval}": "c1"}
BODIES = {"inject": {"message": "x"}, "approvals": {"decision": "deny"}}


def asked(route) -> tuple[str, str, object]:
    path = route.path
    for name, value in PLACES.items():
        path = path.replace(name, value)
    body = next((held for name, held in BODIES.items() if name in path), None)
    return route.method, path, body


async def test_every_route_takes_the_scope_that_it_says_and_no_less(project, script):
    async with attached(
        project, script=script({"text": "Hi."}), terms=Terms(requests_per_minute=100_000)
    ) as server:
        headers = {scope: server.token(scope, scope) for scope in SCOPES}
        for route in ROUTES:
            method, path, body = asked(route)
            without = await server.client.request(method, path, json=body)
            assert without.status_code == (200 if route.public else 401), path
            for scope in SCOPES:
                code = (
                    await server.client.request(method, path, json=body, headers=headers[scope])
                ).status_code
                if route.public or SCOPES.index(scope) >= SCOPES.index(route.scope):
                    assert code not in (401, 403), (path, scope)
                else:
                    assert code == 403, (path, scope)
        assert {route.scope for route in ROUTES if route.method == "POST"} == {"write"}


async def test_what_lasts_takes_an_admin(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        writer, admin = server.token("writer", "write"), server.token("root", "admin")
        yolo = {"permission_mode": "yolo"}
        assert (await server.post("/sessions", yolo, headers=writer))["error"]["needs"] == "admin"
        made = await server.post("/sessions", yolo, headers=admin)
        assert made["mode"] == "yolo"
        always = {"decision": "approve", "scope": "always"}
        place = f"/sessions/{made['id']}/approvals/c1"
        assert (await server.post(place, always, headers=writer))["status_code"] == 403
        assert (await server.post(place, always, headers=admin))["status_code"] == 404


async def test_a_token_for_single_sessions_sees_no_other(project, script):
    async with attached(project, script=script({"text": "Hi."}, {"text": "Hi."})) as server:
        mine, other = await server.begin(), await server.begin()
        headers = server.token("one", "write", mine)
        listed = await server.get("/sessions", headers=headers)
        assert ([row["id"] for row in listed["sessions"]], listed["total"]) == ([mine], 1)
        assert (await server.post(f"/sessions/{mine}/inject", {"message": "hi"}, headers=headers))[
            "status_code"
        ] == 200
        for path in ("", "/guardrails", "/usage", "/tools", "/events"):
            assert (await server.get(f"/sessions/{other}{path}", headers=headers))["status_code"] == 404
        assert (await server.post(f"/sessions/{other}/inject", {"message": "hi"}, headers=headers))[
            "status_code"
        ] == 404
        assert (await server.post("/sessions", {}, headers=headers))["status_code"] == 403
        assert (await server.get("/metrics", headers=headers))["status_code"] == 403


async def test_a_wrong_token_is_refused_and_too_many_of_them_have_to_wait(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        good = server.token("good")
        for value in ("Bearer nope", "Bearer", "Basic Z29vZA==", "nope"):
            answer = await server.client.get("/sessions", headers={"authorization": value})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert "serve token add" in answer.json()["error"]["message"]
        codes = [
            (await server.client.get("/sessions", headers={"authorization": "Bearer no"})).status_code
            for _ in range(12)
        ]
        assert codes[-1] == 429
        assert (await server.client.get("/sessions", headers=good)).status_code == 429


async def test_a_token_that_is_taken_away_counts_no_more_at_once(project, script):
    async with attached(project, script=script({"text": "Hi."})) as server:
        headers, _ = server.token("old"), server.token("other")
        assert (await server.get("/sessions", headers=headers))["status_code"] == 200
        server.tokens.remove("old")
        assert (await server.get("/sessions", headers=headers))["status_code"] == 401


async def test_an_answer_does_not_wait_for_a_receipt(project, script):
    """Head and body are two writes: without TCP_NODELAY the second waits 40 ms for the other side."""
    async with attached(project, script=script({"text": "Hi."})) as server:
        await server.client.get("/healthz")
        loop, took = asyncio.get_running_loop(), []
        for _ in range(20):
            begun = loop.time()
            await server.client.get("/healthz")
            took.append(loop.time() - begun)
        assert min(took) < 0.03


async def test_who_asks_too_often_is_told_when_to_come_back(project, script):
    async with attached(
        project, terms=Terms(requests_per_minute=3), script=script({"text": "Hi."})
    ) as server:
        answers = [await server.client.get("/sessions") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20


HOSTS = [
    ("127.0.0.1:{port}", 200), ("localhost:{port}", 200), ("LOCALHOST", 200), ("[::1]:{port}", 200), ("127.0.0.2", 200),
    ("good.example", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("192.168.1.2", 421), ("", 421),
]  # fmt: skip
ORIGINS = [
    ("http://127.0.0.1:{port}", 200), ("https://page.example", 200), ("http://evil.example", 403), ("null", 403),
    ("http://127.0.0.1:1", 403), ("https://127.0.0.1:{port}", 403), ("http://localhost:{port}", 403),
]  # fmt: skip


async def test_only_its_own_names_and_pages_are_answered(project, script):
    async with attached(
        project, script=script({"text": "Hi."}), hosts=("good.example",), origins=("https://page.example",)
    ) as server:
        port = server.url.rpartition(":")[2]
        for host, code in HOSTS:
            answer = await server.client.get("/healthz", headers={"host": host.format(port=port)})
            assert answer.status_code == code, host
        for origin, code in ORIGINS:
            for path in ("/healthz", "/sessions"):
                answer = await server.client.get(path, headers={"origin": origin.format(port=port)})
                assert answer.status_code == code, origin
        assert (
            await server.client.get("/sessions", headers={"sec-fetch-site": "cross-site"})
        ).status_code == 403
        assert "access-control-allow-origin" not in (await server.client.options("/sessions")).headers


TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:C350 0100007F:1E61 01 00000000:00000000 00:00000000 00000000 {user}        0 1 1 0 20 4 30 10 -1
"""


@pytest.mark.parametrize(
    ("user", "own"),
    [(os.getuid(), True), (0, True), (os.getuid() + 4321, False)],
    ids=["own", "root", "another"],
)
def test_whose_program_it_is_stands_in_the_systems_table(tmp_path, monkeypatch, user, own):
    table = tmp_path / "tcp"
    table.write_text(TABLE.format(user=user))
    monkeypatch.setattr(peers, "TABLES", (str(table),))
    assert peers.is_own_user(("127.0.0.1", 50000), ("127.0.0.1", 7777)) is own
    assert peers.is_own_user(("127.0.0.1", 50001), ("127.0.0.1", 7777)) is False, "it is not in the table"
    monkeypatch.setattr(peers, "TABLES", (str(tmp_path / "none"),))
    assert peers.is_own_user(("127.0.0.1", 50000), ("127.0.0.1", 7777)) is None


async def test_without_tokens_another_user_of_the_machine_is_not_let_in(
    project, script, tmp_path, monkeypatch
):
    async with attached(project, script=script({"text": "Hi."})) as server:
        assert (await server.get("/sessions"))["status_code"] == 200
        empty = tmp_path / "tcp"
        empty.write_text("head\n")
        monkeypatch.setattr(peers, "TABLES", (str(empty),))
        refused = await server.get("/sessions")
        assert refused["status_code"] == 401
        assert "another's" in refused["error"]["message"]


def test_tokens_are_kept_as_hashes_in_a_file_of_ones_own(tmp_path):
    file = tmp_path / "state" / "tokens.json"
    tokens = Tokens(file)
    secret = tokens.add("mine", "read", ("s1",), 1.0)
    assert secret not in file.read_text()
    assert json.loads(file.read_text())[0]["digest"] == digest_of(secret)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = Tokens(file).find(secret)
    assert found is not None
    assert (found.name, found.scope, found.sees("s1"), found.sees("s2")) == ("mine", "read", True, False)
    assert tokens.find(secret + "x") is None
    assert tokens.find("\ud800") is None
    with pytest.raises(ConfigError, match="already"):
        tokens.add("mine", "read", (), 1.0)
    file.write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        Tokens(file).find(secret)


def test_tokens_that_are_made_and_taken_away_at_one_time_all_count(tmp_path):
    file = tmp_path / "tokens"
    Tokens(file).add("old", "read", (), 0.0)
    with ThreadPoolExecutor(8) as many:
        taken = many.submit(lambda: Tokens(file).remove("old"))
        made = list(many.map(lambda n: Tokens(file).add(f"t{n}", "write", (), 0.0), range(40)))
        taken.result()
    assert {token.name for token in Tokens(file).all()} == {f"t{n}" for n in range(40)}
    assert all(Tokens(file).find(secret) for secret in made)


def test_a_file_of_tokens_that_is_no_file_is_told(tmp_path):
    os.mkfifo(tmp_path / "tokens")
    with pytest.raises(ConfigError, match="no regular file"):
        Tokens(tmp_path / "tokens").all()


def test_a_bucket_fills_evenly_and_forgets_who_came_long_ago():
    rates = Rates(per_minute=60, burst=2)
    assert [rates.take("a", 0.0) for _ in range(3)] == [0, 0, 1]
    assert rates.take("b", 0.0) == 0
    assert [rates.take("a", 1.0), rates.take("a", 1.0)] == [0, 1]
    for number in range(10_050):
        rates.take(f"n{number}", 100.0 + number)
    assert len(rates._left) < 10_050
