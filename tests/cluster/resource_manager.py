"""The ResourceManager process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cluster.hadoop_conf import write_configuration, write_site
from cluster.hadoop_daemon import hadoop_daemon
from cluster.paths import Checkout
from cluster.ports import free_ports
from cluster.processes import Daemon
from cluster.rest import get_json, get_json_or_none, get_json_patiently, put_json
from cluster.settings import ClusterSettings, ElastaneSettings
from cluster.waiting import wait_until

HEAP_MB = 512
START_SECONDS = 120.0
ANSWER_SECONDS = 30.0
# The session that ZooKeeper keeps of a silent ResourceManager. Hadoop's default is 10 s.
SESSION_MS = 5_000
MAIN_CLASS = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
STORES = "org.apache.hadoop.yarn.server.resourcemanager.recovery"
SCHEDULERS = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity"
ELASTANE = "ElastaneScheduler"
STOCK = "CapacityScheduler"


class ResourceManager:
    """A restart keeps the ports."""

    def __init__(
        self, settings: ClusterSettings, checkout: Checkout, identifier: str | None = None
    ) -> None:
        """With high availability, its identifier names its files."""
        self.identifier = identifier
        self._host = settings.host(identifier or "")
        self.all = [self]
        self._settings = settings
        self._checkout = checkout
        self.scheduler = STOCK if settings.elastane is None else ELASTANE
        """The scheduler of the next start."""
        self.own_properties: dict[str, object] = {}
        """Keys in which its next start differs from that of the others."""
        self._configuration = settings.work / self._folder_name / "conf"
        names = ("client", "scheduler", "tracker", "admin", "web", "usage")
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))
        self.daemon = self._daemon()

    @property
    def url(self) -> str:
        if self._settings.security is not None:
            # A name: it is part of the principal of the web server.
            return f"https://{self._host.name}:{self._ports['web']}"
        return f"http://{self._host.configured}:{self._ports['web']}"

    @property
    def usage_port(self) -> int:
        """Where NodeManagers report."""
        return self._ports["usage"]

    @property
    def depository(self) -> Path:
        return self._own(self._elastane.depository)

    @property
    def journal(self) -> Path:
        return self._own(self._elastane.journal)

    def client_properties(self) -> dict[str, object]:
        """The keys by which NodeManagers and clients find this ResourceManager and its peers."""
        if self.identifier is None:
            addresses = self._addresses()
        else:
            addresses = {
                f"{key}.{one.identifier}": value
                for one in self.all
                for key, value in one._addresses().items()
            } | {
                "yarn.resourcemanager.ha.enabled": True,
                "yarn.resourcemanager.ha.rm-ids": ",".join(str(one.identifier) for one in self.all),
                "yarn.resourcemanager.cluster-id": "cluster1",
                "yarn.resourcemanager.ha.automatic-failover.enabled": self._is_elected,
            }
        security = self._settings.security
        return {**(security.client if security else {}), **addresses} | {
            # The default of 30 s delays every reconnection.
            "yarn.resourcemanager.connect.retry-interval.ms": 500,
            "yarn.application.classpath": f"$HADOOP_CONF_DIR,{self._checkout.hadoop_jars}/*",
        }

    def _addresses(self) -> dict[str, object]:
        ports, host = self._ports, self._host.configured
        return {
            "yarn.resourcemanager.hostname": host,
            "yarn.resourcemanager.address": f"{host}:{ports['client']}",
            "yarn.resourcemanager.scheduler.address": f"{host}:{ports['scheduler']}",
            "yarn.resourcemanager.resource-tracker.address": f"{host}:{ports['tracker']}",
            "yarn.resourcemanager.admin.address": f"{host}:{ports['admin']}",
            "yarn.resourcemanager.webapp.address": f"{host}:{ports['web']}",
            # yarn.http.policy says which of both is opened.
            "yarn.resourcemanager.webapp.https.address": f"{host}:{ports['web']}",
            "yarn.scheduler.elastane.usage.address": f"{host}:{ports['usage']}",
        }

    def start(self) -> None:
        self.begin_start()
        self.wait_started()

    def begin_start(self) -> None:
        self._write_configuration(self._properties(), self._queues())
        self.daemon = self._daemon()
        self.daemon.start()

    def rewrite_settings(self, changed: Mapping[str, object]) -> None:
        """Changes Elastane's keys, without their prefix, in yarn-site.xml. Nothing reads the file
        before a refresh."""
        keys = {f"yarn.scheduler.elastane.{key}": value for key, value in changed.items()}
        self._write_configuration(self._properties() | keys)

    def rewrite_service_acls(self, acls: Mapping[str, str]) -> None:
        """Changes hadoop-policy.xml of a secure cluster. Nothing reads it before a refresh."""
        security = self._settings.security
        assert security is not None
        write_site(self._configuration / "hadoop-policy.xml", {**security.hadoop_policy, **acls})

    def _write_configuration(
        self, properties: Mapping[str, object], queues: Mapping[str, object] | None = None
    ) -> None:
        settings = self._settings
        write_configuration(
            self._configuration,
            properties,
            settings.work,
            queues,
            settings.metrics,
            settings.security,
        )

    def wait_started(self) -> None:
        def answers() -> bool:
            self.daemon.check()
            return self._poll("/ws/v1/cluster/info") is not None

        wait_until(answers, "the ResourceManager's web service", START_SECONDS)

    def nodes(self) -> list[dict[str, Any]]:
        """RM REST's nodes; bookable memory is `usedMemoryMB` + `availMemoryMB`."""
        listed = self._ask("/ws/v1/cluster/nodes")["nodes"]
        return listed["node"] if listed else []

    def running_nodes(self) -> int:
        answer = self._poll("/ws/v1/cluster/nodes?states=RUNNING")
        return (
            len((answer or {}).get("nodes", {}).get("node", []))
            if (answer or {}).get("nodes")
            else 0
        )

    def bookable_memory_mb(self) -> dict[str, int]:
        """The bookable memory of each node."""
        return {node["id"]: node["usedMemoryMB"] + node["availMemoryMB"] for node in self.nodes()}

    def applications(self) -> list[dict[str, Any]]:
        listed = self._ask("/ws/v1/cluster/apps")["apps"]
        return listed["app"] if listed else []

    def application(self, application: str) -> dict[str, Any]:
        return self._ask(f"/ws/v1/cluster/apps/{application}")["app"]

    def kill_application(self, application: str) -> None:
        url = f"{self.url}/ws/v1/cluster/apps/{application}/state?user.name=root"
        put_json(url, {"state": "KILLED"})

    def counters(self) -> dict[str, Any]:
        """Elastane's metrics of the whole cluster, of a standby too."""
        return self.beans("ElastaneScheduler")[0]

    def placed_by_core(self) -> int:
        """The number of containers placed by the core's order since the start. Excludes
        containers that the core only accepted at the commit, which the journal marks `by_core`."""
        return self.counters()["PlacedByCore"]

    def containers_allocated(self) -> int:
        """The number of containers allocated since the start."""
        return self.beans("QueueMetrics,q0=root")[0]["AggregateContainersAllocated"]

    def status(self) -> dict[str, Any]:
        """The core's status, of an active ResourceManager; `in_service` alone while the core is out
        of service."""
        return self.elastane_rest("status")

    def sizes(self) -> dict[str, Any]:
        """Physical, bookable, booked and used sizes of the cluster and labels."""
        return self.elastane_rest("sizes")

    def queues(self) -> list[dict[str, Any]]:
        """The mode of each queue, and its sizes by label."""
        return self.elastane_rest("queues")["queues"]

    def node_sizes(self) -> list[dict[str, Any]]:
        """The sizes of each node."""
        return self.elastane_rest("nodes")["nodes"]

    def elastane_rest(self, path: str) -> Any:
        """The answer of Elastane's REST at a path behind its version."""
        return self._ask(f"/elastane/v1/{path}")

    def yarn_rest(self, path: str) -> Any:
        """The answer of YARN's REST at a path behind `cluster`."""
        return self._ask(f"/ws/v1/cluster/{path}")

    def high_availability_state(self) -> str | None:
        """ACTIVE or STANDBY; None while the ResourceManager does not answer."""
        answer = self._poll("/ws/v1/cluster/info")
        return answer and answer["clusterInfo"]["haState"]

    def beans(self, name: str) -> list[dict[str, Any]]:
        """What /jmx shows of a source of metrics."""
        return self._ask(f"/jmx?qry=Hadoop:service=ResourceManager,name={name}")["beans"]

    def _ask(self, path: str) -> Any:
        return get_json_patiently(f"{self.url}{path}", ANSWER_SECONDS, self._get_json)

    def _poll(self, path: str) -> Any | None:
        return get_json_or_none(f"{self.url}{path}", self._get_json)

    @property
    def _get_json(self) -> Callable[[str], Any]:
        security = self._settings.security
        return get_json if security is None else security.get_json

    @property
    def _is_elected(self) -> bool:
        """Whether ZooKeeper chooses the active ResourceManager."""
        return bool(self._settings.zookeeper)

    @property
    def _folder_name(self) -> str:
        return self.identifier or "resource-manager"

    @property
    def _elastane(self) -> ElastaneSettings:
        assert self._settings.elastane is not None
        return self._settings.elastane

    def _own(self, file: Path) -> Path:
        return file.with_stem(f"{file.stem}-{self.identifier}") if self.identifier else file

    def _daemon(self) -> Daemon:
        return hadoop_daemon(
            f"ResourceManager {self.identifier}" if self.identifier else "ResourceManager",
            MAIN_CLASS,
            HEAP_MB,
            self._configuration,
            self._settings.work / "logs" / f"{self._folder_name}.log",
            self._settings,
            self._checkout,
            self._settings.resource_manager_options,
            self._host,
        )

    def _properties(self) -> dict[str, object]:
        settings = self._settings
        properties: dict[str, object] = {
            **(settings.security.resource_manager if settings.security else {}),
            **self.client_properties(),
            "yarn.resourcemanager.scheduler.class": f"{SCHEDULERS}.{self.scheduler}",
            "yarn.scheduler.include-port-in-node-name": True,
            "yarn.scheduler.minimum-allocation-mb": 256,
            # A node's raised size must not raise the maximum size of a container.
            "yarn.scheduler.maximum-allocation-mb": settings.shape.memory_mb,
            "yarn.scheduler.maximum-allocation-vcores": settings.shape.vcores,
            # The default is one file for all ResourceManagers of a machine.
            "yarn.node-attribute.fs-store.root-dir": (
                f"file://{settings.work}/{self._folder_name}/node-attribute"
            ),
        }
        if self.identifier is not None:
            # On one machine, the addresses do not identify the ResourceManager.
            properties["yarn.resourcemanager.ha.id"] = self.identifier
        if settings.sub_cluster:
            properties["yarn.resourcemanager.cluster-id"] = settings.sub_cluster
        if settings.recovery:
            properties |= {
                "yarn.resourcemanager.recovery.enabled": True,
                "yarn.resourcemanager.work-preserving-recovery.enabled": True,
                "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 1000,
                **self._store(),
            }
        if settings.elastane is not None:
            elastane = settings.elastane
            prefix = "yarn.scheduler.elastane"
            properties |= {
                f"{prefix}.mode": elastane.mode,
                f"{prefix}.overcommit.max-ratio": elastane.max_ratio,
                f"{prefix}.depository.file": self.depository,
                f"{prefix}.journal.file": self.journal,
                f"{prefix}.journal.usage": True,
                **{f"{prefix}.{key}": value for key, value in elastane.extra.items()},
            }
        return properties | dict(settings.resource_manager) | self.own_properties

    def _store(self) -> dict[str, object]:
        """Where the ResourceManager keeps its state."""
        store = "yarn.resourcemanager.store.class"
        if self._is_elected:
            assert self.identifier is not None
            return {
                store: f"{STORES}.ZKRMStateStore",
                "hadoop.zk.address": self._settings.zookeeper[self.identifier],
                "hadoop.zk.timeout-ms": SESSION_MS,
            }
        return {
            store: f"{STORES}.FileSystemRMStateStore",
            "yarn.resourcemanager.fs.state-store.uri": f"file://{self._settings.work}/rm-state",
        }

    def _queues(self) -> dict[str, object]:
        prefix = "yarn.scheduler.capacity"
        return {
            f"{prefix}.root.queues": "default",
            f"{prefix}.root.default.capacity": 100,
            f"{prefix}.maximum-am-resource-percent": 1.0,
            f"{prefix}.root.default.maximum-am-resource-percent": 1.0,
            f"{prefix}.resource-calculator": "org.apache.hadoop.yarn.util.resource"
            ".DominantResourceCalculator",
            f"{prefix}.per-node-heartbeat.maximum-offswitch-assignments": 1,
            **self._settings.capacity_scheduler,
        }
