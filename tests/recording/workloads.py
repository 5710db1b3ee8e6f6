"""What is recorded: recurring applications, and one application with changing settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from cluster.paths import Checkout
from cluster.spark import SparkApplication, telling_stages
from demo.data import Inputs
from demo.workloads import Jobs

REPORT = "shipping-report"
SETTINGS_STEP = 17


@dataclass(frozen=True)
class Submission:
    """One application, and its settings in `settings.json`."""

    application: SparkApplication
    settings: dict[str, float] = field(default_factory=dict)


def recurring(checkout: Checkout, inputs: Inputs, runs: int) -> Iterator[Submission]:
    """All applications in turn, so that different applications run at the same time."""
    jobs = Jobs(checkout, inputs)
    applications = [
        jobs.pricing_summary(periods=3),
        jobs.k_means(),
        jobs.revenue_forecast(periods=6),
        jobs.page_rank(),
        jobs.shipping_modes(periods=2),
        jobs.word_count(),
        jobs.scan("log-scan", "special requests", "pending foxes", "final deposits"),
        jobs.logistic_regression(),
        jobs.sort(),
        jobs.als(),
    ]
    for _ in range(runs):
        for application in applications:
            yield Submission(telling_stages(application, checkout))


def with_other_settings(checkout: Checkout, inputs: Inputs, runs: int) -> Iterator[Submission]:
    """One report with changing numbers of periods, executors and cores."""
    report = replace(Jobs(checkout, inputs).revenue_forecast(periods=1), name=REPORT)
    settings = list(product(range(2, 17, 2), (1, 2, 3), (1, 2)))
    # The step and the number of settings have no common factor, so consecutive runs differ and each
    # setting is used once before any is used again.
    order = (settings[at * SETTINGS_STEP % len(settings)] for at in range(runs))
    for periods, executors, cores in order:
        application = replace(
            report,
            arguments=(*report.arguments[:-1], str(periods)),
            executors=executors,
            properties={**report.properties, "spark.executor.cores": str(cores)},
        )
        told = {"periods": periods, "executors": executors, "executor_cores": cores}
        yield Submission(application, told)
