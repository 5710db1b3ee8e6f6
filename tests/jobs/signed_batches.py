"""Signs the lines of one file after another, as batches that arrive at fixed times.

The n-th file in FOLDER, from 0, is taken n · SECONDS after the first one, or as soon as the one
before it is done.
"""

import hashlib
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

# About two milliseconds of CPU.
ROUNDS = 5000
# Partitions of a batch per executor; a faster executor takes more of them.
TASKS = 2


def signed(line: str) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", line.encode(), b"batch", ROUNDS)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: signed_batches.py FOLDER SECONDS")
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    context = SparkSession.builder.getOrCreate().sparkContext
    tasks = TASKS * int(context.getConf().get("spark.executor.instances", "1"))
    # Starts the workers, so that the first batch takes no longer than the others.
    context.parallelize(range(tasks), tasks).map(str).map(signed).count()
    began = time.monotonic()
    for number, file in enumerate(sorted(folder.iterdir())):
        time.sleep(max(0.0, began + number * seconds - time.monotonic()))
        context.textFile(f"file://{file}", tasks).map(signed).count()
    context.stop()


if __name__ == "__main__":
    main()
