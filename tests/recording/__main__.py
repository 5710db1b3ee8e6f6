"""`make record`: runs applications on a real cluster, each several times, and writes what each run
used as a folder that `elastane-lab evaluate` reads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cluster.cgroups import CannotHold
from cluster.cluster import Cluster
from cluster.paths import Checkout, MissingArtifact
from cluster.processes import ProcessEnded
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.signals import interrupt_on_termination
from cluster.spark import END_STATES, SubmissionFailed, Submitter, wait_ended
from cluster.waiting import DeadlineMissed, wait_until
from demo.data import ColdInputs, Inputs
from demo.progress import ProgressLine
from demo.workloads import warm_up
from recording.folder import write_folder
from recording.workloads import Submission, recurring, with_other_settings

SCALE_FACTOR = 1.0
SHAPE = NodeShape(memory_mb=6144, vcores=6, cpu_cores=0.85, disk_bytes_per_s=25_000_000)
NODES = 2
WARM_UP_SECONDS = 180.0
RUN_SECONDS = 600.0
INTERRUPTED = 130
PROBLEMS = (CannotHold, DeadlineMissed, MissingArtifact, ProcessEnded, SubmissionFailed)


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
    interrupt_on_termination()
    progress = ProgressLine()
    try:
        failed = _record(arguments, checkout, progress)
    except KeyboardInterrupt:
        progress.done()
        print("interrupted; the runs recorded so far are in the depository", file=sys.stderr)
        return INTERRUPTED
    except PROBLEMS as problem:
        progress.done()
        print(f"the recording could not be finished: {problem}", file=sys.stderr)
        return 1
    progress.done()
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
    submitted: list[str] = []

    def running() -> int:
        cluster.check()
        states = {one["id"]: one["state"] for one in manager.applications()}
        count = sum(states[one] not in END_STATES for one in submitted)
        done = len(submitted) - count
        progress(f"{done} of {len(submissions)} runs ended, {count} running")
        return count

    def fewer_than(limit: int) -> Callable[[], bool]:
        return lambda: running() < limit

    for submission in submissions:
        wait_until(fewer_than(at_a_time), "the end of a run", RUN_SECONDS, every_seconds=1.0)
        submitted.append(submitter.submit(submission.application))
    wait_until(fewer_than(1), "the end of the last runs", RUN_SECONDS, every_seconds=1.0)
    return submitted


if __name__ == "__main__":
    sys.exit(main())
