"""Secrets that are about to leave this machine: in a URL, in the arguments of a shell command, in a file that is sent."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from urllib.parse import unquote_plus

from agent_cli.guardrails.checks.check import Act, Found, Severity, Subject, Surface
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.secrets.scan import find

SENDERS = frozenset({
    "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "sftp", "scp", "rsync", "ssh", "http", "https", "xh",
    "aria2c", "lynx", "links", "w3m", "dig", "nslookup", "host", "ping", "mail", "sendmail", "mutt", "rclone", "s3cmd",
    "gsutil", "twine", "wscat", "websocat", "tftp", "Invoke-WebRequest",
})  # fmt: skip
"""Programs that send what they are given."""
SOMETIMES = {
    "git": frozenset({"push", "clone", "fetch", "pull", "ls-remote"}),
    "openssl": frozenset({"s_client"}),
    "docker": frozenset({"push", "login"}),
    "podman": frozenset({"push", "login"}),
    "npm": frozenset({"publish", "login"}),
    "aws": frozenset({"s3", "s3api", "ses", "sns", "sqs"}),
    "gh": frozenset({"api", "gist", "issue", "pr", "release"}),
    "az": frozenset({"storage"}),
}
"""Programs that send with one of these words."""
SPEAKS = re.compile(
    r"/dev/(?:tcp|udp)/|\b(?:requests\.(?:get|post|put|request)|urllib\.request|urlopen|http\.client|httpx2?\.|aiohttp|smtplib|socket\.(?:create_connection|socket)"
    r"|fetch\(|axios|XMLHttpRequest|https?\.(?:get|request)\(|Net::HTTP|LWP::|IO::Socket|file_get_contents\(.https?:|TCPSocket)"
)
"""In the code of a one-liner."""
INTERPRETERS = frozenset(
    {"python", "python3", "node", "deno", "bun", "perl", "ruby", "php", "bash", "sh", "zsh"}
)
IDENTITY = frozenset(
    {
        "-i",
        "--key",
        "--cert",
        "--cacert",
        "--capath",
        "-E",
        "-F",
        "--identity",
        "--private-key",
        "-K",
        "--config",
        "--netrc-file",
    }
)
"""What stands behind these is used to log in, and is not sent; `-F` only of ssh and its like."""
LOGS_IN = frozenset({"ssh", "scp", "sftp", "rsync", "git"})
HEADERS = frozenset({"-H", "--header", "-u", "--user", "--oauth2-bearer", "-a", "--auth", "-p", "--password"})
VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT)(?:$|_)", re.IGNORECASE
)
WORDS = re.compile(r"[A-Za-z0-9+/_-]{16,20000}={0,2}")
HEX = re.compile(r"(?:[0-9a-fA-F]{2}){12,}")
DUMPS = frozenset({"env", "printenv", "export", "set", "declare"})
MOST = 200


class Exfiltration:
    """A secret that would leave this machine. `looks_secret` says of a path whether it looks as if it held secrets."""

    name = "exfiltration"
    version = "1"
    surface: Surface = "action"

    def __init__(self, severity: Severity, looks_secret: Callable[[str], bool]) -> None:
        self._severity: Severity = severity
        self._looks_secret = looks_secret

    def look(self, subject: Subject, past: Past, /) -> Found | None:
        if not isinstance(subject, Act):
            return None
        what = self._leaving(subject)
        return Found(self._severity, f"{what} would leave this machine with {subject.tool}") if what else None

    def _leaving(self, act: Act) -> str:
        sends = [words for words in act.commands if sends_away(words)]
        if not (sends or act.hosts or act.effect == "network" or SPEAKS.search(act.command)):
            return ""
        found = next((kinds for text in act.texts for kinds in _secrets(text)), "")
        if found:
            return f"a secret ({found})"
        for words in sends:
            if name := self._file_of(words):
                return f"{name}, which looks as if it held secrets,"
            if name := _variable_of(words):
                return f"the value of ${name}"
        return self._piped(act.commands) if sends else ""

    def _file_of(self, words: tuple[str, ...]) -> str:
        """A file with secrets among what a command sends."""
        for before, word in pairwise(words):
            if before in IDENTITY and (before != "-F" or words[0] in LOGS_IN):
                continue
            if words[0] in LOGS_IN and before in ("-o", "-e", "--rsh"):
                continue
            path = word.rpartition("@")[2] if "@" in word and words[0] not in LOGS_IN else word
            path = path.partition(";")[0]
            if words[0] in ("scp", "rsync", "sftp") and ":" in path:
                continue
            if (
                "://" not in path
                and " " not in path
                and not path.startswith("-")
                and self._holds_secrets(path)
            ):
                return path
        return ""

    def _holds_secrets(self, path: str) -> bool:
        return not path.endswith(".pub") and self._looks_secret(path)

    def _piped(self, commands: tuple[tuple[str, ...], ...]) -> str:
        """What stands before a command that sends, in the same line, and prints secrets."""
        for words in commands:
            if sends_away(words):
                continue
            if words[:1] and words[0] in DUMPS and len(words) == 1:
                return "the environment"
            if words[:1] == ("gpg",) and any(word.startswith("--export-secret") for word in words):
                return "a secret key"
            if words[:1] and words[0] in (
                "cat",
                "base64",
                "xxd",
                "tar",
                "zip",
                "gzip",
                "head",
                "tail",
                "less",
                "od",
                "openssl",
                "gpg",
                "cp",
                "sed",
                "awk",
                "grep",
            ):
                secret = next((word for word in words[1:] if self._holds_secrets(word)), "")
                if secret:
                    return f"{secret}, which looks as if it held secrets,"
        return ""


def sends_away(words: tuple[str, ...]) -> bool:
    """Whether that command sends what it is given."""
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    if program in SENDERS:
        return True
    if program in SOMETIMES:
        return bool(SOMETIMES[program].intersection(words[1:]))
    return program.rstrip("0123456789.") in INTERPRETERS and any(SPEAKS.search(word) for word in words[1:])


def _variable_of(words: tuple[str, ...]) -> str:
    """A variable named like a secret, where it is not how the command logs in."""
    for before, word in pairwise(words):
        if before in HEADERS or word.startswith(("-u", "--header=", "-H", "--user=", "--oauth2-bearer=")):
            continue
        for name in VARIABLE.findall(word):
            if SECRET_NAME.search(name) and words[0] not in LOGS_IN:
                return name
    return ""


def _secrets(text: str) -> Iterator[str]:
    """Kinds of secrets in a text, also in one that was encoded."""
    for shown in _decoded(text):
        kinds = {span.kind for span in find(shown)}
        if kinds:
            yield ", ".join(sorted(kinds))


def _decoded(text: str) -> Iterator[str]:
    yield text
    if "%" in text:
        yield unquote_plus(text)
    words = WORDS.findall(text)[:MOST]
    for word in dict.fromkeys((*words, *(word.rpartition("/")[2] for word in words if "/" in word))):
        if HEX.fullmatch(word):
            yield bytes.fromhex(word).decode("latin-1")
        plain = word.replace("-", "+").replace("_", "/").rstrip("=")
        try:
            yield base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode("latin-1")
        except (binascii.Error, ValueError):
            continue
