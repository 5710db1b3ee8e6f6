"""A MapReduce job whose only map has to be repeated while its reducers run."""

from __future__ import annotations

from pathlib import Path

from cluster.cluster import Cluster
from cluster.hadoop_conf import write_configuration
from cluster.java import JVM_OPTIONS, java_command, jdk_program, run_java
from cluster.paths import Checkout
from cluster.waiting import wait_until

HEAP_MB = 128
TASK_HEAP_MB = 128
APPEAR_SECONDS = 30.0
MAIN_CLASS = "RepeatedMap"

NODE_MANAGER = {
    "yarn.nodemanager.aux-services": "elastane,mapreduce_shuffle",
    "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred"
    ".ShuffleHandler",
    "mapreduce.shuffle.port": 0,
}
"""What the NodeManagers of a cluster with Elastane need for MapReduce."""


class RepeatedMap:
    """The job of jobs/RepeatedMap.java. Its containers, also the ApplicationMaster's, are of one
    size."""

    def __init__(self, name: str, container_mb: int, reducers: int) -> None:
        self._name = name
        self._container_mb = container_mb
        self._reducers = reducers

    def submit(self, cluster: Cluster, checkout: Checkout) -> str:
        """Returns YARN's application id."""
        work = cluster.settings.work
        self._folder = work / self._name
        self._folder.mkdir()
        (self._folder / "input").write_text("a line\n")
        configuration = self._folder / "conf"
        classes = self._folder / "classes"
        client = cluster.resource_manager.client_properties()
        write_configuration(configuration, client | self._properties(work, classes), work)
        jars = f"{checkout.hadoop_jars}/*"
        source = checkout.tests / "jobs" / "RepeatedMap.java"
        # For the oldest Java that runs the job.
        compiler = [str(jdk_program("javac")), "--release", "8", "-nowarn"]
        compiler += ["-cp", jars, "-d", str(classes), str(source)]
        run_java(compiler, configuration)
        known = {listed["id"] for listed in cluster.resource_manager.applications()}
        run_java(
            java_command(
                MAIN_CLASS,
                [configuration, classes, jars],
                HEAP_MB,
                [f"-Dwork={work}"],
                [self._name, str(self._folder)],
            ),
            configuration,
        )

        def new_application() -> str | None:
            listed = cluster.resource_manager.applications()
            return next((one["id"] for one in listed if one["id"] not in known), None)

        return wait_until(new_application, f"application {self._name}", APPEAR_SECONDS)

    def wait_mapping(self, seconds: float) -> None:
        """Waits until the map runs."""
        wait_until((self._folder / "mapping").exists, f"the map of {self._name}", seconds)

    def end_first_attempt(self) -> None:
        """The map has to be repeated."""
        (self._folder / "halt").touch()

    def _properties(self, work: Path, classes: Path) -> dict[str, object]:
        options = " ".join((f"-Xmx{TASK_HEAP_MB}m", *JVM_OPTIONS))
        return {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": classes,
            "mapreduce.job.maps": 1,
            "mapreduce.job.reduces": self._reducers,
            # Reducers start once the map has its container.
            "mapreduce.job.reduce.slowstart.completedmaps": 0,
            "mapreduce.map.memory.mb": self._container_mb,
            "mapreduce.map.java.opts": options,
            "mapreduce.reduce.memory.mb": self._container_mb,
            "mapreduce.reduce.java.opts": options,
            "mapreduce.map.speculative": False,
            "mapreduce.reduce.speculative": False,
            "mapreduce.task.io.sort.mb": 10,
            "yarn.app.mapreduce.am.resource.mb": self._container_mb,
            "yarn.app.mapreduce.am.command-opts": options,
            "yarn.app.mapreduce.am.staging-dir": work / "staging",
        }
