"""A project and scripts, as for the server."""

from tests.server.conftest import project, script, service

__all__ = ["project", "script", "service"]
