"""Ports for a cluster's servers are free and distinct."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from cluster import ports as cluster_ports
from cluster.paths import Checkout
from cluster.ports import EPHEMERAL_RANGE, LOOPBACK, NoFreePort, free_ports


def test_no_port_is_given_twice_and_none_from_the_kernels_own_range() -> None:
    lowest_ephemeral = int(EPHEMERAL_RANGE.read_text().split()[0])
    ports = [port for _ in range(50) for port in free_ports(6)]
    assert len(set(ports)) == len(ports)
    assert max(ports) < lowest_ephemeral


def test_each_can_be_bound() -> None:
    for port in free_ports(5):
        with socket.socket() as server:
            server.bind((LOOPBACK, port))


def test_a_port_that_another_process_was_given_is_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gives = "from cluster.ports import free_ports; print(free_ports(1)[0], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", gives],
        cwd=Checkout().tests,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        monkeypatch.setattr(cluster_ports.random, "randint", lambda *_: port)
        with pytest.raises(NoFreePort):
            free_ports(1)
        other.communicate("\n")
    assert free_ports(1) == [port]
