"""Holds answers of Elastane's REST against its own description."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from cluster.resource_manager import ResourceManager


def description_of(manager: ResourceManager) -> dict[str, Any]:
    description: dict[str, Any] = manager.elastane_rest("openapi.json")
    return description


def assert_as_described(answer: Any, path: str, description: dict[str, Any]) -> None:
    """Of a GET of this path of the description."""
    operation = description["paths"][path]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": description["components"]}
    faults = Draft202012Validator(whole).iter_errors(answer)
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []
