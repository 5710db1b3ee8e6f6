"""The cluster runs the versions that `make test-matrix` names."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable

import pytest

from cluster.cluster import Cluster
from cluster.paths import Checkout

JAVA = os.environ.get("ELASTANE_EXPECTED_JAVA")
HADOOP = os.environ.get("ELASTANE_EXPECTED_HADOOP")
SPARK = os.environ.get("ELASTANE_EXPECTED_SPARK")

pytestmark = pytest.mark.skipif(
    not (JAVA and HADOOP and SPARK), reason="`make test-matrix` names the expected versions"
)


@pytest.fixture(scope="module")
def cluster(start_cluster: Callable[..., Cluster]) -> Cluster:
    return start_cluster(nodes=1)


def test_the_daemons_run_the_expected_java(cluster: Cluster) -> None:
    for one in (cluster.resource_manager, *cluster.node_managers):
        # Of the process, whatever JAVA_HOME says.
        printed = subprocess.run(
            [f"/proc/{one.daemon.pid}/exe", "-version"], capture_output=True, text=True, check=True
        )
        found = re.search(r'version "(\d+)', printed.stderr)
        assert found is not None, printed.stderr
        assert found.group(1) == JAVA, one.daemon.name


def test_the_daemons_are_of_the_expected_hadoop(cluster: Cluster) -> None:
    manager = cluster.resource_manager.yarn_rest("info")["clusterInfo"]
    assert manager["hadoopVersion"] == HADOOP
    assert {one["version"] for one in cluster.resource_manager.nodes()} == {HADOOP}


def test_jobs_have_the_expected_spark(checkout: Checkout) -> None:
    names = [one.name for one in checkout.spark_home.glob("jars/spark-core_*.jar")]
    assert [name.rpartition("-")[2] for name in names] == [f"{SPARK}.jar"]
