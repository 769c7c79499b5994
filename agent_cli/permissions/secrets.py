"""Which paths look as if they hold secrets, by their names alone."""

from __future__ import annotations

import re
from functools import cache

_NAMES = r"""
      \.env(\.(?!example$|sample$|template$|dist$|defaults?$)[\w.-]+)? | [\w.-]+\.env | \.envrc
    | id_(rsa|dsa|ecdsa|ed25519)(_sk)? | (?!.*\.pub$).*_(rsa|ed25519|ecdsa)
    | .*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|ovpn|tfstate)
    | (aws[-_]?|google[-_]?|client[-_]?)?(credentials?|secrets?)(\.(json|ya?ml|toml|ini|csv|xml|db|txt|enc|properties))?
    | (application[-_]default[-_]credentials|client[-_]secret.*|service[-_]?account.*)\.json
    | [._]netrc | \.pgpass | \.my\.cnf | \.npmrc | \.yarnrc\.yml | \.pypirc | \.git-credentials | \.htpasswd
    | \.dockercfg | \.dockerconfigjson | \.vault[-_]?token | \.?kubeconfig | \.terraformrc | terraform\.tfvars
    | g?shadow-? | sudoers | \.\w+_history | login\.keychain(-db)? | cookies\.sqlite | key[34]\.db | logins\.json
    """
_PLACES = (
    r"/\.(ssh|gnupg|aws|azure|password-store|secrets)(/|$)|/\.kube/config|/\.docker/config\.json|/\.config/gcloud(/|$)"
    r"|/\.config/gh/hosts\.yml|/\.cargo/credentials|/\.gem/credentials|/\.m2/settings\.xml|^/proc/[^/]+/environ"
    r"|/sudoers\.d/|/run/secrets/"
)


@cache
def _expressions() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_NAMES, re.VERBOSE | re.IGNORECASE), re.compile(_PLACES, re.IGNORECASE)


def looks_secret(path: str) -> bool:
    """`path` is absolute, or the part of a pattern that names a file."""
    names, places = _expressions()
    return names.fullmatch(path.rpartition("/")[2]) is not None or places.search(path) is not None
