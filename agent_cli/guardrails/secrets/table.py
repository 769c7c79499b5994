"""What secrets look like: by what their issuer puts in front of each, by the name beside them, or by what holds them.

A row is found by its anchor first, a literal, so that the pattern runs only around it. Every pattern takes linear time.
Where a pattern has a group, only that is the secret. Keys that issuers give out for tests are not in here.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """`before` is how far before the anchor the pattern may begin, in characters; `head` what must stand there."""

    kind: str
    anchor: bytes
    pattern: bytes
    before: int = 0
    head: bytes = b""


PREFIXED: tuple[Row, ...] = (
    Row("anthropic-key", b"sk-ant-", rb"sk-ant-[A-Za-z0-9_-]{16,}"),
    Row("openrouter-key", b"sk-or-", rb"sk-or-[A-Za-z0-9-]{16,}"),
    Row("openai-key", b"sk-", rb"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}"),
    Row("api-key", b"sk-", rb"sk-[A-Za-z0-9]{20,}"),
    Row("api-key", b"csk-", rb"csk-[A-Za-z0-9]{20,}"),
    Row("google-key", b"AIza", rb"AIza[A-Za-z0-9_-]{35}"),
    Row("google-token", b"ya29.", rb"ya29\.[A-Za-z0-9_-]{20,}"),
    Row("google-client-secret", b"GOCSPX-", rb"GOCSPX-[A-Za-z0-9_-]{20,}"),
    Row("groq-key", b"gsk_", rb"gsk_[A-Za-z0-9]{20,}"),
    Row("xai-key", b"xai-", rb"xai-[A-Za-z0-9]{20,}"),
    Row("nvidia-key", b"nvapi-", rb"nvapi-[A-Za-z0-9_-]{30,}"),
    Row("perplexity-key", b"pplx-", rb"pplx-[A-Za-z0-9]{30,}"),
    Row("replicate-token", b"r8_", rb"r8_[A-Za-z0-9]{30,}"),
    Row("huggingface-token", b"hf_", rb"hf_[A-Za-z0-9]{30,}"),
    Row("huggingface-token", b"api_org_", rb"api_org_[A-Za-z0-9]{30,}"),
    Row("langsmith-key", b"lsv2_", rb"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Row("github-token", b"gh", rb"gh[oprsu]_[A-Za-z0-9]{36,255}"),
    Row("github-token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{22,255}"),
    Row("gitlab-token", b"gl", rb"gl(?:pat|dt|ft|rt|ptt|soat|oas|imt|agent|ffct)-[A-Za-z0-9_-]{20,300}"),
    Row("gitlab-token", b"glcbt-", rb"glcbt-[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20}"),
    Row("gitlab-token", b"GR1348941", rb"GR1348941[A-Za-z0-9_-]{20}"),
    Row("aws-key-id", b"AKIA", rb"AKIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Row("aws-key-id", b"ASIA", rb"ASIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Row("aws-key-id", b"ABIA", rb"ABIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Row("aws-key-id", b"ACCA", rb"ACCA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Row("aws-bedrock-key", b"ABSK", rb"ABSK[A-Za-z0-9+/]{100,280}={0,2}"),
    Row("azure-client-secret", b"Q~", rb"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", 4),
    Row("slack-token", b"xox", rb"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    Row("slack-token", b"xapp-", rb"xapp-\d-[A-Za-z0-9-]{20,}"),
    Row("stripe-key", b"k_live_", rb"[rs]k_live_[A-Za-z0-9]{16,}", 1),
    Row("stripe-key", b"k_prod_", rb"[rs]k_prod_[A-Za-z0-9]{16,}", 1),
    Row("stripe-webhook-secret", b"whsec_", rb"whsec_[A-Za-z0-9+/]{24,}"),
    Row("square-token", b"sq0", rb"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}"),
    Row("facebook-token", b"EAA", rb"EAA[CM][A-Za-z0-9]{100,}"),
    Row("sendgrid-key", b"SG.", rb"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Row("sendinblue-key", b"xkeysib-", rb"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    Row("mailgun-key", b"key-", rb"key-[a-f0-9]{32}(?![A-Za-z0-9])"),
    Row("npm-token", b"npm_", rb"npm_[A-Za-z0-9]{36}"),
    Row("pypi-token", b"pypi-AgE", rb"pypi-AgE[A-Za-z0-9_-]{30,}"),
    Row("rubygems-key", b"rubygems_", rb"rubygems_[a-f0-9]{48}"),
    Row("clojars-token", b"CLOJARS_", rb"CLOJARS_[A-Za-z0-9]{60}"),
    Row("artifactory-key", b"AKCp", rb"AKCp[A-Za-z0-9]{69}"),
    Row("docker-token", b"dckr_", rb"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    Row("digitalocean-token", b"_v1_", rb"do[opr]_v1_[a-f0-9]{64}", 3),
    Row("heroku-key", b"HRKU-", rb"HRKU-[A-Za-z0-9_-]{36,}"),
    Row("fly-token", b"fm", rb"fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}"),
    Row("fly-token", b"fo1_", rb"fo1_[A-Za-z0-9_-]{43}"),
    Row("databricks-token", b"dapi", rb"dapi[a-f0-9]{32}(?:-\d)?"),
    Row("planetscale-token", b"pscale_", rb"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,64}"),
    Row("supabase-token", b"sbp_", rb"sbp_[a-f0-9]{40}"),
    Row("shopify-token", b"shp", rb"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    Row("linear-key", b"lin_", rb"lin_(?:api|oauth)_[A-Za-z0-9]{40}"),
    Row("notion-token", b"ntn_", rb"ntn_[0-9]{11}[A-Za-z0-9]{35}"),
    Row("airtable-token", b"pat", rb"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    Row("atlassian-token", b"ATATT3", rb"ATATT3[A-Za-z0-9_=-]{60,}"),
    Row("hubspot-token", b"pat-", rb"pat-(?:na|eu)\d-[a-f0-9-]{36}"),
    Row("postman-key", b"PMAK-", rb"PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}"),
    Row("grafana-token", b"gls", rb"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    Row("grafana-token", b"glc_", rb"glc_[A-Za-z0-9+/]{32,400}={0,3}"),
    Row("sentry-token", b"sntry", rb"sntry(?:s_eyJ[A-Za-z0-9+/=_]{40,}|u_[a-f0-9]{64})"),
    Row("newrelic-key", b"NRAK-", rb"NRAK-[A-Za-z0-9]{27}"),
    Row("dynatrace-token", b"dt0c01.", rb"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    Row("doppler-token", b"dp.", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,60}"),
    Row("vault-token", b"hv", rb"hv[bs]\.[A-Za-z0-9_-]{60,300}"),
    Row("terraform-token", b".atlasv1.", rb"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}", 14),
    Row("pulumi-token", b"pul-", rb"pul-[a-f0-9]{40}"),
    Row("prefect-key", b"pnu_", rb"pnu_[A-Za-z0-9]{36}"),
    Row("openshift-token", b"sha256~", rb"sha256~[A-Za-z0-9_-]{43}"),
    Row("1password-token", b"ops_eyJ", rb"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}"),
    Row("age-key", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Row("alibaba-key-id", b"LTAI", rb"LTAI[A-Za-z0-9]{20}(?![A-Za-z0-9])"),
    Row("adobe-secret", b"p8e-", rb"p8e-[A-Za-z0-9]{32}"),
    Row("easypost-key", b"EZAK", rb"EZAK[A-Za-z0-9]{54}"),
    Row("duffel-token", b"duffel_live_", rb"duffel_live_[A-Za-z0-9_=-]{43}"),
    Row("shippo-token", b"shippo_live_", rb"shippo_live_[A-Fa-f0-9]{40}"),
    Row("readme-key", b"rdme_", rb"rdme_[a-z0-9]{70}"),
    Row("typeform-token", b"tfp_", rb"tfp_[A-Za-z0-9_.=-]{40,70}"),
    Row("infracost-key", b"ico-", rb"ico-[A-Za-z0-9]{32}"),
    Row("sourcegraph-token", b"sgp_", rb"sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}"),
    Row("telegram-token", b":AA", rb"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", 10),
    Row("maxmind-key", b"_mmk", rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", 36),
    Row("twilio-key", b"SK", rb"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    Row("jwt", b"eyJ", rb"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)  # fmt: skip
"""Looked for only in long words."""

HELD: tuple[Row, ...] = (
    Row("private-key", b"-----BEGIN ", rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END )[\s\S])*(?:-----END [A-Z0-9 ]+-----)?"),
    Row("slack-webhook", b"hooks.slack.com/", rb"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,})"),
    Row("discord-webhook", b"/api/webhooks/", rb"/api/webhooks/\d{16,20}/([A-Za-z0-9_-]{60,})"),
    Row("teams-webhook", b".webhook.office.com/", rb"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})"),
    Row("url-password", b"://", rb"://([^/\s:@\"'<>&]{0,100}):([^/\s:@\"'<>&]{3,200})@([A-Za-z0-9.-]{0,200})"),
)  # fmt: skip
"""Looked for in the whole text."""

_ESCAPED = rb"&(?:quot|apos|#x27|#39|#34);"
_SEPARATOR = rb"""(?:""" + _ESCAPED + rb"""|[\\"'`\])]{0,3})[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}"""
_QUOTES = rb"""(?:""" + _ESCAPED + rb"""|[\\"'`]{0,2})"""

KEYED: tuple[Row, ...] = (
    Row("aws-secret", b"secret", rb"(?i:secret_?access_?key)" + _SEPARATOR + _QUOTES + rb"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    Row("azure-account-key", b"key", rb"(?i:key)=([A-Za-z0-9/+]{40,90}={0,2})", head=rb"(?i:account|sharedaccess)\Z"),
    Row("bearer-token", b"bearer", rb"(?i:bearer)\s{1,4}([A-Za-z0-9._~+/-]{16,}=*)"),
    Row("basic-auth", b"authorization", rb"(?i:authorization)" + _SEPARATOR + _QUOTES + rb"(?i:basic)\s{1,4}([A-Za-z0-9+/]{12,}={0,2})"),
    Row("netrc-password", b"passw", rb"(?i:password)[ \t\n]{1,4}(\S{8,200})", head=rb"(?i:login)[ \t\n]{1,4}\S{1,60}[ \t\n]{1,4}\Z"),
    Row("api-key", b"key", rb"(?i:key)" + _SEPARATOR + _QUOTES + rb"([A-Za-z0-9._~+/-]{12,}=*)", head=rb"(?i:api-?)\Z"),
)  # fmt: skip
"""Anchors are in lower case; the text is looked through without its case. Such a value has a digit in it."""

SCHEMES = (b"bearer", b"authorization")
NAMED = (b"key", b"secret", b"token", b"passw", b"passphrase", b"credential")
"""What stands in the names of settings that hold secrets; "key" only behind one of `OF_A_KEY`."""
OF_A_KEY = rb"(?i:api|app|secret|access|private|auth|signing|encryption|master|account|storage|license|session|webhook|consumer|service|deploy|admin|ssh|hmac|client)[-_. ]?\Z"
NO_SECRET = rb"(?i:hash|sha|digest|sum|etag|_?ids?\Z|ur[il]|path|file|dir|name|type|count|len|size|limit|expir|time|date|public|version|izer)"
"""In the rest of such a name: it holds something else."""
IS_SET = rb"[A-Za-z0-9_]{0,40}" + _SEPARATOR
"""Behind the anchor, wherever a value follows at all."""
SETTING = rb"([A-Za-z0-9_]{0,20})" + _SEPARATOR + _QUOTES + rb"([A-Za-z0-9/+_.~=!@%^&*-]{16,512})"
"""The rest of a name, behind the anchor, and its value."""
ENV_LINE = (
    rb"([A-Z][A-Z0-9_]{0,60})(?:[ \t]{0,4}=[ \t]{0,4}|:[ \t]{1,4})[\"']?([^\s\"'#$`{}()<>\[\],;]{8,200})"
)
"""A line of an environment file or of a compose file, from its name on."""
ENV_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
BEFORE_ENV = rb"(?:\A|[\s:+|>'\"-]|\\[nrt]|\x1b\[[0-9;]{0,12}m)\Z"
"""What may stand before its name: the start of a line, the number that a tool gave it, a file and a colon, the mark of a
difference, a quote."""

KEY_MATERIAL = rb"[A-Za-z0-9+/=_-]{24}"
"""What a private key has between its first line and its last."""
PLACEHOLDER = rb"(?i:example|[prs]k_test_|placeholder|change-?_?me|your|dummy|redacted|xxxx|\.\.\.|<|\*\*\*|sample|insert|replace|fake|not-?_?(?:a-?_?)?real|123456789012|abcdefgh|0000000|deadbeef)"
"""What stands in values of documentation and tests."""
WEAK = frozenset(
    {
        b"password",
        b"passwd",
        b"pass",
        b"secret",
        b"postgres",
        b"root",
        b"admin",
        b"user",
        b"guest",
        b"test",
        b"mysql",
        b"redis",
        b"token",
        b"pw",
        b"pwd",
        b"rabbitmq",
        b"minioadmin",
        b"username",
        b"foo",
        b"bar",
        b"xxx",
    }
)
"""Passwords that are none."""
NEAR = frozenset(
    {
        b"localhost",
        b"127.0.0.1",
        b"0.0.0.0",
        b"db",
        b"postgres",
        b"mysql",
        b"redis",
        b"mongo",
        b"host",
        b"proxy",
        b"rabbitmq",
        b"database",
    }
)
"""Hosts of URLs in development and in documentation."""
