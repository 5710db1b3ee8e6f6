"""A JVM that runs one of Hadoop's daemons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cluster.hosts import LOCAL, Host
from cluster.java import java_command, java_environment
from cluster.paths import Checkout
from cluster.processes import Daemon
from cluster.settings import ClusterSettings

# Guice 4.2 makes classes at run time. Hadoop's start scripts open the package too.
DAEMON_OPTIONS = ("--add-opens=java.base/java.lang=ALL-UNNAMED",)


def hadoop_daemon(
    name: str,
    main_class: str,
    heap_mb: int,
    configuration: Path,
    log: Path,
    settings: ClusterSettings,
    checkout: Checkout,
    more_options: Sequence[str] = (),
    host: Host = LOCAL,
) -> Daemon:
    """Elastane's jar and library are included only if the settings use Elastane."""
    options = [*DAEMON_OPTIONS, f"-Dwork={settings.work}", *more_options]
    if settings.security is not None:
        options += settings.security.java_options
    class_path: list[object] = [configuration]
    if settings.elastane is not None:
        options.append(f"-Delastane.library.path={settings.library or checkout.library}")
        class_path.append(checkout.scheduler_jar)
    class_path.append(f"{checkout.hadoop_jars}/*")
    return Daemon(
        name,
        [*host.enter, *java_command(main_class, map(str, class_path), heap_mb, options)],
        java_environment(configuration),
        log,
    )
