"""Paths in the checkout. All built and written files are under target/."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

DEFAULT_HADOOP_VERSION = os.environ.get("HADOOP_VERSION", "3.4.3")
# Empty: the one of the tests' Python environment.
SPARK_VERSION = os.environ.get("SPARK_VERSION", "")


class MissingArtifact(Exception):
    """A file that `make build` or `make fetch` makes is missing."""


@dataclass(frozen=True)
class Checkout:
    """The files of this checkout that the demo and the tests use."""

    hadoop_version: str = DEFAULT_HADOOP_VERSION
    root: Path = Path(__file__).resolve().parents[2]

    @property
    def tests(self) -> Path:
        return self.root / "tests"

    @property
    def target(self) -> Path:
        return self.root / "target"

    @property
    def hadoop_jars(self) -> Path:
        return self.target / f"hadoop-{self.hadoop_version}"

    @property
    def environment(self) -> Path:
        return self.target / "venv"

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @cached_property
    def spark_home(self) -> Path:
        """PySpark's package directory, with Spark's jars, scripts and examples."""
        if SPARK_VERSION:
            return self._one(self.target, f"spark-{SPARK_VERSION}/pyspark", "`make test-spark`")
        return self._one(self.environment, "lib/python3.*/site-packages/pyspark", "bootstrap.py")

    @property
    def spark_examples(self) -> Path:
        return self.spark_home / "examples" / "src" / "main" / "python"

    @property
    def agent(self) -> Path:
        return self._built(self.target / "release" / "elastane-agent")

    @property
    def elastane(self) -> Path:
        return self._built(self.target / "release" / "elastane")

    @property
    def elastane_lab(self) -> Path:
        return self._built(self.target / "release" / "elastane-lab")

    @property
    def grafana(self) -> Path:
        return self.root / "grafana"

    @property
    def page_resources(self) -> Path:
        """The folder of the page's files, as the jar holds them."""
        return self.root / "java-shim/scheduler/src/main/resources/org/elastane"

    @property
    def recorded_series(self) -> Path:
        """Ten Spark applications, in the format of `elastane-lab evaluate`."""
        return self.root / "lab" / "tests" / "recorded"

    @property
    def replay(self) -> Path:
        """The scale model's executor, which `make bench-cluster` builds."""
        return self._built(self.target / "release" / "elastane-replay")

    @property
    def library(self) -> Path:
        return self._built(self.target / "release" / "libelastane.so")

    @property
    def scheduler_jar(self) -> Path:
        return self._jar("scheduler")

    @property
    def spark_plugin(self) -> Path:
        return self._jar("spark")

    def _jar(self, module: str) -> Path:
        folder = self.root / "java-shim" / module / "target"
        jars = [
            jar
            for jar in sorted(folder.glob(f"elastane-{module}-*.jar"))
            if not jar.stem.endswith(("-sources", "-javadoc", "-tests"))
        ]
        if len(jars) != 1:
            raise MissingArtifact(
                f"{folder} holds {len(jars)} {module} jars, not one: run `make build`"
            )
        return jars[0]

    @staticmethod
    def _built(file: Path) -> Path:
        if not file.is_file():
            raise MissingArtifact(f"{file} is missing: run `make build`")
        return file

    @staticmethod
    def _one(folder: Path, pattern: str, maker: str) -> Path:
        found = sorted(folder.glob(pattern))
        if len(found) != 1:
            raise MissingArtifact(f"{folder}/{pattern} is missing: run {maker}")
        return found[0]
