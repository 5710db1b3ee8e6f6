"""Submitting PySpark applications in cluster mode."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from cluster.hadoop_conf import write_configuration
from cluster.java import JVM_OPTIONS, java_command, java_environment
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.waiting import wait_until

HEAP_MB = 384
END_STATES = ("FINISHED", "FAILED", "KILLED")
APPEAR_SECONDS = 30.0


class SubmissionFailed(Exception):
    """spark-submit failed before YARN had the application."""


@dataclass(frozen=True)
class SparkApplication:
    """An unmodified PySpark script and its requests."""

    name: str
    script: Path
    arguments: tuple[str, ...] = ()
    executors: int = 2
    executor_memory_mb: int = 1408
    """The heap; Spark asks YARN for 384 MB more."""

    driver_memory_mb: int = 640
    properties: Mapping[str, str] = field(default_factory=dict)


def telling_stages(application: SparkApplication, checkout: Checkout) -> SparkApplication:
    """The application with Elastane's plugin, installed as docs/spark-plugin.md says."""
    plugin = {
        "spark.plugins.defaultList": "org.elastane.spark.ElastanePlugin",
        "spark.yarn.jars": f"local:{checkout.spark_home}/jars/*,local:{checkout.spark_plugin}",
    }
    return replace(application, properties={**application.properties, **plugin})


class Submitter:
    """A warm JVM that runs spark-submit for one application after another."""

    def __init__(self, resource_manager: ResourceManager, work: Path, checkout: Checkout) -> None:
        self.resource_manager = resource_manager
        """Answers queries. YARN's client itself finds the ResourceManager to submit to."""
        self._work = work
        self._checkout = checkout
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Submitter:
        configuration = self._work / "submitter" / "conf"
        client = self.resource_manager.client_properties()
        write_configuration(configuration, client, self._work)
        log = (self._work / "logs" / "submitter.log").open("wb")
        source = self._checkout.tests / "cluster" / "Submitter.java"
        jars = self._checkout.spark_home / "jars"
        libraries = sorted((self._checkout.spark_home / "python" / "lib").glob("*.zip"))
        self._process = subprocess.Popen(
            java_command(
                str(source), [configuration, f"{jars}/*"], HEAP_MB, [f"-Dwork={self._work}"]
            ),
            env={
                **java_environment(configuration),
                "SPARK_HOME": str(self._checkout.spark_home),
                # All nodes share this machine's PySpark, so nothing is uploaded.
                "PYSPARK_ARCHIVES_PATH": ",".join(f"local:{library}" for library in libraries),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        log.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def submit(self, application: SparkApplication) -> str:
        """Returns YARN's application id."""
        known = {listed["id"] for listed in self.resource_manager.applications()}
        answer = self._ask(self._spark_submit_arguments(application))
        if answer != "submitted":
            raise SubmissionFailed(f"{application.name}: {answer or 'the submitter ended'}")

        def new_application() -> str | None:
            for listed in self.resource_manager.applications():
                if listed["id"] not in known and listed["name"] == application.name:
                    return listed["id"]
            return None

        return wait_until(new_application, f"application {application.name}", APPEAR_SECONDS)

    def _ask(self, arguments: list[str]) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SubmissionFailed("the submitter was not started")
        process.stdin.write("\t".join(arguments) + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def _spark_submit_arguments(self, application: SparkApplication) -> list[str]:
        python = str(self._checkout.python)
        properties = {
            "spark.yarn.jars": f"local:{self._checkout.spark_home}/jars/*",
            "spark.yarn.populateHadoopClasspath": "false",
            "spark.yarn.stagingDir": f"file://{self._work}/staging",
            "spark.yarn.submit.waitAppCompletion": "false",
            "spark.yarn.maxAppAttempts": "1",
            "spark.yarn.am.waitTime": "300s",
            "spark.pyspark.python": python,
            "spark.executorEnv.PYSPARK_PYTHON": python,
            "spark.driver.extraJavaOptions": " ".join(JVM_OPTIONS),
            "spark.executor.extraJavaOptions": " ".join(JVM_OPTIONS),
            "spark.driver.memory": f"{application.driver_memory_mb}m",
            "spark.executor.memory": f"{application.executor_memory_mb}m",
            "spark.executor.cores": "1",
            "spark.executor.instances": str(application.executors),
            "spark.ui.enabled": "false",
            "spark.network.timeout": "600s",
            **application.properties,
        }
        words = ["--master", "yarn", "--deploy-mode", "cluster", "--name", application.name]
        for key, value in properties.items():
            words += ["--conf", f"{key}={value}"]
        return [*words, str(application.script), *application.arguments]


def wait_ended(
    resource_manager: ResourceManager, application: str, seconds: float
) -> dict[str, Any]:
    """Waits for an application's end and returns its record from RM REST."""

    def ended() -> dict[str, Any] | None:
        record = resource_manager.application(application)
        return record if record["state"] in END_STATES else None

    return wait_until(ended, f"the end of {application}", seconds, every_seconds=0.5)
