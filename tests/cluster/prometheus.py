"""Prometheus, and the JMX exporter that a ResourceManager runs as a Java agent."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.paths import Checkout, MissingArtifact
from cluster.ports import LOOPBACK, free_ports
from cluster.prerequisites import APT_GET
from cluster.processes import Daemon
from cluster.rest import get_json, get_json_or_none
from cluster.running import Running
from cluster.waiting import wait_until

JMX_EXPORTER = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
START_SECONDS = 60.0
SCRAPE_SECONDS = 1


def prometheus_program(name: str, checkout: Checkout) -> Path:
    """`prometheus` or `promtool`: the machine's own, or unpacked from Debian's package.

    The package is not installed, since an installed one would start a server."""
    found = shutil.which(name)
    if found:
        return Path(found)
    folder = checkout.target / "prometheus"
    program = folder / "usr" / "bin" / name
    if not program.is_file():
        if shutil.which("apt-get") is None:
            raise MissingArtifact(f"{name} is missing: install Prometheus, or use Debian")
        folder.mkdir(parents=True, exist_ok=True)
        quiet = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([*APT_GET, "update"], **quiet)
        subprocess.run([*APT_GET, "download", "prometheus"], **quiet)
        package = next(iter(folder.glob("prometheus_*.deb")))
        subprocess.run(["dpkg", "--extract", str(package), str(folder)], **quiet)
        package.unlink()
    return program


def jmx_exporter(checkout: Checkout) -> Path:
    """The exporter's jar."""
    _, name, version = JMX_EXPORTER.split(":")
    folder = checkout.target / "jmx-exporter"
    jar = folder / f"{name}-{version}.jar"
    if not jar.is_file():
        command = ["mvn", "--batch-mode", "-Dstyle.color=never", "--quiet"]
        pom = checkout.tests / "hadoop" / "pom.xml"
        copy = ["dependency:copy", f"-Dartifact={JMX_EXPORTER}", f"-DoutputDirectory={folder}"]
        subprocess.run([*command, "--file", str(pom), *copy], check=True)
    return jar


class Prometheus(Running):
    """A context manager: a server that scrapes one target every second."""

    def __init__(
        self,
        work: Path,
        target: str,
        labels: Mapping[str, str],
        rules: Sequence[Path],
        checkout: Checkout,
    ) -> None:
        """`target` is a host and a port; `labels` are put to every series of it; `rules` are files
        of alerts."""
        (port,) = free_ports(1)
        self._url = f"http://{LOOPBACK}:{port}"
        work.mkdir(parents=True, exist_ok=True)
        configuration = work / "prometheus.json"
        # YAML's syntax includes that of JSON.
        configuration.write_text(
            json.dumps(
                {
                    "global": {
                        "scrape_interval": f"{SCRAPE_SECONDS}s",
                        "evaluation_interval": f"{SCRAPE_SECONDS}s",
                    },
                    "rule_files": [str(file) for file in rules],
                    "scrape_configs": [
                        {
                            "job_name": "hadoop",
                            "static_configs": [{"targets": [target], "labels": dict(labels)}],
                        }
                    ],
                }
            )
        )
        self._daemon = Daemon(
            "Prometheus",
            [
                prometheus_program("prometheus", checkout),
                f"--config.file={configuration}",
                f"--storage.tsdb.path={work / 'data'}",
                f"--web.listen-address={LOOPBACK}:{port}",
            ],
            {},
            work / "prometheus.log",
        )

    def start(self) -> None:
        self._daemon.start()
        wait_until(self._is_up, "Prometheus and its target", START_SECONDS)

    def stop(self) -> None:
        self._daemon.stop()

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an expression now; raises OSError for one that Prometheus refuses."""
        query = urllib.parse.urlencode({"query": expression})
        return get_json(f"{self._url}/api/v1/query?{query}")["data"]["result"]

    def alerts(self) -> list[str]:
        """The names of the alerts that are pending or firing, once each has been evaluated."""
        wait_until(self._are_rules_evaluated, "all rules to be evaluated", START_SECONDS)
        return sorted(alert["labels"]["alertname"] for alert in self._alerts())

    def firing(self) -> dict[str, str]:
        """The summary of each alert that is firing, by the alert's name."""
        return {
            alert["labels"]["alertname"]: alert["annotations"]["summary"]
            for alert in self._alerts()
            if alert["state"] == "firing"
        }

    def _alerts(self) -> list[dict[str, Any]]:
        return get_json(f"{self._url}/api/v1/alerts")["data"]["alerts"]

    def _are_rules_evaluated(self) -> bool:
        groups = get_json(f"{self._url}/api/v1/rules")["data"]["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return bool(rules) and all(rule["health"] == "ok" for rule in rules)

    def _is_up(self) -> bool:
        self._daemon.check()
        ready = get_json_or_none(f"{self._url}/api/v1/status/runtimeinfo") is not None
        return ready and [one["value"][1] for one in self.query("up")] == ["1"]
