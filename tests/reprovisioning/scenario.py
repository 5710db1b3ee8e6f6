"""An application whose input grew by half since it was learned, and another application beside it.

Batches arrive at fixed times, so a larger input means more work per batch. Limits at the plan
(`plan.cpu.cap-ratio` 1, as in Elasecutor) hold the application to its learned use, so it falls
behind. The other application is unknown and takes all the CPU that it can get.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import Checkout
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.spark import SparkApplication

NODES = 2
# A driver, a signing executor and an executor of the other application fill a node's memory. So
# both applications can be placed in one way only: two large executors do not fit one node, and the
# second driver fits only the node without a driver.
DRIVER_MB = 1280
SIGNING_MB = 1024
BESIDE_MB = 2560
SHAPE = NodeShape(
    memory_mb=DRIVER_MB + SIGNING_MB + BESIDE_MB,
    # A virtual core is a small part of a node, since no cap is below the request.
    vcores=16,
    cpu_cores=0.8,
    disk_bytes_per_s=1_000_000_000,
)
# Spark's request beyond the heap.
OVERHEAD_MB = 384

BATCH_SECONDS = 3
# Lines of each file; a line takes about two milliseconds of CPU.
LEARNED_LINES = 600
GROWTH = 1.5
# With fewer cores, a CPU cap at the driver's mean of 3 s would slow the whole application down.
DRIVER_CORES = 8
# The other application's files; more than it can process during a run.
BESIDE_FILES = 60
BESIDE_LINES = 4000

ARMS: dict[str, dict[str, object]] = {
    "off": {"reprovision": "off"},
    # No container is ten times too slow, so none has a window although progress is tracked.
    "progress": {"reprovision": "on", "reprovision.slow-from": 10},
    "on": {"reprovision": "on"},
}


def cluster_settings(
    work: Path, depository: Path, journal: Path, arm: str | None, margin: float
) -> ClusterSettings:
    """No arm: mode observe, because a run that is limited to its plan shows no use above it."""
    return ClusterSettings(
        work=work,
        nodes=NODES,
        shape=SHAPE,
        hold_nodes=True,
        elastane=ElastaneSettings(
            mode="observe" if arm is None else "enforce",
            depository=depository,
            journal=journal,
            # No more containers than fit by request, since placement is not measured.
            max_ratio=1.0,
            extra={
                "profile.least-confidence": 0,
                "profile.margin": margin,
                "plan.cpu.cap-ratio": 1,
                "starvation.wait-ms": 1000,
                **(ARMS[arm] if arm else {}),
            },
        ),
    )


@dataclass(frozen=True)
class Signing:
    """The applications and their input in one folder."""

    folder: Path
    checkout: Checkout
    batches: int
    growth: float = GROWTH
    """How many times as long a file of the grown application is."""

    learned_lines: int = LEARNED_LINES

    def make_input(self) -> None:
        _write(self._usual, self.batches, self.learned_lines)
        _write(self._grown, self.batches, round(self.learned_lines * self.growth))
        _write(self._beside, BESIDE_FILES, BESIDE_LINES)

    def usual(self) -> SparkApplication:
        return self._signing(self._usual)

    def grown(self) -> SparkApplication:
        """A run of the same application: a key keeps only a path's last component."""
        return self._signing(self._grown)

    def beside(self) -> SparkApplication:
        return self._application("beside", self._beside, 0, BESIDE_MB, driver_cores=1)

    @property
    def _usual(self) -> Path:
        return self.folder / "usual" / "batches"

    @property
    def _grown(self) -> Path:
        return self.folder / "grown" / "batches"

    @property
    def _beside(self) -> Path:
        return self.folder / "endless"

    def _signing(self, folder: Path) -> SparkApplication:
        return self._application("signing", folder, BATCH_SECONDS, SIGNING_MB, DRIVER_CORES)

    def _application(
        self, name: str, folder: Path, seconds: float, executor_mb: int, driver_cores: int
    ) -> SparkApplication:
        return SparkApplication(
            name,
            self.checkout.tests / "jobs" / "signed_batches.py",
            (str(folder), str(seconds)),
            executors=NODES,
            executor_memory_mb=executor_mb - OVERHEAD_MB,
            driver_memory_mb=DRIVER_MB - OVERHEAD_MB,
            properties={"spark.driver.cores": str(driver_cores)},
        )


def _write(folder: Path, files: int, lines: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = "".join(f"order-{number:06}\n" for number in range(lines))
    for number in range(files):
        (folder / f"{number:04}").write_text(text)
