"""JSON over HTTP from the daemons' own web servers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from cluster.waiting import wait_until

TIMEOUT_SECONDS = 10.0

# Bypasses a configured proxy, since all servers are on loopback.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get_json(url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> Any:
    """Fetches and parses JSON; raises OSError if the server does not answer."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    with _opener.open(request, timeout=timeout_seconds) as response:
        return json.load(response)


def get_bytes(url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> bytes:
    """Fetches a file; raises OSError if the server does not answer."""
    with _opener.open(url, timeout=timeout_seconds) as response:
        return response.read()


def get_json_or_none(url: str, get: Callable[[str], Any] = get_json) -> Any | None:
    """None while the server does not answer, for conditions that are polled."""
    try:
        return get(url)
    except (OSError, ValueError):
        return None


def get_json_patiently(url: str, seconds: float, get: Callable[[str], Any] = get_json) -> Any:
    """Retries until the server answers: a busy server lets requests time out or fail.

    Raises DeadlineMissed if the server does not answer within `seconds`.
    """
    return wait_until(lambda: get_json_or_none(url, get), f"an answer from {url}", seconds)


def put_json(url: str, body: Any, timeout_seconds: float = TIMEOUT_SECONDS) -> Any:
    """Sends one value and parses the answer."""
    return _send("PUT", url, body, timeout_seconds)


def post_json(url: str, body: Any, timeout_seconds: float = TIMEOUT_SECONDS) -> Any:
    """The same with POST."""
    return _send("POST", url, body, timeout_seconds)


def _send(method: str, url: str, body: Any, timeout_seconds: float) -> Any:
    request = urllib.request.Request(
        url,
        data=json.dumps(body).encode(),
        method=method,
        headers={"Content-Type": "application/json", "Accept": "application/json"},
    )
    with _opener.open(request, timeout=timeout_seconds) as response:
        return json.load(response)
