"""The OpenAPI document, made from the table of routes and the types in it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from interlock import __version__
from interlock.ui.web.route import KEY, MOST_KEY_CHARS, Route
from interlock.ui.web.scopes import Scope

REFERENCE = "#/components/schemas/{name}"
SCOPES = {
    Scope.OPEN: "No token needed.",
    Scope.OWN: "Scope: `read`, or an agent's token for its own task.",
    Scope.READ: "Scope: `read`.",
    Scope.ACT: "Scope: `act`.",
    Scope.DECIDE: "Scope: `decide`.",
}
PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "description": "Name of a project of this server; without it the first one.",
    "schema": {"type": "string"},
}
ONCE = {
    "name": KEY,
    "in": "header",
    "required": False,
    "description": "A name for this action: sent again with the same one, it is not done again.",
    "schema": {"type": "string", "maxLength": MOST_KEY_CHARS},
}
PROBLEM = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "retryable": {"type": "boolean"},
            },
            "required": ["code", "message", "hint", "retryable"],
        }
    },
    "required": ["error"],
}

PARTIAL = {"Change"}
"""Sent without the fields that have nothing new."""


def document(routes: Sequence[Route]) -> dict[str, Any]:  # Any: JSON
    """The document for these routes."""
    types = [route.gives for route in routes] + [route.takes for route in routes]
    schemas, components = msgspec.json.schema_components(types, schema_hook=_any, ref_template=REFERENCE)
    _all_there(components, components.keys() - _components([route.takes for route in routes]) - PARTIAL)
    given, taken = schemas[: len(routes)], schemas[len(routes) :]
    paths: dict[str, dict[str, object]] = {}
    for route, gives, takes in zip(routes, given, taken, strict=True):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, gives, takes)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Interlock", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": PROBLEM},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "interlock"},
            },
        },
    }


def _any(_type: type) -> dict[str, object]:
    """The schema of what may be anything."""
    return {"description": "anything"}


def _operation(route: Route, gives: dict[str, Any], takes: dict[str, Any]) -> dict[str, object]:
    found: dict[str, Any] = {  # Any: JSON
        "operationId": _operation_id(route),
        "summary": route.summary,
        "description": SCOPES[route.scope],
        "parameters": [*_parameters(route), *([] if route.scope is Scope.OPEN else [PROJECT])],
        "responses": {
            "200": {"description": "Done.", "content": {route.content_type: {"schema": gives}}},
            "default": {
                "description": "Refused or failed.",
                "content": {"application/json": {"schema": {"$ref": REFERENCE.format(name="Problem")}}},
            },
        },
        "security": [] if route.scope is Scope.OPEN else [{"token": []}, {"cookie": []}],
    }
    if route.method == "POST":
        found["parameters"] = [*found["parameters"], *([] if route.scope is Scope.OPEN else [ONCE])]
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": takes}}}
    return found


def _operation_id(route: Route) -> str:
    words = re.findall(r"[a-z]+", route.path.removeprefix("/api/"))
    return "_".join([route.method.lower(), *words])


def _parameters(route: Route) -> Iterable[dict[str, object]]:
    """Fields of the type, by their place: in the path if it names them, else in the query."""
    if route.method == "POST" or not is_dataclass(route.takes):
        return
    for each in fields(route.takes):
        is_in_path = f"{{{each.name}}}" in route.path
        yield {
            "name": each.name,
            "in": "path" if is_in_path else "query",
            "required": is_in_path,
            "schema": msgspec.json.schema(each.type),
        }


def _all_there(components: dict[str, Any], names: Collection[str]) -> None:
    """Mark every field of these as present: what is sent has all its fields, also those with a default."""
    for name in names:
        if "properties" in components[name]:
            components[name]["required"] = list(components[name]["properties"])


def _components(types: Sequence[Any]) -> Collection[str]:
    return msgspec.json.schema_components(types, schema_hook=_any, ref_template=REFERENCE)[1].keys()
