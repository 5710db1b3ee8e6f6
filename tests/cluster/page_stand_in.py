"""A web server that stands in for a ResourceManager's: the page's files, and made-up answers."""

from __future__ import annotations

import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .made_up_answers import Answers
from .ports import LOOPBACK

# The servlet's.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
LISTS = ("queues", "nodes", "applications", "profiles")
# What is the core's, and null while it gives no answer.
OF_CORE = {
    "mode",
    "state",
    "waiting",
    "predicted_end",
    "report_age_ms",
    "report_is_fresh",
    "physical_cpu_cores",
    "physical_network_bytes_per_s",
    "physical_disk_bytes_per_s",
    "planned",
    "planned_memory_mb",
    "planned_cpu_cores",
    "planned_network_bytes_per_s",
    "planned_disk_bytes_per_s",
    "used_memory_mb",
    "used_cpu_cores",
    "used_network_bytes_per_s",
    "used_disk_bytes_per_s",
    "capacity",
    "containers",
    "history",
}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


class StandIn:
    """A context manager: a web server in place of a ResourceManager's."""

    def __init__(self, answers: Answers, resources: Path) -> None:
        self.answers = answers
        # No scheduler is active.
        self.is_out_of_service = False
        # A scheduler is active, and its core gives no answer.
        self.is_core_out_of_service = False
        # Paths that are for administrators, while the caller is none.
        self.refused: set[str] = set()
        self._resources = resources
        self._server = ThreadingHTTPServer((LOOPBACK, 0), self._handler())
        self.url = f"http://{LOOPBACK}:{self._server.server_port}/elastane/"

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, address: str) -> tuple[int, str, bytes]:
        parts = urllib.parse.urlsplit(address)
        path = urllib.parse.unquote(parts.path).removeprefix("/elastane/")
        if path.startswith("v1/"):
            if self.is_out_of_service:
                return 503, "application/json", b'{"error": "no ElastaneScheduler is active"}'
            query = dict(urllib.parse.parse_qsl(parts.query))
            status, answer = self._rest(path.removeprefix("v1/"), query)
            return status, "application/json", json.dumps(answer).encode()
        file = self._resources / (path or "page/index.html")
        if ".." in path or not file.is_file():
            return 404, "text/plain", b"not here"
        return 200, TYPES.get(file.suffix, "text/plain"), file.read_bytes()

    def _rest(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        answer = self.answers.of(path, query)
        if answer is None:
            return 404, {"error": "not here"}
        if path in self.refused:
            return 403, {"error": f"{path}: for administrators of YARN"}
        if self.is_core_out_of_service:
            if path in ("advice", "decisions", "profiles") or "state" in query:
                return 503, {"error": "the core gives no answer now"}
            answer = without_core(path, answer)
        if path in LISTS:
            answer = page_of(path, answer, query)
        return 200, answer

    def _handler(stand_in) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, kind, body = stand_in._answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", POLICY)
                self.send_header("Cache-Control", "no-store")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Silent: pytest shows what fails."""

        return Handler


def without_core(path: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer while the core gives none."""
    kind = path.partition("/")[0]
    if kind == "status":
        return {"in_service": False}
    if kind == "plan":
        return {"nodes": None, "planned": None}
    if kind not in ("nodes", "applications"):
        return answer
    if path != kind:
        found = _emptied(answer)
        return {**found, "arrivals": [], "hidden_containers": 0} if kind == "nodes" else found
    return {**answer, kind: [_emptied(entry) for entry in answer[kind]]}


def page_of(path: str, answer: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
    """The part of a list that the query asks for."""
    entries = answer[path]
    if "state" in query:
        entries = [entry for entry in entries if entry["state"] == query["state"]]
    # All that are hidden wait.
    hidden = {"hidden": 0} if query.get("state") == "running" else {}
    return {
        **answer,
        **hidden,
        "total": len(entries),
        path: entries[: int(query.get("limit", 1_000))],
    }


def _emptied(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: None if key in OF_CORE else value for key, value in entry.items()}
