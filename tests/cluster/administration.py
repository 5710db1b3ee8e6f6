"""`yarn rmadmin`, as an administrator runs it."""

from __future__ import annotations

from pathlib import Path

from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, run_java
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.security import Security
from cluster.waiting import wait_until

HEAP_MB = 128
STATE_SECONDS = 30.0
MAIN_CLASS = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"


class Administration:
    """With manual failover, only an administrator makes a ResourceManager active."""

    def __init__(
        self,
        one: ResourceManager,
        work: Path,
        checkout: Checkout,
        security: Security | None = None,
    ) -> None:
        """Commands are sent to `one` ResourceManager, which knows the others; in a secure cluster
        with the administrator's ticket."""
        self._client_properties = one.client_properties()
        self._security = security
        self._work = work
        self._checkout = checkout

    def activate(self, manager: ResourceManager, *options: str) -> None:
        """`--forceactive` works although another ResourceManager does not answer."""
        self._transition("-transitionToActive", manager, "ACTIVE", options)

    def stand_by(self, manager: ResourceManager) -> None:
        self._transition("-transitionToStandby", manager, "STANDBY", ())

    def refresh_queues(self) -> None:
        """Raises ProcessEnded with what the administrator reads if the refresh is refused."""
        self._run("-refreshQueues")

    def refresh_service_acls(self) -> None:
        """Of hadoop-policy.xml."""
        self._run("-refreshServiceAcl")

    def decommission_gracefully(self, time_out_seconds: int) -> None:
        """The nodes that the exclude file names; those that it no longer names come back."""
        self._run("-refreshNodes", "-g", str(time_out_seconds), "-server")

    def label_node(self, node_id: str, label: str) -> None:
        self._run("-addToClusterNodeLabels", label)
        self._run("-replaceLabelsOnNode", f"{node_id}={label}")

    def _transition(
        self, command: str, manager: ResourceManager, state: str, options: tuple[str, ...]
    ) -> None:
        assert manager.identifier is not None
        self._run(command, *options, manager.identifier)
        wait_until(
            lambda: manager.high_availability_state() == state,
            f"{manager.identifier} to be {state}",
            STATE_SECONDS,
        )

    def _run(self, *arguments: str) -> None:
        configuration = self._work / "administration" / "conf"
        security = self._security
        write_configuration(configuration, self._client_properties, self._work, security=security)
        command = java_command(
            MAIN_CLASS,
            [configuration, f"{self._checkout.hadoop_jars}/*"],
            HEAP_MB,
            [f"-Dwork={self._work}", *(security.java_options if security else ())],
            arguments,
        )
        enter = security.client_host.enter if security else ()
        ticket = security.administrator.environment if security else None
        run_java([*enter, *command], configuration, ticket)
