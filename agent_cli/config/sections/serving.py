"""What the attach server is bound by."""

from typing import Annotated

from agent_cli.config.kinds import Count, Duration, Section, says


class Serve(Section, frozen=True):
    approval_wait: Annotated[
        Duration,
        says(
            "How long an approval waits while nobody is attached who may decide it; then it is refused. With somebody"
            " there it waits as long as the turn."
        ),
    ] = 600.0
    idle: Annotated[
        Duration, says("How long a session with nothing to do stays open before it is let go.")
    ] = 900.0
    inbox: Annotated[
        Count, says("Most messages that wait in one session; more are refused, none is dropped.")
    ] = 100
    sessions: Annotated[Count, says("Most sessions that are open at once.")] = 32
    streams: Annotated[Count, says("Most event streams that are followed at once.")] = 64
    requests_per_minute: Annotated[
        Count, says("Most requests of one token, or of one address without tokens, in the long run.")
    ] = 6000
