"""A report to the ResourceManager by somebody other than a NodeManager."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

from cluster.hadoop_conf import write_configuration
from cluster.hosts import LOCAL, Host
from cluster.java import COMMAND_SECONDS, java_command, java_environment
from cluster.kerberos import Ticket
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.security import Security

HEAP_MB = 128


def report_once(
    manager: ResourceManager,
    node_id: str,
    security: Security,
    ticket: Ticket,
    work: Path,
    checkout: Checkout,
    host: Host = LOCAL,
    **core_site: str,
) -> str:
    """Sends a body that is no report for a node from a host; returns `taken`, or `refused` and why.

    `core_site` has keys in which the sender's core-site.xml differs, with `_` for `.`."""
    configuration = work / "reporter" / "conf"
    differing = {key.replace("_", "."): value for key, value in core_site.items()}
    sender = dataclasses.replace(security, core_site={**security.core_site, **differing})
    write_configuration(configuration, manager.client_properties(), work, security=sender)
    command = java_command(
        str(checkout.tests / "cluster" / "ReportOnce.java"),
        [configuration, checkout.scheduler_jar, f"{checkout.hadoop_jars}/*"],
        HEAP_MB,
        [f"-Dwork={work}", *security.java_options],
        [node_id],
    )
    done = subprocess.run(
        [*host.enter, *command],
        env=java_environment(configuration) | ticket.environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=True,
    )
    return done.stdout.strip()
