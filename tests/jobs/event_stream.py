"""Counts events of Spark's rate source by window in micro-batches, and idles in between."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import window


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: event_stream.py EVENTS_PER_SECOND BATCH_SECONDS SECONDS")
    events_per_second, batch_seconds, seconds = map(int, sys.argv[1:])
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    events = spark.readStream.format("rate").option("rowsPerSecond", events_per_second).load()
    counts = (
        events.withWatermark("timestamp", "10 seconds")
        .groupBy(window("timestamp", "5 seconds"), events.value % 10)
        .count()
    )
    query = (
        counts.writeStream.outputMode("append")
        .format("noop")
        .trigger(processingTime=f"{batch_seconds} seconds")
        .start()
    )
    query.awaitTermination(seconds)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
