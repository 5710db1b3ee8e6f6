"""Elastane's metrics in a real Prometheus, by the names of dashboard and alerts, and on /prom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.ports import LOOPBACK, free_ports
from cluster.processes import ProcessEnded
from cluster.prometheus import Prometheus, jmx_exporter
from cluster.rest import get_bytes
from cluster.waiting import wait_until

from .alarm import alarm
from .conftest import SHAPE, ClusterMaker, elastane
from .expectations import wait_all_reporting, wait_containers

LABELS = {"hadoop_cluster": "test"}
CONTAINER_MB = 512
CONTAINERS = 3
WAIT_SECONDS = 60.0
SINK = "metrics.txt"
ALERTS = "elastane-alerts.yaml"
OBSERVE_FILE = "observe"
VARIABLES = {"$__rate_interval": "1m", "$job": ".*", "$hadoop_cluster": "test", "$instance": ".*"}
# The durations of the alerts, and what a test can wait for.
SHORTENED = {r"for: \d+[mh]\b": "for: 1s", r"\[\d+[mh]\]": "[10s]"}
# Both files are loaded.
SHORT_PREFIX = "Short"
SELECTOR = re.compile(r"hadoop_resourcemanager_[a-z0-9_]+(?:\{[^}]*\})?")


@pytest.fixture(scope="module")
def cluster_and_prometheus(
    start_cluster: ClusterMaker, work: Path, checkout: Checkout
) -> Iterator[tuple[Cluster, Prometheus]]:
    (port,) = free_ports(1)
    target = f"{LOOPBACK}:{port}"
    exporter = f"{jmx_exporter(checkout)}={target}:{checkout.grafana / 'jmx-exporter.yaml'}"
    cluster = start_cluster(
        elastane=elastane(work, **{"observe.file": work / OBSERVE_FILE}),
        resource_manager={"hadoop.prometheus.endpoint.enabled": True},
        resource_manager_options=(f"-javaagent:{exporter}",),
        metrics={
            "resourcemanager.sink.file.class": "org.apache.hadoop.metrics2.sink.FileSink",
            "resourcemanager.sink.file.filename": work / SINK,
        },
    )
    wait_all_reporting(cluster)
    rules = [checkout.grafana / ALERTS, shortened_alerts(checkout, work)]
    with Prometheus(work / "prometheus", target, LABELS, rules, checkout) as prometheus:
        yield cluster, prometheus


@pytest.fixture(scope="module", autouse=True)
def _application(
    cluster_and_prometheus: tuple[Cluster, Prometheus], work: Path, checkout: Checkout
) -> Iterator[None]:
    cluster, _ = cluster_and_prometheus
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    with alarm() as end:
        application = shell.submit(Sleepers("asleep", CONTAINERS, CONTAINER_MB, end.pid))
        wait_containers(cluster, application, CONTAINERS + 1, WAIT_SECONDS)
        yield


def test_every_name_of_dashboard_and_alerts_exists(
    cluster_and_prometheus: tuple[Cluster, Prometheus], checkout: Checkout
) -> None:
    _, prometheus = cluster_and_prometheus
    expressions = dashboard_expressions(checkout) + alert_expressions(checkout)
    assert len(expressions) > 60
    selectors = {one for expression in expressions for one in SELECTOR.findall(expression)}
    wait_until(
        lambda: not [one for one in selectors if not prometheus.query(one)],
        "all selectors to have series",
        WAIT_SECONDS,
    )
    for expression in expressions:
        prometheus.query(expression)


def test_the_figures_are_those_of_the_cluster(
    cluster_and_prometheus: tuple[Cluster, Prometheus],
) -> None:
    cluster, prometheus = cluster_and_prometheus
    name = 'hadoop_resourcemanager_{}{{name="{}", hadoop_cluster="test"{}}}'
    queue = ', q0="root", q1="default"'
    booked = cluster.resource_manager.sizes()["cluster"]["booked_memory_mb"]
    assert booked > CONTAINERS * CONTAINER_MB
    for expression, value in {
        name.format("inservice", "ElastaneScheduler", ""): 1,
        name.format("agentsfresh", "ElastaneScheduler", ""): 2,
        name.format("physicalmb", "ElastaneScheduler", ""): 2 * SHAPE.memory_mb,
        name.format("bookedmb", "ElastanePartitionMetrics", ""): booked,
        name.format("bookedmb", "ElastanePartitionQueueMetrics", queue): booked,
        name.format("allocatedmb", "QueueMetrics", queue): booked,
    }.items():
        wait_until(
            lambda: [float(one["value"][1]) for one in prometheus.query(expression)] == [value],  # noqa: B023
            f"{expression} to be {value}",
            WAIT_SECONDS,
        )


def test_the_sizes_of_a_queue_are_on_prom_too(
    cluster_and_prometheus: tuple[Cluster, Prometheus],
) -> None:
    cluster, _ = cluster_and_prometheus
    text = get_bytes(f"{cluster.resource_manager.url}/prom").decode()
    for start in (
        "elastane_scheduler_in_service{",
        "elastane_scheduler_cpu_covered_seconds{",
        "elastane_scheduler_round99th_percentile_micros{",
        "elastane_usage_reports{",
        "elastane_partition_metrics_used_mb{",
    ):
        assert f"\n{start}" in text, start

    def booked_mb() -> int:
        text = get_bytes(f"{cluster.resource_manager.url}/prom").decode()
        (of_queue,) = re.findall(
            r"^elastane_partition_queue_metrics_booked_mb\{.*queue=\"root.default\".*\} (\d+)$",
            text,
            re.MULTILINE,
        )
        return int(of_queue)

    # Hadoop's sink shows what it was given last, some seconds behind /jmx.
    wait_until(
        lambda: booked_mb() > CONTAINERS * CONTAINER_MB, "the booked memory in /prom", WAIT_SECONDS
    )


def test_a_sink_of_hadoop_gets_every_source(
    cluster_and_prometheus: tuple[Cluster, Prometheus], work: Path
) -> None:
    """The agents' reports, the cluster, a label, and a queue; a line for each, every second."""
    lines = (
        r"yarn\.ElastaneScheduler: .*InService=1, .*AgentsFresh=2,",
        r"yarn\.ElastaneUsage: .*Reports=[1-9]",
        rf"yarn\.ElastanePartitionMetrics: .*PhysicalMB={2 * SHAPE.memory_mb},",
        r"yarn\.ElastanePartitionQueueMetrics: .*Queue=root\.default, .*BookedMB=[1-9]",
    )
    for line in lines:
        wait_until(
            lambda: re.search(line, (work / SINK).read_text()),  # noqa: B023
            f"a line like {line} in {SINK}",
            WAIT_SECONDS,
        )


