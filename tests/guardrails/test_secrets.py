from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.secrets import table
from agent_cli.guardrails.secrets.flow import Flow
from agent_cli.guardrails.secrets.scan import find, redact, redacted
from agent_cli.guardrails.secrets.scrub import scrubbed, withheld
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Image, Reasoning, Text, ToolCall
from tests.fakes.pace import slowness
from tests.guardrails.made_up import made_up

KINDS = {
    "anthropic-key": "sk-ant-api03-«:93:url»AA",
    "openrouter-key": "sk-or-v1-«:64:hex»",
    "openai-key": "sk-proj-«:48»T3BlbkFJ«:20»",
    "api-key": "sk-«:48»",
    "google-key": "AIza«:35:url»",
    "google-token": "ya29.«:60:url»",
    "google-client-secret": "GOCSPX-«:28:url»",
    "groq-key": "gsk_«:52»",
    "xai-key": "xai-«:80»",
    "nvidia-key": "nvapi-«:64:url»",
    "perplexity-key": "pplx-«:48»",
    "replicate-token": "r8_«:37»",
    "huggingface-token": "hf_«:34»",
    "langsmith-key": "lsv2_pt_«:32:hex»_«:10:hex»",
    "github-token": "ghp_«:36»",
    "gitlab-token": "glpat-«:20:url»",
    "aws-key-id": "AKIA«:16:upper»",
    "azure-client-secret": "«:3»8Q~«:34»",
    "slack-token": "xoxb-«:12:digits»-«:12:digits»-«:24»",
    "stripe-key": "sk_live_«:24»",
    "stripe-webhook-secret": "whsec_«:32»",
    "square-token": "sq0atp-«:22:url»",
    "facebook-token": "EAAC«:150»",
    "sendgrid-key": "SG.«:22:url».«:43:url»",
    "sendinblue-key": "xkeysib-«:64:hex»-«:16»",
    "mailgun-key": "key-«:32:hex»",
    "npm-token": "npm_«:36»",
    "pypi-token": "pypi-AgEIcHlwaS5vcmc«:70:url»",
    "rubygems-key": "rubygems_«:48:hex»",
    "clojars-token": "CLOJARS_«:60:lower»",
    "artifactory-key": "AKCp«:69»",
    "docker-token": "dckr_pat_«:27:url»",
    "digitalocean-token": "dop_v1_«:64:hex»",
    "heroku-key": "HRKU-AA«:58:url»",
    "fly-token": "fm2_«:120:base64»",
    "aws-bedrock-key": "ABSK«:120:base64»",
    "databricks-token": "dapi«:32:hex»",
    "planetscale-token": "pscale_tkn_«:43:url»",
    "supabase-token": "sbp_«:40:hex»",
    "shopify-token": "shpat_«:32:hex»",
    "linear-key": "lin_api_«:40»",
    "notion-token": "ntn_«:11:digits»«:35»",
    "airtable-token": "pat«:14».«:64:hex»",
    "atlassian-token": "ATATT3«:186:url»",
    "hubspot-token": "pat-na1-«:8:hex»-«:4:hex»-«:4:hex»-«:4:hex»-«:12:hex»",
    "postman-key": "PMAK-«:24:hex»-«:34:hex»",
    "grafana-token": "glsa_«:32»_«:8:hex»",
    "sentry-token": "sntryu_«:64:hex»",
    "newrelic-key": "NRAK-«:27:upper»",
    "dynatrace-token": "dt0c01.«:24:upper».«:64:upper»",
    "doppler-token": "dp.pt.«:43»",
    "vault-token": "hvs.«:95:url»",
    "terraform-token": "«:14».atlasv1.«:65:url»",
    "pulumi-token": "pul-«:40:hex»",
    "prefect-key": "pnu_«:36»",
    "openshift-token": "sha256~«:43:url»",
    "1password-token": "ops_eyJ«:250:base64»",
    "age-key": "AGE-SECRET-KEY-1«:58:upper»",
    "alibaba-key-id": "LTAI«:20»",
    "adobe-secret": "p8e-«:32»",
    "easypost-key": "EZAK«:54»",
    "duffel-token": "duffel_live_«:43:url»",
    "shippo-token": "shippo_live_«:40:hex»",
    "readme-key": "rdme_«:70:lower»",
    "typeform-token": "tfp_«:59:url»",
    "infracost-key": "ico-«:32»",
    "sourcegraph-token": "sgp_«:40:hex»",
    "telegram-token": "«:9:digits»:AA«:33:url»",
    "maxmind-key": "«:6»_«:29»_mmk",
    "twilio-key": "SK«:32:hex»",
    "jwt": "eyJ«:33:url».eyJ«:70:url».«:43:url»",
}
AROUND = (
    "{}",
    "export K={}\n",
    '"token": "{}",',
    "x {} y",
    "\\n{}\\n",
    "https://h/x?k={}&y=1",
    "({})",
    "a='{}'",
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_found_wherever_it_stands(kind: str):
    for seed, around in enumerate(AROUND * 4):
        secret, bodies = made_up(KINDS[kind], seed)
        text = around.format(secret)
        told = redacted(text)
        assert "[REDACTED:" in told, text
        assert not any(body in told for body in bodies if len(body) >= 16), (text, told)
        assert redacted(told) == told


def test_every_row_of_the_table_has_a_case():
    rows = {row.kind for row in table.PREFIXED}
    assert rows == set(KINDS)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("DATABASE_PASSWORD=«:6»9xQ!«:4»", "secret"),
        ("  - SESSION_SECRET: '«:20»'", "secret"),
        ('client_secret = "«:40»"', "secret"),
        ('{"refresh_token":"«:43:url»"}', "secret"),
        ("apiSecretKey: '«:32:hex»'", "secret"),
        ('aws_secret_access_key = "«:40:base64»"', "aws-secret"),
        ("AccountKey=«:86:base64»==;EndpointSuffix=core", "azure-account-key"),
        ("Authorization: Basic «:28:base64»", "basic-auth"),
        ("authorization: bearer «:40:url»", "bearer-token"),
        ("X-Api-Key: «:32:hex»", "api-key"),
        ("mysql://app:«:12»@10.2.0.4/shop", "url-password"),
        ("https://hooks.slack.com/services/T«:8:upper»/B«:8:upper»/«:24»", "slack-webhook"),
        ("https://discord.com/api/webhooks/923456789098765432/«:68:url»", "discord-webhook"),
    ],
)
def test_what_a_name_or_a_place_makes_a_secret(text: str, kind: str):
    for seed in range(20):
        shown, bodies = made_up(text, seed)
        found = redact(shown)
        assert kind in found.kinds, (shown, found)
        assert not any(body in found.text for body in bodies if len(body) > 11)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ANTHROPIC_API_KEY=sk-ant-your-key-here-please",
        "token = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        "STRIPE_KEY=sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "postgres://postgres:postgres@localhost:5432/app",
        "redis://user:${REDIS_PASSWORD}@cache.internal:6379",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-q9yk4TmxuoENiaYAKrlrqGsOfFfm2lGyM2dqk9NKqSD2mGcBOI7eX6lEZ4pGZRwW=="',
        "commit 3f8d2a1b9c0e4f5a6b7c8d9e0f1a2b3c4d5e6f70",
        "id = '550e8400-e29b-41d4-a716-446655440000'",
        "credentials = base64.b64encode(user + password)",
        "private_key: ed25519.Ed25519PrivateKey",
        "max_tokens = 4096000000000000",
        "the token is kept in the keychain of the operator",
        "password = getpass.getpass('Password: ')",
        'if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):',
        "PUBLIC_KEY_SHA=c2hhMjU2OjEyMzQ1Njc4OTA",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    ],
)
def test_honest_look_alikes_stay_as_they_are(text: str):
    assert redacted(text) == text


