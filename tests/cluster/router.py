"""The Router of a federation, where clients submit applications."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster.hadoop_conf import write_configuration
from cluster.hadoop_daemon import DAEMON_OPTIONS
from cluster.java import java_command, java_environment, run_java
from cluster.paths import Checkout
from cluster.ports import LOOPBACK, free_ports
from cluster.processes import Daemon, kill_strays
from cluster.rest import get_json_or_none, get_json_patiently
from cluster.running import Running
from cluster.waiting import wait_until

HEAP_MB = 256
COMMAND_HEAP_MB = 128
START_SECONDS = 60.0
ANSWER_SECONDS = 30.0
ROUTER = "org.apache.hadoop.yarn.server.router"
WEIGHTED = "org.apache.hadoop.yarn.server.federation.policies.manager.WeightedLocalityPolicyManager"
COMMAND = "org.apache.hadoop.yarn.client.cli.RouterCLI"


class Router(Running):
    """A context manager. Knows the sub-clusters by the federation's state store only."""

    def __init__(self, work: Path, federation: Mapping[str, object], checkout: Checkout) -> None:
        """`federation` has the keys that all daemons of a federation share."""
        self._work = work
        self._federation = federation
        self._checkout = checkout
        self._client, self._admin, self._web = free_ports(3)
        self._configuration = work / "conf"
        self.daemon = Daemon(
            "Router",
            java_command(
                f"{ROUTER}.Router",
                [self._configuration, f"{checkout.hadoop_jars}/*"],
                HEAP_MB,
                [*DAEMON_OPTIONS, f"-Dwork={work}"],
            ),
            java_environment(self._configuration),
            work / "logs" / "router.log",
        )

    def stop(self) -> None:
        self.daemon.kill()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._web}"

    def client_properties(self) -> dict[str, object]:
        """The keys by which clients reach the Router as if it were a ResourceManager."""
        return {
            "yarn.resourcemanager.address": f"{LOOPBACK}:{self._client}",
            "yarn.resourcemanager.admin.address": f"{LOOPBACK}:{self._admin}",
            "yarn.resourcemanager.webapp.address": f"{LOOPBACK}:{self._web}",
            "yarn.application.classpath": f"$HADOOP_CONF_DIR,{self._checkout.hadoop_jars}/*",
        }

    def start(self) -> None:
        # Left behind by a run that was ended with SIGKILL.
        kill_strays(str(self._work))
        write_configuration(self._configuration, self._properties(), self._work)
        self.daemon.start()

        def answers() -> bool:
            self.daemon.check()
            return get_json_or_none(f"{self.url}/ws/v1/cluster/metrics") is not None

        wait_until(answers, "the Router's web service", START_SECONDS)

    def applications(self) -> list[dict[str, Any]]:
        """The applications of all sub-clusters, as the Router's REST has them."""
        listed = self.rest("apps")["apps"]
        return listed["app"] if listed else []

    def nodes(self) -> list[dict[str, Any]]:
        """The nodes of all sub-clusters."""
        listed = self.rest("nodes")["nodes"]
        return listed["node"] if listed else []

    def rest(self, path: str) -> Any:
        """The answer of the Router's REST at a path behind `cluster`."""
        return get_json_patiently(f"{self.url}/ws/v1/cluster/{path}", ANSWER_SECONDS)

    def sub_clusters(self) -> str:
        """What `yarn routeradmin` prints of the sub-clusters in the state store."""
        return self._run("-subCluster", "-getSubClusters")

    def weigh(self, queue: str, weights: Mapping[str, float]) -> None:
        """Says what part of a queue's applications goes to each sub-cluster."""
        listed = ",".join(f"{one}:{weight:g}" for one, weight in weights.items())
        self._run("-policy", "--save", f"{queue};{listed};{listed};1.0")

    def _run(self, *arguments: str) -> str:
        configuration = self._work / "routeradmin" / "conf"
        # With failover the command expects a list of Routers.
        keys = {"yarn.federation.enabled": True, "yarn.federation.failover.enabled": False}
        # The default one knows no weights.
        keys |= {"yarn.federation.policy-manager": WEIGHTED}
        write_configuration(configuration, {**self.client_properties(), **keys}, self._work)
        command = java_command(
            COMMAND,
            [configuration, f"{self._checkout.hadoop_jars}/*"],
            COMMAND_HEAP_MB,
            [f"-Dwork={self._work}"],
            arguments,
        )
        return run_java(command, configuration)

    def _properties(self) -> dict[str, object]:
        router = "yarn.router"
        return {
            **self._federation,
            f"{router}.clientrm.address": f"{LOOPBACK}:{self._client}",
            f"{router}.rmadmin.address": f"{LOOPBACK}:{self._admin}",
            f"{router}.webapp.address": f"{LOOPBACK}:{self._web}",
            # The default ones send everything to one ResourceManager.
            f"{router}.clientrm.interceptor-class.pipeline": (
                f"{ROUTER}.clientrm.FederationClientInterceptor"
            ),
            f"{router}.rmadmin.interceptor-class.pipeline": (
                f"{ROUTER}.rmadmin.FederationRMAdminInterceptor"
            ),
            f"{router}.webapp.interceptor-class.pipeline": (
                f"{ROUTER}.webapp.FederationInterceptorREST"
            ),
            # The default of 300 s delays every change of a policy.
            "yarn.federation.cache-ttl.secs": 0,
        }
