"""Computes for SECONDS in an executor of the default resource profile, then in one of MEGABYTES."""

import sys
import time
from collections.abc import Callable

from pyspark.resource import (
    ExecutorResourceRequests,
    ResourceProfileBuilder,
    TaskResourceRequests,
)
from pyspark.sql import SparkSession


def busy_for(seconds: float) -> Callable[[int], int]:
    def compute(number: int) -> int:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            number = (number * 48_271) % 2_147_483_647
        return number

    return compute


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: two_profiles.py SECONDS MEGABYTES")
    compute = busy_for(float(sys.argv[1]))
    context = SparkSession.builder.getOrCreate().sparkContext
    context.parallelize([1], 1).map(compute).count()
    executor = ExecutorResourceRequests().cores(1).memory(f"{sys.argv[2]}m")
    task = TaskResourceRequests().cpus(1)
    large = ResourceProfileBuilder().require(executor).require(task).build
    context.parallelize([2], 1).map(compute).withResources(large).count()
    context.stop()


if __name__ == "__main__":
    main()
