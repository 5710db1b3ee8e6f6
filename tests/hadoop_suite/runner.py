"""Runs all classes in all modes, some at once."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from hadoop_suite.classes import short
from hadoop_suite.comparison import STOCK, ClassRun
from hadoop_suite.jars import Jars
from hadoop_suite.jvm import Jvm, Limits, Setting
from hadoop_suite.outcomes import Attempt, read
from hadoop_suite.report import progress


class Runner:
    """Keeps each class's result in a file, so that a later run can compare with stock's."""

    def __init__(
        self, jars: Jars, folder: Path, limits: Limits, settings: Sequence[Setting]
    ) -> None:
        self._jars = jars
        self._folder = folder
        self._limits = limits
        self._settings = settings
        self._jvms: set[Jvm] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run_all(self, classes: list[str], modes: list[str], jobs: int) -> list[ClassRun]:
        """One progress line for each class and mode."""
        tasks = [(name, mode) for name in classes for mode in modes]
        runs: dict[tuple[str, str], ClassRun] = {}
        with ThreadPoolExecutor(jobs) as pool:
            waiting = {pool.submit(self._run, name, mode): (name, mode) for name, mode in tasks}
            try:
                for done in as_completed(waiting):
                    run = done.result()
                    runs[waiting[done]] = run
                    clock = time.strftime("%H:%M:%S")
                    print(f"{clock} [{len(runs)}/{len(tasks)}] {progress(run)}", flush=True)
            except BaseException:
                self._stop()
                pool.shutdown(cancel_futures=True)
                raise
        return [runs[task] for task in tasks]

    def stored_stock(self, classes: list[str]) -> list[ClassRun]:
        """Earlier runs on the stock scheduler, which no change of ours touches."""
        files = [self._result(name, STOCK) for name in classes]
        return [
            ClassRun.from_json(json.loads(file.read_text())) for file in files if file.is_file()
        ]

    def _run(self, class_name: str, mode: str) -> ClassRun:
        start = time.monotonic()
        shutil.rmtree(self._result(class_name, mode).parent, ignore_errors=True)
        run = ClassRun(class_name, mode, self._attempt(class_name, mode, "first", []))
        to_repeat = run.first.to_repeat()
        if to_repeat and not self._stopped:
            run.second = self._attempt(class_name, mode, "second", to_repeat)
        run.seconds = time.monotonic() - start
        file = self._result(class_name, mode)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(run.to_json(), indent=1))
        if not to_repeat and run.first.ended and not run.core_failed:
            (file.parent / "first" / "log").unlink()
        return run

    def _attempt(self, class_name: str, mode: str, which: str, only: list[str]) -> Attempt:
        folder = self._result(class_name, mode).parent / which
        jvm = Jvm(self._jars, folder, self._limits, self._settings)
        with self._lock:
            if self._stopped:
                return Attempt()
            self._jvms.add(jvm)
        jvm.run(class_name, mode, only)
        with self._lock:
            self._jvms.discard(jvm)
        return read(jvm.outcomes)

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for jvm in self._jvms:
                jvm.kill()

    def _result(self, class_name: str, mode: str) -> Path:
        return self._folder / mode / short(class_name) / "result.json"
