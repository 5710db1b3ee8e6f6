"""A Spark job with Elastane's plugin tells its stages: the agent reports them, and the profile of
the application knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.spark import SparkApplication, Submitter, telling_stages, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker, elastane
from .expectations import executors, measured, wait_all_reporting, wait_learned

RUN_SECONDS = 300.0
LEARN_SECONDS = 30.0
# The end before the last stage is in a file within 3 s, and in a report 3 s later.
STAGE_SECONDS = ("3", "5", "3", "9")
# An executor that ends with the last stage may not tell that end.
ALL_BUT_THE_LAST = len(STAGE_SECONDS) - 1


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    return start_cluster(
        elastane=elastane(work, reprovision="on"),
        capacity_scheduler={
            "yarn.scheduler.capacity.root.default.elastane.shared-profiles": "others, stages"
        },
    )


def job(checkout: Checkout, **properties: str) -> SparkApplication:
    script = checkout.tests / "jobs" / "stages.py"
    tagged = {"spark.yarn.tags": "elastane.profile=stages", **properties}
    told = SparkApplication(
        "stages", script, STAGE_SECONDS, executor_memory_mb=640, properties=tagged
    )
    return telling_stages(told, checkout)


def test_the_stages_of_a_job_are_reported_and_its_profile_knows_them(
    cluster: Cluster, submitter: Submitter, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)

    silent = submitter.submit(job(checkout, **{"spark.elastane.progress.enabled": "false"}))
    assert wait_ended(manager, silent, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    assert set(told(journal, silent)) == {None}
    wait_learned(journal, "stages")
    assert stages_of_profile(manager) == 0

    # The second run is planned by the first one, and reprovisioning follows it.
    first = submitter.submit(job(checkout))
    assert wait_ended(manager, first, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    stages = [count for count in told(journal, first) if count is not None]
    assert stages == sorted(stages), stages
    assert stages[0] < ALL_BUT_THE_LAST <= stages[-1] <= len(STAGE_SECONDS), stages
    wait_until(
        lambda: stages_of_profile(manager) >= ALL_BUT_THE_LAST,
        f"{ALL_BUT_THE_LAST} stages in the profile",
        LEARN_SECONDS,
    )
    assert stages_of_profile(manager) <= len(STAGE_SECONDS)


def told(journal: Path, application: str) -> list[int | None]:
    """What an executor's reports said, in order."""
    first = executors(journal, application)[0]
    return [one["stages_ended"] for one in measured(journal, first)]


def stages_of_profile(manager: ResourceManager) -> int:
    (profile,) = manager.elastane_rest("profiles")["profiles"]
    assert profile["profile"] == "shared|root.default|stages"
    kinds: list[dict[str, Any]] = profile["kinds"]
    return max((kind["stages"] for kind in kinds if kind["kind"] == "executor"), default=0)
