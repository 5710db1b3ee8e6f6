"""`make record`: runs applications on a real cluster, each several times, and writes what each run
used as a folder that `elastane-lab evaluate` reads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cluster.batch import run_all
from cluster.cluster import Cluster
from cluster.paths import Checkout
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.spark import SubmissionFailed, Submitter, wait_ended
from demo.data import ColdInputs, Inputs
from demo.ending import Ending
from demo.progress import ProgressLine
from demo.workloads import warm_up
from recording.folder import write_folder
from recording.workloads import Submission, recurring, with_other_settings

SCALE_FACTOR = 1.0
SHAPE = NodeShape(memory_mb=6144, vcores=6, cpu_cores=0.85, disk_bytes_per_s=25_000_000)
NODES = 2
WARM_UP_SECONDS = 180.0


@dataclass(frozen=True)
class Kind:
    """The recorded applications, and how many run at a time."""

    submissions: Callable[[Checkout, Inputs, int], Iterator[Submission]]
    at_a_time: int


KINDS = {
    # Two applications run at the same time, as on a shared cluster.
    "recurring": Kind(recurring, at_a_time=2),
    # Nothing runs beside the application, so only its settings make runs differ.
    "settings": Kind(with_other_settings, at_a_time=1),
}


def main() -> int:
    arguments = _arguments()
    checkout = Checkout()
    progress = ProgressLine()
    with Ending(
        "the recording",
        progress,
        SubmissionFailed,
        interrupted="the runs recorded so far are in the depository",
    ) as ending:
        failed = _record(arguments, checkout, progress)
    if ending.exit_code:
        return ending.exit_code
    print(arguments.output.resolve())
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m recording", description=__doc__)
    parser.add_argument(
        "kind",
        choices=KINDS,
        help="recurring: ten applications RUNS times each; settings: one application RUNS times, "
        "with other settings each time",
    )
    parser.add_argument("--runs", type=int, default=4, help="default: 4")
    parser.add_argument("--output", type=Path, required=True, help="the folder of series to write")
    return parser.parse_args()


def _record(arguments: argparse.Namespace, checkout: Checkout, progress: ProgressLine) -> int:
    """Returns how many runs failed."""
    kind = KINDS[arguments.kind]
    work = checkout.target / "recording" / arguments.kind
    inputs = Inputs(checkout.target / "demo" / "data", SCALE_FACTOR)
    progress("writing the input data")
    inputs.make(checkout)
    settings = _settings(work)
    settings.elastane.depository.unlink(missing_ok=True)
    submissions = list(kind.submissions(checkout, inputs, arguments.runs))
    progress("starting the cluster")
    with (
        Cluster(settings, checkout) as cluster,
        Submitter(cluster.resource_manager, settings.work, checkout) as submitter,
        ColdInputs(inputs.files()),
    ):
        submitted = _run_all(cluster, submitter, submissions, kind.at_a_time, checkout, progress)
        ended = [cluster.resource_manager.application(one) for one in submitted]
    failed = [one for one in ended if one["finalStatus"] != "SUCCEEDED"]
    for one in failed:
        print(f"{one['id']} ({one['name']}) ended {one['finalStatus']}", file=sys.stderr)
    told = {one: each.settings for one, each in zip(submitted, submissions, strict=True)}
    write_folder(checkout, settings.elastane.depository, arguments.output, told)
    return len(failed)


def _settings(work: Path) -> ClusterSettings:
    work.mkdir(parents=True, exist_ok=True)
    return ClusterSettings(
        work=work / "cluster",
        nodes=NODES,
        shape=SHAPE,
        hold_nodes=True,
        elastane=ElastaneSettings(
            mode="observe", depository=work / "runs.sqlite", journal=work / "journal.jsonl"
        ),
    )


def _run_all(
    cluster: Cluster,
    submitter: Submitter,
    submissions: list[Submission],
    at_a_time: int,
    checkout: Checkout,
    progress: ProgressLine,
) -> list[str]:
    """Returns YARN's ids in the order of submission."""
    manager = cluster.resource_manager
    wait_ended(manager, submitter.submit(warm_up(checkout)), WARM_UP_SECONDS)

    def tell(ended: int, running: int) -> None:
        progress(f"{ended} of {len(submissions)} runs ended, {running} running")

    applications = [submission.application for submission in submissions]
    return run_all(cluster, submitter, applications, at_a_time, tell)


if __name__ == "__main__":
    sys.exit(main())
