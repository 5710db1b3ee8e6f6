"""A job of single stages, one after the other.

Arguments: for each stage how long one of its tasks sleeps, in seconds. A stage has four tasks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from pyspark.sql import SparkSession

TASKS = 4


def main() -> None:
    context = SparkSession.builder.getOrCreate().sparkContext
    for seconds in map(float, sys.argv[1:]):
        context.parallelize(range(TASKS), TASKS).mapPartitions(sleeping(seconds)).count()


def sleeping(seconds: float) -> Callable[[Iterator[int]], Iterator[int]]:
    def sleep(numbers: Iterator[int]) -> Iterator[int]:
        time.sleep(seconds)
        return numbers

    return sleep


if __name__ == "__main__":
    main()
