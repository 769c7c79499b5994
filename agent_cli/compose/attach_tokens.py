"""Where the tokens of the attach server are."""

from __future__ import annotations

from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.server.tokens import Tokens

FILE = "serve-tokens.json"


def tokens_of(options: RunOptions) -> Tokens:
    return Tokens(places.state_dir(options.environ) / FILE)
