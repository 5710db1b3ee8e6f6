"""The applications of the demo, in the order of their arrival."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from cluster.paths import Checkout
from cluster.spark import SparkApplication
from demo.data import Inputs

SPACING_SECONDS = 12.0
QUICK_SPACING_SECONDS = 8.0
BATCH_SECONDS = 20
# Spark asks YARN for 384 MB more than the heap: 1 GB for each container.
EXECUTOR_HEAP_MB = 640


@dataclass(frozen=True)
class Arrival:
    """One submission, `after_seconds` after the first."""

    application: SparkApplication
    after_seconds: float
    bottleneck: str


def warm_up(checkout: Checkout) -> SparkApplication:
    """Warms up each node with a driver and an executor before the measurement."""
    return SparkApplication(
        "warm-up",
        checkout.spark_examples / "pi.py",
        ("3",),
        executors=3,
        executor_memory_mb=EXECUTOR_HEAP_MB,
    )


def arrivals(checkout: Checkout, inputs: Inputs, quick: bool) -> list[Arrival]:
    """All applications, or the four of the small demo."""
    return _small(checkout, inputs) if quick else _all(checkout, inputs)


def _all(checkout: Checkout, inputs: Inputs) -> list[Arrival]:
    jobs = Jobs(checkout, inputs)
    return _spaced(
        [
            (jobs.scan("log-scan", "special requests", "pending foxes", "final deposits"), "disk"),
            (jobs.service_calls("partner-sync", batches=40, answer_seconds=5), "answers"),
            (jobs.k_means(), "CPU"),
            (jobs.stream("click-stream", events_per_second=200, seconds=120), "pauses"),
            (
                jobs.session("sales-notebook", "read", parts=2, queries=5, pause_seconds=20),
                "pauses",
            ),
            (jobs.pricing_summary(periods=2), "disk and CPU"),
            (jobs.session("customer-cache", "cache", 4, queries=6, pause_seconds=20), "memory"),
            (jobs.stream("sensor-stream", events_per_second=500, seconds=100), "pauses"),
            (jobs.service_calls("geo-lookup", batches=30, answer_seconds=6), "answers"),
            (jobs.logistic_regression(), "CPU"),
        ],
        SPACING_SECONDS,
    )


def _small(checkout: Checkout, inputs: Inputs) -> list[Arrival]:
    jobs = Jobs(checkout, inputs)
    return _spaced(
        [
            (jobs.scan("log-scan", "special requests"), "disk"),
            (jobs.k_means(), "CPU"),
            (jobs.stream("click-stream", events_per_second=200, seconds=40), "pauses"),
            (jobs.pricing_summary(periods=1), "disk and CPU"),
        ],
        QUICK_SPACING_SECONDS,
    )


@dataclass(frozen=True)
class Jobs:
    """The kinds of applications. Their names differ in words, because a key ignores numbers."""

    checkout: Checkout
    inputs: Inputs

    def scan(self, name: str, *phrases: str) -> SparkApplication:
        return self._own(name, "log_scan.py", self.inputs.lines, *phrases)

    def stream(self, name: str, events_per_second: int, seconds: int) -> SparkApplication:
        return self._own(name, "event_stream.py", events_per_second, BATCH_SECONDS, seconds)

    def service_calls(self, name: str, batches: int, answer_seconds: float) -> SparkApplication:
        return self._own(name, "service_calls.py", batches, answer_seconds)

    def session(
        self, name: str, held: str, parts: int, queries: int, pause_seconds: int
    ) -> SparkApplication:
        """`held` is `read` or `cache`; `parts` of eight parts of the table are read."""
        arguments = (self.inputs.tables, held, parts, queries, pause_seconds)
        return self._own(name, "session.py", *arguments)

    def pricing_summary(self, periods: int) -> SparkApplication:
        return self._tpch("pricing-summary", periods)

    def revenue_forecast(self, periods: int) -> SparkApplication:
        return self._tpch("revenue-forecast", periods)

    def shipping_modes(self, periods: int) -> SparkApplication:
        return self._tpch("shipping-modes", periods)

    def k_means(self) -> SparkApplication:
        return self._example("k-means", "kmeans.py", self.inputs.points, 8, 0.05)

    def page_rank(self) -> SparkApplication:
        return self._example("page-rank", "pagerank.py", self.inputs.links, 8)

    def word_count(self) -> SparkApplication:
        return self._example("word-count", "wordcount.py", self.inputs.words)

    def logistic_regression(self) -> SparkApplication:
        arguments = (self.inputs.labelled, 40)
        return self._example("logistic-regression", "logistic_regression.py", *arguments)

    def sort(self) -> SparkApplication:
        return self._example("sort", "sort.py", self.inputs.integers)

    def als(self) -> SparkApplication:
        """Alternating least squares: movies, users, features, iterations, partitions."""
        return self._example("als", "als.py", 200, 1000, 10, 12, 4)

    def _tpch(self, query: str, periods: int) -> SparkApplication:
        return self._own(f"tpch-{query}", "tpch_query.py", self.inputs.tables, query, periods)

    def _own(self, name: str, script: str, *arguments: object) -> SparkApplication:
        return _application(name, self.checkout.tests / "jobs" / script, arguments)

    def _example(self, name: str, script: str, *arguments: object) -> SparkApplication:
        return _application(name, self.checkout.spark_examples / script, arguments)


def _application(name: str, script: Path, arguments: tuple[object, ...]) -> SparkApplication:
    # Splits small enough to keep both executors busy until the end.
    small_splits = {"spark.sql.files.maxPartitionBytes": "8m"}
    return SparkApplication(name, script, tuple(map(str, arguments)), properties=small_splits)


def _spaced(applications: list[tuple[SparkApplication, str]], seconds: float) -> list[Arrival]:
    return [
        Arrival(
            replace(application, executor_memory_mb=EXECUTOR_HEAP_MB), index * seconds, bottleneck
        )
        for index, (application, bottleneck) in enumerate(applications)
    ]
