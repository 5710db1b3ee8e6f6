"""What is combined with what."""

from __future__ import annotations

from dataclasses import dataclass

# Java's runtimes of these versions are packages on PyPI, with all of java.se.
RUNTIMES = {"11": "11.0.13.1", "17": "17.0.9.2", "21": "21.0.8.2"}

# test_metrics runs the exporter beside the ResourceManager, and it needs the module jdk.httpserver,
# which the runtime of Java 11 lacks.
LEFT_OUT = {"11": frozenset({"metrics"})}

# Hadoop 3.5 needs Java 17. Spark 4 needs the module jdk.incubator.vector, which these runtimes
# lack: `make test-cluster` tests it on the machine's JDK.
CELLS = (
    "3.3.6:11:3.5.5",
    "3.4.1:17:3.5.5",
    "3.4.2:17:3.5.5",
    "3.4.3:11:3.5.5",
    "3.4.3:21:3.5.5",
    "3.5.0:17:3.5.5",
    "3.5.0:21:3.5.5",
)


class UnknownCell(ValueError):
    """Text that names no cell."""


@dataclass(frozen=True)
class Cell:
    """One cluster."""

    hadoop: str
    java: str
    spark: str

    @classmethod
    def of(cls, text: str) -> Cell:
        parts = text.split(":")
        if len(parts) != 3 or not all(parts):
            raise UnknownCell(f"{text}: HADOOP:JAVA:SPARK is allowed, such as {CELLS[0]}")
        if parts[1] not in RUNTIMES:
            raise UnknownCell(f"{text}: Java {parts[1]}: {', '.join(RUNTIMES)} are allowed")
        return cls(*parts)

    def tests(self, names: list[str]) -> list[str]:
        """Those that this cell's runtime can run."""
        return [name for name in names if name not in LEFT_OUT.get(self.java, ())]

    def __str__(self) -> str:
        return f"Hadoop {self.hadoop}, Java {self.java}, Spark {self.spark}"
