"""Learns the usual application, then runs the grown one with that knowledge only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.cgroups import CannotHold
from cluster.cluster import Cluster
from cluster.elastane_command import run_elastane
from cluster.journal import records
from cluster.paths import Checkout
from cluster.spark import END_STATES, Submitter, wait_ended
from cluster.waiting import wait_until
from reprovisioning.figures import RunFigures, run_figures
from reprovisioning.scenario import NODES, Signing, cluster_settings

LESSONS = 2
RUN_SECONDS = 420.0
LEARN_SECONDS = 30.0
START_SECONDS = 120.0


class Harmed(Exception):
    """An application failed, or the application beside the grown one lost a container."""


@dataclass(frozen=True)
class Bench:
    """Paths and settings common to all runs."""

    folder: Path
    checkout: Checkout
    signing: Signing
    margin: float

    def teach(self) -> None:
        """Usual runs beside the other application, which never ends and is not learned. Their
        depository is kept for all later runs."""
        for old in self.folder.glob("learned.*"):
            old.unlink()
        journal = self.folder / "learned.jsonl"
        settings = cluster_settings(self._work, self._learned, journal, None, self.margin)
        with Cluster(settings, self.checkout) as cluster, self._submitter(cluster) as submitter:
            _check_held(cluster)
            start_beside(submitter, self.signing, journal)
            teach(cluster, submitter, self.signing, journal, LESSONS)

    def run(self, arm: str, name: str) -> RunFigures:
        """The grown application beside the other one; the journal stays as NAME.jsonl."""
        depository, journal = self._copy_of_learned(name), self.folder / f"{name}.jsonl"
        journal.unlink(missing_ok=True)
        settings = cluster_settings(self._work, depository, journal, arm, self.margin)
        with Cluster(settings, self.checkout) as cluster, self._submitter(cluster) as submitter:
            _check_held(cluster)
            beside = start_beside(submitter, self.signing, journal)
            grown = submitter.submit(self.signing.grown())
            record = ended_well(cluster, grown)
            check_unharmed(cluster, beside, journal)
        return run_figures(arm, record, beside, records(journal))

    @property
    def _learned(self) -> Path:
        return self.folder / "learned.sqlite"

    @property
    def _work(self) -> Path:
        return self.folder / "cluster"

    def _submitter(self, cluster: Cluster) -> Submitter:
        return Submitter(cluster.resource_manager, self._work, self.checkout)

    def _copy_of_learned(self, name: str) -> Path:
        """Copies the depository: the run is learned too and must not influence the next."""
        copy = self.folder / f"{name}.sqlite"
        for old in self.folder.glob(f"{copy.name}*"):
            old.unlink()
        run_elastane(self.checkout, "depository", "snapshot", self._learned, copy)
        return copy


def teach(
    cluster: Cluster, submitter: Submitter, signing: Signing, journal: Path, runs: int
) -> None:
    """Runs the usual application repeatedly until it is learned."""
    lessons = []
    for _ in range(runs):
        lessons.append(submitter.submit(signing.usual()))
        ended_well(cluster, lessons[-1])

    def all_learned() -> bool:
        learned = {one["application"] for one in records(journal, "learned")}
        return learned.issuperset(lessons)

    wait_until(all_learned, f"a profile of {lessons}", LEARN_SECONDS)


def start_beside(submitter: Submitter, signing: Signing, journal: Path) -> str:
    """Returns the other application's id once it has an executor on each node."""
    application = submitter.submit(signing.beside())

    def on_each_node() -> bool:
        return len({one["node"] for one in _executors(journal, application)}) == NODES

    wait_until(on_each_node, f"an executor of {application} on each node", START_SECONDS)
    return application


def ended_well(cluster: Cluster, application: str) -> dict[str, Any]:
    """Waits for an application's end; raises Harmed if the application failed."""
    record = wait_ended(cluster.resource_manager, application, RUN_SECONDS)
    if record["finalStatus"] != "SUCCEEDED":
        raise Harmed(f"{application} ended {record['finalStatus']}: {record['diagnostics']}")
    return record


def check_unharmed(cluster: Cluster, application: str, journal: Path) -> None:
    """Raises Harmed if an application has lost an executor."""
    record = cluster.resource_manager.application(application)
    finished = {one["container"] for one in records(journal, "finished")}
    lost = [one for one in _executors(journal, application) if one["container"] in finished]
    if record["state"] in END_STATES or lost:
        raise Harmed(f"{application} is {record['state']} and lost {lost}")


def _executors(journal: Path, application: str) -> list[dict[str, Any]]:
    return [
        one
        for one in records(journal, "placed")
        if one["application"] == application and not one["application_master"]
    ]


def _check_held(cluster: Cluster) -> None:
    if cluster.cannot_hold is not None:
        raise CannotHold(cluster.cannot_hold)
