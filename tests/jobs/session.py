"""A notebook's session: short queries over a Parquet table, and a pause after each in which a
person reads the answer."""

import sys
import time
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import SparkSession

# More than the queries read, so that the cache is larger.
COLUMNS = ("l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_returnflag")
QUERIES = (
    "SELECT l_returnflag, sum(l_extendedprice) FROM lines GROUP BY l_returnflag",
    "SELECT max(l_extendedprice) FROM lines WHERE l_quantity < 10",
    "SELECT l_suppkey % 10, avg(l_quantity) FROM lines GROUP BY l_suppkey % 10",
)


def main() -> None:
    if len(sys.argv) != 6 or sys.argv[2] not in ("read", "cache"):
        sys.exit("usage: session.py FOLDER read|cache PARTS QUERIES PAUSE_SECONDS")
    folder, held = sys.argv[1:3]
    parts, queries, pause_seconds = map(int, sys.argv[3:])
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    files = [str(file) for file in sorted(Path(folder, "lineitem").iterdir())[:parts]]
    lines = spark.read.parquet(*files).select(*COLUMNS)
    if held == "cache":
        lines = lines.persist(StorageLevel.MEMORY_ONLY)
    lines.createOrReplaceTempView("lines")
    for number in range(queries):
        for row in spark.sql(QUERIES[number % len(QUERIES)]).collect():
            print(*row)
        time.sleep(pause_seconds)
    spark.stop()


if __name__ == "__main__":
    main()
