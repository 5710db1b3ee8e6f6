"""Searches text files too large for memory for one phrase after another."""

import sys

from pyspark.sql import SparkSession


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("usage: log_scan.py FOLDER PHRASE...")
    spark = SparkSession.builder.getOrCreate()
    lines = spark.read.text(sys.argv[1])
    for phrase in sys.argv[2:]:
        print(phrase, lines.filter(lines.value.contains(phrase)).count())
    spark.stop()


if __name__ == "__main__":
    main()
