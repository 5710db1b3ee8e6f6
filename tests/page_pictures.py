"""`python -m page_pictures`: a picture of each view of the page, of a real cluster that has worked
for some minutes, for the docs. A second run is planned by what the first used."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.browser import Browser, views
from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, holding
from cluster.paths import Checkout
from cluster.settings import ClusterSettings, NodeShape
from cluster.signals import interrupt_on_termination
from cluster.waiting import wait_until
from integration.conftest import elastane

NODES = 3
SHAPE = NodeShape(memory_mb=4096, vcores=16, cpu_cores=2.0, disk_bytes_per_s=1_000_000_000)
WIDTH = 1400
# Lists are longer.
MOST_PIXELS = 1100
DARK = ("cluster", "node")
# The history has a step every 10 s, that of containers every 20 s.
# The second run of the nightly application is half done then.
WORK_SECONDS = 250
WAIT_SECONDS = 240.0


@dataclass(frozen=True)
class Workers:
    """An application whose containers compute, rest and compute again."""

    name: str
    containers: int
    busy_seconds: int
    rest_seconds: int
    rounds: int
    memory_mb: int = 1024
    held_mb: int = 200
    queue: str = "default"
    master_memory_mb: int = 256
    node_label: str = ""
    tags: str = ""

    @property
    def command(self) -> str:
        busy = f"timeout {self.busy_seconds} md5sum /dev/zero; sleep {self.rest_seconds}"
        work = "; ".join([busy] * self.rounds)
        return holding(self.held_mb, f"({work}) > /dev/null")


def main() -> None:
    parser = argparse.ArgumentParser(prog="page_pictures", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    folder = parser.parse_args().folder
    interrupt_on_termination()
    checkout = Checkout()
    work = checkout.target / "page-pictures"
    settings = ClusterSettings(work=work, nodes=NODES, shape=SHAPE, elastane=elastane(work))
    with Cluster(settings, checkout) as cluster:
        shell = DistributedShell(cluster.resource_manager, work, checkout)
        print("a first night", flush=True)
        began = time.monotonic()
        first = [shell.submit(it) for it in _night()]
        wait_until(lambda: _are_ended(cluster, first), "the first applications", WAIT_SECONDS)
        print("a second one, planned by the first", flush=True)
        second = [shell.submit(it) for it in (*_night(), Workers("ad-hoc", 14, 30, 10, 6))]
        wait_until(
            lambda: time.monotonic() - began > WORK_SECONDS, "some history", WORK_SECONDS + 60
        )
        _take(cluster, second[-1], folder)


def _night() -> tuple[Workers, ...]:
    return (
        Workers("nightly-sales", 5, 20, 25, 3),
        Workers("sessions", 4, 5, 60, 2, held_mb=400),
    )


def _are_ended(cluster: Cluster, applications: list[str]) -> bool:
    states = [cluster.resource_manager.application(one)["state"] for one in applications]
    return all(state == "FINISHED" for state in states)


def _take(cluster: Cluster, application: str, folder: Path) -> None:
    node = cluster.resource_manager.node_sizes()[0]["node"]
    addresses = views(node, application)
    folder.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        browser.resize(WIDTH)
        for scheme, names in (("light", addresses), ("dark", DARK)):
            browser.prefer(scheme)
            for name, view in ((name, addresses[name]) for name in names):
                browser.open("about:blank")
                browser.open(f"{cluster.resource_manager.url}/elastane/{view}")
                browser.wait_text("#updated", "Updated")
                picture = folder / f"{name}-{scheme}.png"
                browser.screenshot(picture, MOST_PIXELS)
                print(picture, flush=True)


if __name__ == "__main__":
    main()