def test_a_private_key_goes_as_a_whole_and_one_that_was_cut_too():
    body = "\n".join(made_up("«:64:base64»", seed)[0] for seed in range(6))
    key = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"
    assert redacted(f"a\n{key}\nb") == "a\n[REDACTED:private-key]\nb"
    assert redacted(key[:200]) == "[REDACTED:private-key]"


@given(st.text(max_size=400))
def test_places_are_places_of_the_text_whatever_its_letters(text: str):
    secret = made_up("ghp_«:36»")[0]
    told = redacted(f"{text} {secret} {text}")
    assert secret not in told
    assert not find(redacted(text))


def test_400_kb_of_source_take_milliseconds_and_no_text_takes_much_longer():
    line = "    def value_of(self, key: str, token: int) -> str:  # see https://a.example/x#y\n"
    hostile = (
        "sk-",
        "eyJa.",
        "api_key: ",
        "-----BEGIN PRIVATE KEY-----",
        "://a:b",
        "A" * 60 + " ",
        "key=",
        "gh",
        "\\n",
    )
    for text in (line * 5_000, *(unit * (400_000 // len(unit)) for unit in hostile)):
        began = time.process_time()
        find(text)
        assert time.process_time() - began < 1.5 * slowness(), text[:40]


# ── as it comes ──


@given(st.data())
def test_a_text_that_comes_in_pieces_is_told_as_if_it_came_at_once(data: st.DataObject):
    filler = st.sampled_from(
        ["so ", "a line\n", "key = ", "x=1; ", "Authorization: Bearer ", "é ", "(", '": "']
    )
    secrets = st.sampled_from(list(KINDS.values())).map(lambda mark: made_up(mark)[0] + " ")
    text = "".join(data.draw(st.lists(st.one_of(filler, secrets), max_size=12)))
    flow, told, at = Flow(), "", 0
    while at < len(text):
        size = data.draw(st.integers(1, 25))
        told += flow.feed(text[at : at + size])
        at += size
    assert told + flow.rest() == redacted(text)


def test_of_a_private_key_nothing_is_shown_before_its_end():
    body = "\n".join(made_up("«:64:base64»", seed)[0] for seed in range(20))
    flow, told = Flow(), ""
    for piece in re.findall(
        r".{1,7}",
        f"here:\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nso",
        re.DOTALL,
    ):
        told += flow.feed(piece)
    assert told + flow.rest() == "here:\n[REDACTED:private-key]\nso"


def test_ordinary_words_are_not_held():
    flow = Flow()
    assert flow.feed("one two thr") == "one two "
    assert flow.feed("ee\n") == "three\n"
    assert flow.rest() == ""


# ── facts ──


def test_every_text_of_a_fact_is_looked_through_and_its_names_are_left():
    secret, (body,) = made_up("ghp_«:36»")
    call = ToolCall(
        "call_1", "bash", {"command": f"echo {secret}", "deep": [{"x": secret}]}, raw=f'{{"c":"{secret}"}}'
    )
    fact = ev.AssistantMessage((Text(f"I use {secret}"), call), "p", "m")
    clean, kinds = scrubbed(fact)
    assert body not in repr(clean)
    assert len(kinds) == 4
    assert isinstance(clean.parts[1], ToolCall)
    assert clean.parts[1].call_id == "call_1"


def test_what_holds_no_secret_is_the_very_same_value():
    fact = ev.ToolReturned(
        "c", "read_file", ev.Output((Text("nothing special in here"), Image("image/png", "sk-" * 20)))
    )
    assert scrubbed(fact)[0] is fact


def test_signed_thoughts_with_a_secret_lose_their_signature():
    secret, (body,) = made_up("ghp_«:36»")
    thought = Reasoning(f"the key {secret}", "anthropic", "m", signature="sig")
    clean, _ = scrubbed(ev.AssistantMessage((thought,), "anthropic", "m"))
    (part,) = clean.parts
    assert isinstance(part, Reasoning)
    assert part.signature is None
    assert body not in part.text


def test_a_fact_that_nobody_could_look_through_says_nothing():
    fact = withheld(
        ev.ToolReturned("call-of-some-length", "bash", ev.Output((Text("something that is long"),)))
    )
    assert "something" not in repr(fact)
    assert fact.call_id == "call-of-some-length"


@pytest.mark.parametrize(
    "before",
    ["1\t", "     7\t", "conf/prod.env:12:", "12-", "conf/prod.env:", "+", "-", "> ", "export ", " " * 12,
     "docker run -e ", "2026-11-30T10:00:00Z INFO ", "\x1b[32m", '{"env": ["'],
)  # fmt: skip
def test_a_line_of_settings_is_found_wherever_a_tool_puts_it(before: str):
    text, (first, last) = made_up("DATABASE_PASSWORD=«:6»9xQ!«:4»", 5)
    found = redact(f"{before}{text}\n")
    assert found.kinds == ("secret",)
    assert first not in found.text
    assert last not in found.text
    assert found.text.startswith(f"{before}DATABASE_PASSWORD=[REDACTED:secret]")
