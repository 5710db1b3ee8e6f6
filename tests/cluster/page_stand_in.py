"""A web server that stands in for a ResourceManager's: the page's files, and made-up answers."""

from __future__ import annotations

import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .made_up_answers import Answers
from .ports import LOOPBACK

# The servlet's.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


class StandIn:
    """A context manager: a web server in place of a ResourceManager's."""

    def __init__(self, answers: Answers, resources: Path) -> None:
        self.answers = answers
        self.is_out_of_service = False
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
            answer = self.answers.of(path.removeprefix("v1/"), query)
            status, answer = (404, {"error": "not here"}) if answer is None else (200, answer)
            return status, "application/json", json.dumps(answer).encode()
        file = self._resources / (path or "page/index.html")
        if ".." in path or not file.is_file():
            return 404, "text/plain", b"not here"
        return 200, TYPES.get(file.suffix, "text/plain"), file.read_bytes()

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
