"""One NodeManager process."""

from __future__ import annotations

from pathlib import Path

from cluster.hadoop_conf import write_configuration
from cluster.hadoop_daemon import hadoop_daemon
from cluster.paths import Checkout
from cluster.ports import free_ports
from cluster.processes import Daemon
from cluster.settings import ClusterSettings

HEAP_MB = 256
MAIN_CLASS = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"


class NodeManager:
    """A restart keeps the ports and therefore the node id."""

    def __init__(
        self,
        index: int,
        settings: ClusterSettings,
        checkout: Checkout,
        client_properties: dict[str, object],
        agent_socket: Path | None,
    ) -> None:
        self.name = f"node-{index}"
        self.host = settings.host(self.name)
        self._settings = settings
        self._checkout = checkout
        self._client_properties = client_properties
        self._agent_socket = agent_socket
        self._folder = settings.work / self.name
        self._configuration = self._folder / "conf"
        self._port, self._localizer_port, self._web_port = free_ports(3)
        self.daemon = self._daemon()

    @property
    def node_id(self) -> str:
        """The node id in the ResourceManager; the host is named by its hosts file."""
        return f"{self.host.name}:{self._port}"

    @property
    def url(self) -> str:
        return f"http://{self.host.configured}:{self._web_port}"

    @property
    def container_logs(self) -> Path:
        """By application, then by container."""
        return self._folder / "container-logs"

    def first_process(self, container: str) -> int:
        """The pid of a running container, from the NodeManager's pid file."""
        (file,) = self._folder.glob(f"local/nmPrivate/*/{container}/{container}.pid")
        return int(file.read_text())

    def start(self) -> None:
        settings = self._settings
        write_configuration(
            self._configuration, self._properties(), settings.work, security=settings.security
        )
        self.daemon = self._daemon()
        self.daemon.start()

    def _daemon(self) -> Daemon:
        return hadoop_daemon(
            f"NodeManager {self.name}",
            MAIN_CLASS,
            HEAP_MB,
            self._configuration,
            self._settings.work / "logs" / f"{self.name}.log",
            self._settings,
            self._checkout,
            host=self.host,
        )

    def _properties(self) -> dict[str, object]:
        settings = self._settings
        host = self.host
        manager = "yarn.nodemanager"
        properties: dict[str, object] = {
            **(settings.security.node_manager if settings.security else {}),
            **self._client_properties,
            f"{manager}.hostname": host.name,
            f"{manager}.address": f"{host.name}:{self._port}",
            f"{manager}.localizer.address": f"{host.name}:{self._localizer_port}",
            f"{manager}.webapp.address": f"{host.configured}:{self._web_port}",
            # yarn.http.policy says which of both is opened.
            f"{manager}.webapp.https.address": f"{host.configured}:{self._web_port}",
            f"{manager}.resource.memory-mb": settings.registered_memory_mb,
            f"{manager}.resource.cpu-vcores": settings.registered_vcores,
            f"{manager}.local-dirs": self._folder / "local",
            f"{manager}.log-dirs": self.container_logs,
            f"{manager}.vmem-check-enabled": False,
            f"{manager}.pmem-check-enabled": False,
            f"{manager}.disk-health-checker.max-disk-utilization-per-disk-percentage": 99,
            f"{manager}.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR",
        }
        if settings.recovery:
            properties |= {
                f"{manager}.recovery.enabled": True,
                f"{manager}.recovery.supervised": True,
                f"{manager}.recovery.dir": self._folder / "recovery",
            }
        if settings.elastane is not None:
            properties |= {
                f"{manager}.aux-services": "elastane",
                f"{manager}.aux-services.elastane.class": "org.elastane.node.ElastaneNodeService",
                f"{manager}.container-state-transition-listener.classes": (
                    "org.elastane.node.ElastaneContainerListener"
                ),
                f"{manager}.elastane.agent.socket": self._agent_socket,
            }
            interval = "report.interval-ms"
            if interval in settings.elastane.extra:
                # ResourceManager and NodeManagers must agree.
                properties[f"{manager}.elastane.{interval}"] = settings.elastane.extra[interval]
        return properties | dict(settings.node_manager)
