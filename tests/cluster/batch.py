"""Running many applications, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cluster.cluster import Cluster
from cluster.spark import END_STATES, SparkApplication, Submitter
from cluster.waiting import wait_until

RUN_SECONDS = 600.0


def run_all(
    cluster: Cluster,
    submitter: Submitter,
    applications: Iterable[SparkApplication],
    at_a_time: int,
    tell: Callable[[int, int], None],
) -> list[str]:
    """Returns YARN's ids in the order of submission.

    `tell` is called once a second with how many have ended and how many run."""
    submitted: list[str] = []

    def running() -> int:
        cluster.check()
        states = {one["id"]: one["state"] for one in cluster.resource_manager.applications()}
        count = sum(states[one] not in END_STATES for one in submitted)
        tell(len(submitted) - count, count)
        return count

    def fewer_than(limit: int) -> Callable[[], bool]:
        return lambda: running() < limit

    for application in applications:
        wait_until(fewer_than(at_a_time), "the end of a run", RUN_SECONDS, every_seconds=1.0)
        submitted.append(submitter.submit(application))
    wait_until(fewer_than(1), "the end of the last runs", RUN_SECONDS, every_seconds=1.0)
    return submitted
