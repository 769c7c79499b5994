"""The OpenAPI document, from the table of routes and the types of the bodies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

import msgspec

from agent_cli import __version__

REF = "#/components/schemas/{name}"
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


class Described(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def says(self) -> str: ...
    @property
    def body(self) -> Any: ...
    @property
    def answers(self) -> tuple[tuple[int, str], ...]: ...
    @property
    def query(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def public(self) -> bool: ...


def document(routes: Sequence[Described]) -> dict[str, Any]:
    kinds = [route.body for route in routes if route.body is not None]
    held, schemas = msgspec.json.schema_components(kinds, ref_template=REF)
    bodies = iter(held)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        body = None if route.body is None else next(bodies)
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, body)
    return {
        "openapi": "3.1.0",
        "info": {"title": "agent-cli attach server", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Error": ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Described, body: dict[str, Any] | None) -> dict[str, Any]:
    names = re.findall(r"\{(\w+)\}", route.path)
    where = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    asked = [
        {"name": name, "in": "query", "description": about, "schema": {"type": "integer", "minimum": 0}}
        for name, about in route.query
    ]
    answers = {str(status): {"description": about} for status, about in route.answers}
    failed = {
        "description": "Why not.",
        "content": {"application/json": {"schema": {"$ref": REF.format(name="Error")}}},
    }
    made: dict[str, Any] = {
        "summary": route.says,
        "parameters": [*where, *asked],
        "responses": {**answers, "default": failed},
        "security": [] if route.public else [{"token": []}],
        "x-scope": route.scope,
    }  # fmt: skip
    if body is not None:
        made["requestBody"] = {
            "required": optional(route.body) is None,
            "content": {"application/json": {"schema": body}},
        }
    return made


def optional(body: Any) -> msgspec.Struct | None:
    """What a missing body stands for; None where there has to be one."""
    if not is_struct(body) or any(field.required for field in msgspec.structs.fields(body)):
        return None
    return body()


def is_struct(body: Any) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(body, type) and issubclass(body, msgspec.Struct)
