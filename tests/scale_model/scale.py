"""The sizes of the scale model, and what they stand for.

A node here is 1/48 of a node of 24 cores and 48 GB: of everything but time. A slot of 3 s of a
series lasts 3 s."""

from __future__ import annotations

from cluster.settings import NodeShape

NODES = 3
SCALE = 48
SHAPE = NodeShape(
    memory_mb=1024,
    vcores=24,
    cpu_cores=0.5,
    disk_bytes_per_s=20_000_000,
    disk_write_share=0.25,
)

EXECUTORS_OF_A_NODE = 20
"""By request, with the executors' mean size: one takes a twentieth of a node."""

SLOT_S = 3.0
"""The length of Elastane's slots."""
