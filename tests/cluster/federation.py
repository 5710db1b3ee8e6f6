"""Sub-clusters that share a state store, and their Router."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from cluster.cluster import Cluster
from cluster.paths import Checkout
from cluster.ports import LOOPBACK
from cluster.router import Router
from cluster.running import Running
from cluster.settings import ClusterSettings
from cluster.zookeeper import ZooKeeper

STORE = "org.apache.hadoop.yarn.server.federation.store.impl.ZookeeperFederationStateStore"
# Of the resources of a container; YARN adds "minimum" and "maximum".
PROFILES = {"default": {"memory-mb": 256, "vcores": 1}}


class Federation(Running):
    """A context manager. Each sub-cluster has its own ResourceManager and nodes."""

    def __init__(
        self, work: Path, sub_clusters: Sequence[ClusterSettings], checkout: Checkout
    ) -> None:
        """`work` is for the Router and ZooKeeper; a sub-cluster's folder must not hold it."""
        self._stack = ExitStack()
        self._zookeeper = ZooKeeper(work / "zookeeper", checkout)
        keys = {
            "yarn.federation.enabled": True,
            "yarn.federation.state-store.class": STORE,
            "hadoop.zk.address": f"{LOOPBACK}:{self._zookeeper.port}",
        }
        # A client asks for them, and the Router fails where a ResourceManager answers "disabled".
        self._profiles = work / "resource-profiles.json"
        # The Router takes a sub-cluster for active from its first heartbeat, by default after 30 s.
        own = {
            "yarn.federation.state-store.heartbeat.initial-delay": "1s",
            "yarn.resourcemanager.resource-profiles.enabled": True,
            "yarn.resourcemanager.resource-profiles.source-file": self._profiles,
        }
        self.clusters = {
            one.sub_cluster: Cluster(
                replace(one, resource_manager={**one.resource_manager, **keys, **own}), checkout
            )
            for one in sub_clusters
        }
        self.router = Router(work / "router", keys, checkout)

    def start(self) -> None:
        self._profiles.parent.mkdir(parents=True, exist_ok=True)
        self._profiles.write_text(json.dumps(PROFILES))
        for running in (self._zookeeper, *self.clusters.values(), self.router):
            self._stack.enter_context(running)

    def stop(self) -> None:
        self._stack.close()
