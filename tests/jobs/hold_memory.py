"""Holds memory in Python workers, one task per executor, until told to end.

In FOLDER, `hold-mb` holds the amount for each task, and may be raised; `end` ends the job. Each
task writes `task-NUMBER-ATTEMPT` when it runs. A task that runs again because its executor was lost
holds nothing.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession

LOOK_EVERY_SECONDS = 0.2


def hold(folder: Path) -> None:
    context = TaskContext.get()
    assert context is not None
    attempt = context.attemptNumber()
    (folder / f"task-{context.partitionId()}-{attempt}").touch()
    held, held_mb = [], 0
    while not (folder / "end").exists():
        if attempt == 0 and (folder / "hold-mb").exists():
            wanted_mb = int((folder / "hold-mb").read_text())
            held.append(b"\x01" * ((wanted_mb - held_mb) << 20))
            held_mb = wanted_mb
        time.sleep(LOOK_EVERY_SECONDS)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: hold_memory.py FOLDER EXECUTORS")
    folder, executors = Path(sys.argv[1]), int(sys.argv[2])
    spark = SparkSession.builder.getOrCreate()

    def work(_: Iterator[int]) -> None:
        hold(folder)

    spark.sparkContext.parallelize(range(executors), executors).foreachPartition(work)
    spark.stop()


if __name__ == "__main__":
    main()
