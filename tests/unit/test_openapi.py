"""The REST's description is one that tools for OpenAPI can read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from cluster.paths import Checkout


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (Checkout().page_resources / "rest/openapi.json").read_text()
    )
    return found


def test_the_description_is_valid_openapi(description: dict[str, Any]) -> None:
    assert description["openapi"].startswith("3.1.")
    faults = OpenAPIV31SpecValidator(description).iter_errors()
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


def test_no_schema_or_answer_is_there_that_nothing_refers_to(description: dict[str, Any]) -> None:
    text = json.dumps(description)
    for kind, named in description["components"].items():
        for name in named:
            assert f'"#/components/{kind}/{name}"' in text, f"{kind}/{name}"
