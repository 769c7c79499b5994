"""What Google's default credentials (ADC) say when nobody is signed in."""

from __future__ import annotations

import sys

from agent_cli.kernel.errors import AgentError, AuthFailed, ConfigError, ConnectionFailed
from agent_cli.providers.faults import Service

SIGN_IN = (
    "Sign in with `gcloud auth application-default login`, or name the file of a service account in"
    " GOOGLE_APPLICATION_CREDENTIALS."
)


def login_problem(service: Service, problem: Exception) -> AgentError | None:
    """None for an exception that is not google-auth's."""
    errors = sys.modules.get("google.auth.exceptions")
    if errors is None:
        return None
    if isinstance(problem, errors.DefaultCredentialsError):
        return ConfigError(f"There are no Google credentials for {service.label} ({problem}). {SIGN_IN}")
    if isinstance(problem, errors.TransportError) or getattr(problem, "retryable", False) is True:
        return ConnectionFailed(f"Google's sign-in for {service.label} cannot be reached ({problem}).")
    if isinstance(problem, errors.GoogleAuthError):
        return AuthFailed(f"Google refused the credentials for {service.label} ({problem}). {SIGN_IN}")
    return None
