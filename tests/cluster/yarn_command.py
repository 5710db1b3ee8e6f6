"""`yarn application` and `yarn schedconf`, as people run them."""

from __future__ import annotations

from pathlib import Path

from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, run_java
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager

HEAP_MB = 128
CLASSES = "org.apache.hadoop.yarn.client.cli"


def application_status(
    manager: ResourceManager, application: str, work: Path, checkout: Checkout
) -> str:
    """What `yarn application -status` prints."""
    arguments = ("application", "-status", application)
    return _run("ApplicationCLI", manager, work, checkout, *arguments)


def update_queue(manager: ResourceManager, change: str, work: Path, checkout: Checkout) -> str:
    """`yarn schedconf -update QUEUE:KEY=VALUE`; raises ProcessEnded with what is printed if the
    change is refused."""
    return _run("SchedConfCLI", manager, work, checkout, "-update", change)


def _run(
    main_class: str, manager: ResourceManager, work: Path, checkout: Checkout, *arguments: str
) -> str:
    configuration = work / "yarn-command" / "conf"
    write_configuration(configuration, manager.client_properties(), work)
    command = java_command(
        f"{CLASSES}.{main_class}",
        [configuration, f"{checkout.hadoop_jars}/*"],
        HEAP_MB,
        [f"-Dwork={work}"],
        arguments,
    )
    return run_java(command, configuration)
