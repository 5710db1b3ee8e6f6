"""Makes the input of the demo's applications, and keeps it out of the page cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from cluster.paths import Checkout
from demo.background import Background

SEED = 20
DROP_EVERY_SECONDS = 1.0


class Inputs:
    """Files in one folder, made once and kept for the next demo."""

    def __init__(self, folder: Path, scale_factor: float) -> None:
        self.folder = folder / f"scale-{scale_factor:g}"
        self.scale_factor = scale_factor
        self.tables = self.folder / "tables"
        self.lines = self.folder / "lineitem-text"
        self.words = self.folder / "words.txt"
        self.integers = self.folder / "integers.txt"
        self.points = self.folder / "points.txt"
        self.labelled = self.folder / "labelled.txt"
        self.links = self.folder / "links.txt"

    def make(self, checkout: Checkout) -> None:
        stamp = self.folder / ".complete"
        wanted = Path(__file__).read_text()
        if stamp.is_file() and stamp.read_text() == wanted:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._make_tables(checkout)
        random = np.random.default_rng(SEED)
        self._make_words()
        self._make_integers(random)
        self._make_points(random)
        self._make_labelled(random)
        self._make_links(random)
        stamp.write_text(wanted)

    def files(self) -> list[Path]:
        return [file for file in self.folder.rglob("*") if file.is_file()]

    def _make_tables(self, checkout: Checkout) -> None:
        generator = str(checkout.environment / "bin" / "tpchgen-cli")
        scale = ["--scale-factor", f"{self.scale_factor:g}", "--quiet"]
        # Uncompressed: the native decompressor does not load everywhere, and decompression would
        # hide the disk's cost.
        parquet = ["parquet", "--compression", "UNCOMPRESSED", "--parts", "8"]
        tables = ["--tables", "lineitem,orders", "--output-dir", str(self.tables)]
        subprocess.run([generator, *parquet, *scale, *tables], check=True)
        text = ["tbl", "--parts", "8", "--tables", "lineitem,orders"]
        scratch = self.folder / "text"
        subprocess.run([generator, *text, *scale, "--output-dir", str(scratch)], check=True)
        (scratch / "lineitem").rename(self.lines)

    def _make_words(self) -> None:
        """The comments of TPC-H's orders, as input of the word count."""
        scratch = self.folder / "text"
        with self.words.open("w") as words:
            for part in sorted((scratch / "orders").iterdir()):
                with part.open() as rows:
                    words.writelines(row.rstrip("|\n").rpartition("|")[2] + "\n" for row in rows)
        shutil.rmtree(scratch)

    def _make_integers(self, random: np.random.Generator) -> None:
        count = round(1_500_000 * self.scale_factor)
        np.savetxt(self.integers, random.integers(0, 10**9, size=count), fmt="%d")

    def _make_points(self, random: np.random.Generator) -> None:
        centers = random.uniform(0, 100, size=(8, 6))
        count = round(30_000 * self.scale_factor)
        points = centers[random.integers(0, len(centers), size=count)]
        np.savetxt(self.points, points + random.normal(0, 9, size=points.shape), fmt="%.3f")

    def _make_labelled(self, random: np.random.Generator) -> None:
        count = round(400_000 * self.scale_factor)
        labels = random.choice([-1.0, 1.0], size=(count, 1))
        features = random.normal(0, 1, size=(count, 10)) + 0.3 * labels
        np.savetxt(self.labelled, np.hstack([labels, features]), fmt="%.3f")

    def _make_links(self, random: np.random.Generator) -> None:
        pages = round(20_000 * self.scale_factor)
        links = random.zipf(1.5, size=(round(200_000 * self.scale_factor), 2)) % pages
        np.savetxt(self.links, links, fmt="page%d page%d")


class ColdInputs(Background):
    """Drops the inputs from the page cache once a second, so that every read goes to the disk."""

    def __init__(self, files: list[Path]) -> None:
        super().__init__("cold inputs")
        self._files = files

    def __enter__(self) -> ColdInputs:
        # Dirty pages cannot be dropped.
        os.sync()
        super().__enter__()
        return self

    def _run(self) -> None:
        descriptors = [os.open(file, os.O_RDONLY) for file in self._files]
        try:
            while not self._stop.wait(DROP_EVERY_SECONDS):
                for descriptor in descriptors:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
