"""A TPC-H query over Parquet tables, once for each of several dates, as a report over one period
after another."""

import sys

from pyspark.sql import SparkSession

QUERIES = {
    # TPC-H query 1
    "pricing-summary": """
        SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
               sum(l_extendedprice * (1 - l_discount)),
               sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
               avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        FROM lineitem WHERE l_shipdate <= date'{year}-12-01' - INTERVAL '90' DAY
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
    """,
    # TPC-H query 6
    "revenue-forecast": """
        SELECT sum(l_extendedprice * l_discount) FROM lineitem
        WHERE l_shipdate >= date'{year}-01-01'
          AND l_shipdate < date'{year}-01-01' + INTERVAL '1' YEAR
          AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
    """,
    # TPC-H query 12
    "shipping-modes": """
        SELECT l_shipmode,
               sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END),
               sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END)
        FROM orders JOIN lineitem ON o_orderkey = l_orderkey
        WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
          AND l_shipdate < l_commitdate AND l_receiptdate >= date'{year}-01-01'
          AND l_receiptdate < date'{year}-01-01' + INTERVAL '1' YEAR
        GROUP BY l_shipmode ORDER BY l_shipmode
    """,
}


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[2] not in QUERIES:
        sys.exit(f"usage: tpch_query.py FOLDER {'|'.join(QUERIES)} PERIODS")
    folder, query, periods = sys.argv[1], QUERIES[sys.argv[2]], int(sys.argv[3])
    spark = SparkSession.builder.getOrCreate()
    for table in ("lineitem", "orders"):
        spark.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)
    for period in range(periods):
        for row in spark.sql(query.format(year=1993 + period % 6)).collect():
            print(*row)
    spark.stop()


if __name__ == "__main__":
    main()
