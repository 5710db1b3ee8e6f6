"""An application whose executors hold a given amount of memory."""

from __future__ import annotations

from pathlib import Path

from cluster.paths import Checkout
from cluster.spark import SparkApplication
from cluster.waiting import wait_until

EXECUTOR_MB = 3072
START_SECONDS = 120.0


class Holder:
    """An application whose executors hold a given amount of memory."""

    def __init__(self, name: str, executors: int, work: Path, checkout: Checkout) -> None:
        self._executors = executors
        # A key keeps only a path's last component, so both are runs of one application.
        self._folder = work / name / "orders"
        self._folder.mkdir(parents=True)
        self.application = SparkApplication(
            "holder",
            checkout.tests / "jobs" / "hold_memory.py",
            (str(self._folder), str(executors)),
            executors=executors,
            executor_memory_mb=EXECUTOR_MB - 384,
            properties={
                # The first failure counted by Spark would end the application.
                "spark.task.maxFailures": "1",
                "spark.executor.maxNumFailures": "1",
                # Otherwise a lesson of two executors, of which one fits, waits 30 s for both.
                "spark.scheduler.minRegisteredResourcesRatio": "0",
            },
        )

    def wait_started(self, tasks: int | None = None) -> None:
        wanted = tasks or self._executors

        def all_run() -> bool:
            return all((self._folder / f"task-{one}-0").exists() for one in range(wanted))

        wait_until(all_run, f"the tasks of {self._folder}", START_SECONDS)

    def wait_started_again(self) -> None:
        wait_until(lambda: list(self._folder.glob("task-*-1")), "a second attempt", START_SECONDS)

    def hold(self, megabytes: int) -> None:
        self._order("hold-mb", str(megabytes))

    def end(self) -> None:
        self._order("end", "")

    def _order(self, name: str, text: str) -> None:
        whole = self._folder / f"{name}.part"
        whole.write_text(text)
        whole.rename(self._folder / name)
