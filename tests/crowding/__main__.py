"""`make bench-crowded`: what is learned of applications on a crowded node, beside what is learned
of them on a node of their own, and beside what they used there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from cluster.batch import RUN_SECONDS, run_all
from cluster.cluster import Cluster
from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.spark import SparkApplication, SubmissionFailed, Submitter, wait_ended
from crowding.figures import Comparison, read
from demo.data import Inputs
from demo.ending import Ending
from demo.progress import ProgressLine
from demo.workloads import Jobs, warm_up

SCALE_FACTOR = 1.0
# A core and a half for one application is a free node: its executor has one task at a time. The
# disk holds nobody up, because no agent measures waits for it.
SHAPE = NodeShape(memory_mb=12288, vcores=12, cpu_cores=1.5, disk_bytes_per_s=500_000_000)
CROWDS = (2, 4)
"""How many applications run at a time."""


class RunFailed(Exception):
    """Its figures cannot be compared."""


def main() -> int:
    arguments = _arguments()
    progress = ProgressLine()
    with Ending("the comparison", progress, RunFailed, SubmissionFailed) as ending:
        comparison = _compare(arguments, progress)
    if ending.exit_code == 0:
        print(comparison.text())
    return ending.exit_code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m crowding", description=__doc__)
    parser.add_argument("--runs", type=int, default=2, help="of each application; default: 2")
    parser.add_argument("--output", type=Path, required=True, help="where the figures are written")
    return parser.parse_args()


def _compare(arguments: argparse.Namespace, progress: ProgressLine) -> Comparison:
    checkout, folder = Checkout(), arguments.output.resolve()
    inputs = Inputs(checkout.target / "demo" / "data", SCALE_FACTOR)
    progress("writing the input data")
    inputs.make(checkout)
    folder.mkdir(parents=True, exist_ok=True)
    settings = _settings(folder)
    for leftover in (settings.elastane.depository, settings.elastane.journal):
        leftover.unlink(missing_ok=True)
    applications = _applications(checkout, inputs) * arguments.runs
    progress("starting the cluster")
    with (
        Cluster(settings, checkout) as cluster,
        Submitter(cluster.resource_manager, settings.work, checkout) as submitter,
    ):
        wait_ended(cluster.resource_manager, submitter.submit(warm_up(checkout)), RUN_SECONDS)
        free = _run_all(cluster, submitter, applications, 1, progress)
        crowded = {
            crowd: _run_all(cluster, submitter, applications, crowd, progress) for crowd in CROWDS
        }
    exported = folder / "profiles.json"
    depository = settings.elastane.depository
    run_elastane(
        checkout, "profiles", "export", "--all", "--file", exported, "--depository", depository
    )
    comparison = read(exported, settings.elastane.journal, free, crowded)
    (folder / "report.json").write_text(json.dumps(asdict(comparison), indent=2) + "\n")
    return comparison


def _applications(checkout: Checkout, inputs: Inputs) -> list[SparkApplication]:
    jobs = Jobs(checkout, inputs)
    applications = [
        jobs.k_means(),
        jobs.session("sales-notebook", "read", parts=2, queries=3, pause_seconds=10),
        jobs.logistic_regression(),
        jobs.word_count(),
        jobs.revenue_forecast(periods=4),
        jobs.stream("click-stream", events_per_second=200, seconds=40),
        jobs.page_rank(),
        jobs.als(),
    ]
    return [replace(one, executors=1) for one in applications]


def _settings(work: Path) -> ClusterSettings:
    return ClusterSettings(
        work=work / "cluster",
        nodes=1,
        shape=SHAPE,
        hold_nodes=True,
        elastane=ElastaneSettings(
            mode="observe",
            depository=work / "runs.sqlite",
            journal=work / "journal.jsonl",
        ),
    )


def _run_all(
    cluster: Cluster,
    submitter: Submitter,
    applications: Sequence[SparkApplication],
    at_a_time: int,
    progress: ProgressLine,
) -> list[str]:
    """Returns YARN's ids in the order of submission."""

    def tell(ended: int, _running: int) -> None:
        progress(f"{at_a_time} at a time, of {len(applications)} runs ended: {ended}")

    submitted = run_all(cluster, submitter, applications, at_a_time, tell)
    for one in map(cluster.resource_manager.application, submitted):
        if one["finalStatus"] != "SUCCEEDED":
            raise RunFailed(f"{one['id']} ({one['name']}) ended {one['finalStatus']}")
    return submitted


if __name__ == "__main__":
    sys.exit(main())
