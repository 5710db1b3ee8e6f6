"""Fills and empties the heaps of its executors on command.

Each of the files `1`, `2`, … in FOLDER holds one step, taken when the file appears: `fill`,
`release` or `end`.
"""

import sys
import time
from itertools import count
from pathlib import Path

from pyspark import RDD, StorageLevel
from pyspark.sql import SparkSession

LOOK_EVERY_SECONDS = 0.2
PARTITIONS = 4
RECORD_BYTES = 1 << 20


def wait_for(file: Path) -> str:
    while not file.exists():
        time.sleep(LOOK_EVERY_SECONDS)
    return file.read_text()


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: hold_heap.py FOLDER MEGABYTES")
    folder, megabytes = Path(sys.argv[1]), int(sys.argv[2])
    spark = SparkSession.builder.getOrCreate()
    held: list[RDD[bytes]] = []
    for number in count(1):
        step = wait_for(folder / str(number))
        if step == "end":
            break
        if step == "release":
            held.pop().unpersist(blocking=True)
        else:
            # Python's cached RDDs are in the JVM's heap.
            numbers = spark.sparkContext.parallelize(range(megabytes), PARTITIONS)
            records = numbers.map(lambda _: b"\x01" * RECORD_BYTES)
            held.append(records.persist(StorageLevel.MEMORY_ONLY))
            held[-1].count()
    spark.stop()


if __name__ == "__main__":
    main()
