"""Hadoop's configuration files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from cluster.security import Security

LOG4J = """\
log4j.rootLogger=INFO,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""

# How MapReduce's keys begin.
MAP_REDUCE = ("mapreduce.", "yarn.app.mapreduce.")

# The maximum age of figures at /jmx, in seconds.
METRICS = {"*.period": 1}


def write_site(file: Path, properties: Mapping[str, object]) -> None:
    """One *-site.xml; booleans are written as Hadoop reads them."""
    lines = ['<?xml version="1.0"?>', "<configuration>"]
    for key, value in properties.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        lines.append(
            f"  <property><name>{escape(key)}</name><value>{escape(text)}</value></property>"
        )
    lines.append("</configuration>")
    file.write_text("\n".join(lines) + "\n")


def write_configuration(
    folder: Path,
    yarn: Mapping[str, object],
    work: Path,
    capacity_scheduler: Mapping[str, object] | None = None,
    metrics: Mapping[str, object] | None = None,
    security: Security | None = None,
) -> None:
    """A configuration directory for one process."""
    folder.mkdir(parents=True, exist_ok=True)
    write_site(
        folder / "core-site.xml",
        {
            "fs.defaultFS": "file:///",
            "hadoop.tmp.dir": work / "tmp",
            **(security.core_site if security else {}),
        },
    )
    if security is not None:
        write_site(folder / "hadoop-policy.xml", security.hadoop_policy)
        write_site(folder / "ssl-server.xml", security.ssl_server)
    # MapReduce's defaults would override what yarn-site.xml says.
    map_reduce = {key: value for key, value in yarn.items() if key.startswith(MAP_REDUCE)}
    write_site(folder / "mapred-site.xml", map_reduce)
    write_site(folder / "yarn-site.xml", yarn)
    if capacity_scheduler is not None:
        write_site(folder / "capacity-scheduler.xml", capacity_scheduler)
    (folder / "log4j.properties").write_text(LOG4J)
    lines = [f"{key}={value}\n" for key, value in {**METRICS, **(metrics or {})}.items()]
    (folder / "hadoop-metrics2.properties").write_text("".join(lines))
