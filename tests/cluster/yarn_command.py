"""`yarn application`, as a user runs it."""

from __future__ import annotations

from pathlib import Path

from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, run_java
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager

HEAP_MB = 128
MAIN_CLASS = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"


def application_status(
    manager: ResourceManager, application: str, work: Path, checkout: Checkout
) -> str:
    """What `yarn application -status` prints."""
    configuration = work / "yarn-command" / "conf"
    write_configuration(configuration, manager.client_properties(), work)
    command = java_command(
        MAIN_CLASS,
        [configuration, f"{checkout.hadoop_jars}/*"],
        HEAP_MB,
        [f"-Dwork={work}"],
        ("application", "-status", application),
    )
    return run_java(command, configuration)