def test_a_well_cluster_has_no_alert(
    cluster_and_prometheus: tuple[Cluster, Prometheus],
) -> None:
    _, prometheus = cluster_and_prometheus
    wait_until(lambda: not prometheus.alerts(), "no alert to be pending", WAIT_SECONDS)


def test_alerts_fire_while_their_causes_last_and_are_resolved_after(
    cluster_and_prometheus: tuple[Cluster, Prometheus], work: Path
) -> None:
    cluster, prometheus = cluster_and_prometheus
    manager, agent, file = cluster.resource_manager, cluster.agents[0], work / OBSERVE_FILE
    file.touch()
    agent.daemon.kill()
    manager.rewrite_settings({"overcommit.max-ratio": 11})
    with pytest.raises(ProcessEnded, match="max-ratio is '11'"):
        cluster.administration.refresh_queues()
    expected = {
        "ElastaneObserveFile": "The observe file exists on ",
        "ElastaneAgentsSilent": "The agents of 50% of the nodes of ",
        "ElastaneSettingsRefused": "Settings of Elastane were refused on ",
    }
    seen: dict[str, str] = {}

    def all_fired() -> bool:
        # A refresh is a moment: its alert may be over before another one begins.
        seen.update(short_ones(prometheus.firing()))
        return expected.keys() <= seen.keys()

    wait_until(all_fired, f"{sorted(expected)} to fire", WAIT_SECONDS)
    for name, start in expected.items():
        assert seen[name].startswith(start), seen

    file.unlink()
    agent.start()
    wait_until(
        lambda: not expected.keys() & short_ones(dict.fromkeys(prometheus.alerts(), "")).keys(),
        f"{sorted(expected)} to be resolved",
        WAIT_SECONDS,
    )


def short_ones(alerts: dict[str, str]) -> dict[str, str]:
    """Of the file with short times, by the alerts' own names."""
    return {
        name.removeprefix(SHORT_PREFIX): summary
        for name, summary in alerts.items()
        if name.startswith(SHORT_PREFIX)
    }


def shortened_alerts(checkout: Checkout, work: Path) -> Path:
    """A file with the alerts by other names and with a short time in place of each duration, so
    that a test can wait for them. The expressions are the same otherwise."""
    text = (checkout.grafana / ALERTS).read_text()
    for alert in text.split("- alert: ")[1:]:
        has_duration = any(re.search(duration, alert) for duration in SHORTENED)
        assert has_duration, f"neither `for:` nor a range: {alert}"
    for duration, short in SHORTENED.items():
        text = re.sub(duration, short, text)
    file = work / "short-alerts.yaml"
    file.write_text(text.replace("- alert: ", f"- alert: {SHORT_PREFIX}"))
    return file


def dashboard_expressions(checkout: Checkout) -> list[str]:
    dashboard = json.loads((checkout.grafana / "elastane-dashboard.json").read_text())
    found = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            found.append(expression)
    return found


def alert_expressions(checkout: Checkout) -> list[str]:
    """Each `expr:` of the rules, on one line or on several that are indented below it."""
    text = (checkout.grafana / ALERTS).read_text()
    return re.findall(r"^ +expr: (?:\|\n)?((?:(?!^ +(?:for|labels):).*\n)+)", text, re.MULTILINE)
