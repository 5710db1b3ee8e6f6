"""Forwards TCP connections, until the link is cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

from cluster.ports import LOOPBACK, free_ports

CHUNK_BYTES = 65536
CONNECT_SECONDS = 5.0


class Link:
    """A context manager: a port of its own, behind which another port of this machine answers.

    While the link is cut, its port refuses every connection.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        (self.port,) = free_ports(1)
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._ends: set[socket.socket] = set()

    def __enter__(self) -> Link:
        self.mend()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cut()

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def mend(self) -> None:
        listener = socket.create_server((LOOPBACK, self.port))
        with self._lock:
            self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            listener, self._listener = self._listener, None
            ends, self._ends = self._ends, set()
        for one in (*ends, *([listener] if listener else [])):
            _close(one)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return  # the link was cut
            try:
                target = (LOOPBACK, self._target_port)
                far = socket.create_connection(target, CONNECT_SECONDS)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            with self._lock:
                is_cut = self._listener is not listener
                if not is_cut:
                    self._ends |= {near, far}
            if is_cut:
                _close(near)
                _close(far)
                return
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                sink.sendall(data)
        # Closing either end ends the other direction as well.
        for one in (source, sink):
            _close(one)
        with self._lock:
            self._ends -= {source, sink}


def _close(one: socket.socket) -> None:
    """Wakes the thread that waits for data or for a connection, which close alone does not."""
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
