"""Sends batches of records to another service, one at a time in each of two tasks, and waits for
each answer."""

import sys
import time

from pyspark.sql import SparkSession

PARTITIONS = 2


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: service_calls.py BATCHES ANSWER_SECONDS")
    batches, answer_seconds = int(sys.argv[1]), float(sys.argv[2])
    spark = SparkSession.builder.getOrCreate()

    def ask(batch: int) -> int:
        # Stands for the call: the executor has nothing to do until the answer is there.
        time.sleep(answer_seconds)
        return batch

    answers = spark.sparkContext.parallelize(range(batches), PARTITIONS).map(ask)
    print(answers.count())
    spark.stop()


if __name__ == "__main__":
    main()
