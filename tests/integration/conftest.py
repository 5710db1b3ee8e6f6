"""Clusters for the tests; each writes under target/tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cluster.browser import Browser
from cluster.cluster import Cluster
from cluster.made_up_answers import Answers
from cluster.page_stand_in import StandIn
from cluster.paths import Checkout
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.signals import interrupt_on_termination
from cluster.spark import Submitter

ClusterMaker = Callable[..., Cluster]

# Nodes without CPU and disk limits: the tests depend on requested memory only.
SHAPE = NodeShape(memory_mb=2048, vcores=16, cpu_cores=2.0, disk_bytes_per_s=1_000_000_000)
# Shorter than in production, so that the tests wait less.
HEARTBEAT_MS = 250
REPORT_MS = 1000
# A node is lost after the same 10 s of silence as in production.
REPORTS_MISSED = 10


@pytest.fixture(scope="session", autouse=True)
def _stop_everything_on_termination() -> None:
    interrupt_on_termination()


@pytest.fixture(scope="session")
def checkout() -> Checkout:
    return Checkout()


@pytest.fixture(scope="module")
def work(checkout: Checkout, request: pytest.FixtureRequest) -> Path:
    return checkout.target / "tests" / request.module.__name__.rpartition(".")[2]


@pytest.fixture(scope="module")
def start_cluster(checkout: Checkout, work: Path) -> Iterator[ClusterMaker]:
    """Starts a cluster for the module's tests, with two nodes by default."""
    with ExitStack() as stack:

        def start(**settings: object) -> Cluster:
            usual = {"work": work, "nodes": 2, "shape": SHAPE, "elastane": elastane(work)}
            heartbeat = {"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": HEARTBEAT_MS}
            resource_manager = {**heartbeat, **settings.pop("resource_manager", {})}
            wanted = ClusterSettings(**{**usual, **settings}, resource_manager=resource_manager)
            return stack.enter_context(Cluster(wanted, checkout))

        yield start


@pytest.fixture(scope="module")
def submitter(cluster: Cluster, work: Path, checkout: Checkout) -> Iterator[Submitter]:
    """Submits Spark applications to the module's own `cluster`."""
    with Submitter(cluster.resource_manager, work, checkout) as one:
        yield one


@pytest.fixture(scope="session")
def resources(checkout: Checkout) -> Path:
    """The files of the page."""
    return checkout.page_resources


@pytest.fixture(scope="module")
def made_up_page(resources: Path) -> Iterator[str]:
    """The address of the page with made-up answers of a small cluster."""
    with StandIn(Answers(nodes=60, applications=30), resources) as one:
        yield one.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


def elastane(work: Path, **extra: object) -> ElastaneSettings:
    return ElastaneSettings(
        mode="enforce",
        depository=work / "depository.sqlite",
        journal=work / "journal.jsonl",
        extra={
            # One run of an application is enough to place the next.
            "profile.least-confidence": 0,
            "report.interval-ms": REPORT_MS,
            "report.missed": REPORTS_MISSED,
            **extra,
        },
    )
