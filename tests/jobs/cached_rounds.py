"""Reads a cached table again and again until it is told to end.

Arguments: a folder, parts of the table, MB of each. The folder gets `rounds`, the number of
rounds, `made`, how often a part was made: more than once where its cached block was lost, and
`maker-NUMBER`, the container that made this part. The job ends once the folder has `end`.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import SparkSession


def main() -> None:
    folder, parts, megabytes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    context = SparkSession.builder.getOrCreate().sparkContext
    made = context.accumulator(0)

    def make(numbers: Iterator[int]) -> Iterator[bytes]:
        made.add(1)
        for number in numbers:
            (folder / f"maker-{number}").write_text(os.environ["CONTAINER_ID"])
            yield random.Random(number).randbytes(megabytes << 20)

    table = context.parallelize(range(parts), parts).mapPartitions(make)
    table.persist(StorageLevel.MEMORY_ONLY)
    rounds = 0
    while not (folder / "end").exists():
        table.map(len).sum()
        rounds += 1
        write(folder / "made", made.value)
        write(folder / "rounds", rounds)
        time.sleep(0.2)


def write(path: Path, number: int) -> None:
    part = path.with_suffix(".part")
    part.write_text(str(number))
    part.rename(path)


if __name__ == "__main__":
    main()
