"""Ports for a cluster's servers are free and distinct."""

from __future__ import annotations

import socket

from cluster.ports import EPHEMERAL_RANGE, LOOPBACK, free_ports


def test_no_port_is_given_twice_and_none_from_the_kernels_own_range() -> None:
    lowest_ephemeral = int(EPHEMERAL_RANGE.read_text().split()[0])
    ports = [port for _ in range(50) for port in free_ports(6)]
    assert len(set(ports)) == len(ports)
    assert max(ports) < lowest_ephemeral


def test_each_can_be_bound() -> None:
    for port in free_ports(5):
        with socket.socket() as server:
            server.bind((LOOPBACK, port))
