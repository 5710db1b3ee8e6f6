"""Elastane on a cluster with Kerberos and TLS whose daemons have hosts of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.elastane_command import run_elastane
from cluster.hosts import Hosts, why_no_hosts
from cluster.kerberos import Kdc, Ticket
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.resource_manager import ResourceManager
from cluster.security import Security, by_the_example
from cluster.tls import make_certificate
from cluster.usage_report import report_once
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import wait_all_reporting

NO_HOSTS = why_no_hosts()
pytestmark = pytest.mark.skipif(NO_HOSTS is not None, reason=f"no namespaces: {NO_HOSTS}")

MANAGERS = ("rm1", "rm2")
NODES = ("node-0", "node-1")
WAIT_SECONDS = 60.0
NEGOTIATE = ("--negotiate", "-u", ":")
FOLLOW = (*NEGOTIATE, "--location-trusted")
# What each path shows to those who are let in.
PATHS = {"/elastane/": "<script", "/elastane/v1/status": "in_service"}


@pytest.fixture(scope="module")
def places(checkout: Checkout) -> Path:
    """Not below the cluster's folder, nor with the beginning of its name."""
    folder = checkout.target / "tests" / "kerberos-hosts"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lib", "log"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def hosts(places: Path) -> Iterator[Hosts]:
    with Hosts(places, ("kdc", "client", *MANAGERS, *NODES)) as made:
        yield made


@pytest.fixture(scope="module")
def kdc(places: Path, hosts: Hosts) -> Iterator[Kdc]:
    with Kdc(places / "kdc", hosts["kdc"], hosts["client"]) as one:
        yield one


@pytest.fixture(scope="module")
def security(places: Path, hosts: Hosts, kdc: Kdc, checkout: Checkout) -> Security:
    servers = [hosts[name] for name in (*MANAGERS, *NODES)]
    certificate = make_certificate(places, *(host.name for host in servers))
    client = hosts["client"]
    made = by_the_example(checkout, kdc, certificate, "admin", places, servers, client)
    return replace(made, core_site={**made.core_site, "hadoop.rpc.protection": "integrity"})


@pytest.fixture(scope="module")
def alice(kdc: Kdc) -> Ticket:
    return kdc.ticket("alice")


@pytest.fixture(scope="module")
def nobody(kdc: Kdc) -> Ticket:
    return kdc.no_ticket("nobody")


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, hosts: Hosts, security: Security) -> Cluster:
    executor = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
    cluster = start_cluster(
        nodes=len(NODES),
        resource_managers=MANAGERS,
        recovery=True,
        hosts={name: hosts[name] for name in (*MANAGERS, *NODES)},
        security=security,
        # The example's needs a program with setuid and users of this machine.
        node_manager={"yarn.nodemanager.container-executor.class": executor},
    )
    wait_all_reporting(cluster)
    return cluster


@dataclass(frozen=True)
class Reporter:
    """Reports once, as a NodeManager of any host and from any host."""

    cluster: Cluster
    security: Security
    kdc: Kdc
    hosts: Hosts
    work: Path
    checkout: Checkout

    def says(self, of: str, host: str, node: str, **core_site: str) -> str:
        """What comes of a report for `node` from `host`, with the principal of the NodeManager
        `of`."""
        keytab = Path(self.security.node_manager["yarn.nodemanager.keytab"])
        return report_once(
            self.cluster.resource_manager,
            self.cluster.node_managers[NODES.index(node)].node_id,
            self.security,
            self.kdc.ticket(f"nm/{self.hosts[of].name}", keytab),
            self.work,
            self.checkout,
            self.hosts[host],
            **core_site,
        )


@pytest.fixture
def reporter(
    cluster: Cluster, security: Security, kdc: Kdc, hosts: Hosts, work: Path, checkout: Checkout
) -> Reporter:
    return Reporter(cluster, security, kdc, hosts, work, checkout)


def counted(cluster: Cluster, counter: str) -> int:
    return cluster.resource_manager.beans("ElastaneUsage")[0][counter]


def refused_by_hadoop(cluster: Cluster) -> int:
    source = f"RpcActivityForPort{cluster.resource_manager.usage_port}"
    return cluster.resource_manager.beans(source)[0]["RpcAuthorizationFailures"]


def wait_refused(cluster: Cluster, count: int) -> None:
    """Hadoop shows a metric a period later."""
    wait_until(
        lambda: counted(cluster, "Refused") == count, f"{count} refusals counted", WAIT_SECONDS
    )


def active_and_standby(cluster: Cluster) -> tuple[ResourceManager, ResourceManager]:
    active = cluster.resource_manager
    (standby,) = (one for one in cluster.resource_managers if one is not active)
    return active, standby


def test_each_node_manager_reports_from_its_own_host(cluster: Cluster, hosts: Hosts) -> None:
    nodes = [one["node"].partition(":")[0] for one in cluster.resource_manager.status()["nodes"]]
    assert sorted(nodes) == [hosts[name].name for name in NODES]
    before, refused = counted(cluster, "Reports"), counted(cluster, "Refused")
    wait_until(
        lambda: counted(cluster, "Reports") >= before + 2 * len(NODES),
        "two more reports of each node",
        WAIT_SECONDS,
    )
    wait_all_reporting(cluster)
    assert counted(cluster, "Refused") == refused


def test_a_node_managers_own_report_reaches_the_core(reporter: Reporter) -> None:
    """What is refused below differs from this in one thing."""
    said = reporter.says(of="node-0", host="node-0", node="node-0")
    assert "REFUSED_BODY: protocol version 1, this side speaks " in said


@pytest.mark.parametrize("protection", ["authentication", "privacy"])
def test_reports_are_signed(reporter: Reporter, protection: str) -> None:
    """With `integrity`, the ResourceManager agrees to nothing else."""
    said = reporter.says("node-0", "node-0", "node-0", hadoop_rpc_protection=protection)
    assert "No common protection layer" in said


def test_another_nodes_address_is_refused(reporter: Reporter) -> None:
    before = counted(reporter.cluster, "Refused")
    said = reporter.says(of="node-1", host="node-1", node="node-0")
    assert "FOREIGN_ADDRESS" in said
    wait_refused(reporter.cluster, before + 1)


@pytest.mark.parametrize(("of", "host"), [NODES, NODES[::-1]])
def test_hadoop_refuses_a_principal_of_another_host(
    reporter: Reporter, hosts: Hosts, of: str, host: str
) -> None:
    """With `hadoop.security.authorization`. The standby, which is not reached, does not hide it."""
    before = refused_by_hadoop(reporter.cluster)
    said = reporter.says(of, host, "node-0")
    assert f"nm/{hosts[of].name}@EXAMPLE.ORG" in said
    assert "is not authorized for protocol" in said
    assert f"nm/{hosts[host].name}@EXAMPLE.ORG" in said
    wait_until(
        lambda: refused_by_hadoop(reporter.cluster) > before,
        "a refusal counted by Hadoop",
        WAIT_SECONDS,
    )


@pytest.mark.parametrize("path", PATHS)
def test_a_standby_shows_nothing_without_a_ticket(
    cluster: Cluster, security: Security, nobody: Ticket, path: str
) -> None:
    _, standby = active_and_standby(cluster)
    said = security.curl(f"{standby.url}{path}", nobody, *FOLLOW)
    assert (said.status, said.url) == (401, f"{standby.url}{path}")
    assert PATHS[path] not in said.body


@pytest.mark.parametrize(("path", "shows"), PATHS.items())
def test_a_standby_redirects_page_and_rest(
    cluster: Cluster, security: Security, alice: Ticket, path: str, shows: str
) -> None:
    active, standby = active_and_standby(cluster)
    led = security.curl(f"{standby.url}{path}", alice, *NEGOTIATE)
    assert led.status == 307
    assert shows not in led.body
    said = security.curl(f"{standby.url}{path}", alice, *FOLLOW)
    assert (said.status, said.url) == (200, f"{active.url}{path}")
    assert shows in said.body


def test_the_active_one_asks_for_a_ticket_of_its_own(
    cluster: Cluster, security: Security, alice: Ticket
) -> None:
    """Without --location-trusted, curl gives a ticket to the standby alone."""
    active, standby = active_and_standby(cluster)
    said = security.curl(f"{standby.url}/elastane/v1/status", alice, *NEGOTIATE, "--location")
    assert (said.status, said.url) == (401, f"{active.url}/elastane/v1/status")


def test_the_command_follows_a_standby_with_its_ticket(
    cluster: Cluster, security: Security, alice: Ticket, nobody: Ticket, checkout: Checkout
) -> None:
    _, standby = active_and_standby(cluster)

    def ask(*arguments: str, ticket: Ticket = alice) -> str:
        return run_elastane(
            checkout,
            *arguments,
            *("--resource-manager", standby.url),
            environment=security.environment(ticket),
            host=security.client_host,
        )

    assert ask("status").startswith("Mode enforce, and the core is in service\n2 nodes: ")
    node = cluster.node_managers[1].node_id
    assert ask("explain", node).startswith(f"{node}: mode enforce, its agent reported ")
    with pytest.raises(ProcessEnded, match="get a Kerberos ticket with kinit"):
        ask("status", ticket=nobody)


def test_a_delegation_token_is_for_the_active_one(
    cluster: Cluster,
    security: Security,
    alice: Ticket,
    nobody: Ticket,
    work: Path,
    checkout: Checkout,
) -> None:
    """A standby neither gives nor takes one, so the command asks the next ResourceManager."""
    active, standby = active_and_standby(cluster)
    given = f"{active.url}/elastane/v1/status?op=GETDELEGATIONTOKEN"
    said = security.curl(given, alice, "-f", *NEGOTIATE)
    file = work / "token"
    file.write_text(json.loads(said.body)["Token"]["urlString"])

    def ask(managers: str) -> str:
        return run_elastane(
            checkout,
            *("status", "--resource-manager", managers, "--delegation-token", file),
            environment=security.environment(nobody),
            host=security.client_host,
        )

    of_standby = given.replace(active.url, standby.url)
    assert security.curl(of_standby, alice, *FOLLOW).status == 500
    with pytest.raises(ProcessEnded, match=r"refuses the delegation token: .* is a standby"):
        ask(standby.url)
    assert ask(f"{standby.url},{active.url}").startswith("Mode enforce, ")


def test_reports_and_callers_follow_a_failover(
    cluster: Cluster, security: Security, alice: Ticket
) -> None:
    """Each side checks a principal of another host than before."""
    former, successor = active_and_standby(cluster)
    hand_over(cluster, former, successor)
    said = security.curl(f"{former.url}/elastane/v1/status", alice, *FOLLOW)
    assert (said.status, said.url) == (200, f"{successor.url}/elastane/v1/status")


def test_elastane_refuses_a_principal_of_another_host(
    cluster: Cluster, reporter: Reporter, hosts: Hosts
) -> None:
    """Without `hadoop.security.authorization`, Hadoop lets it pass."""
    active, standby = active_and_standby(cluster)
    standby.daemon.stop()
    standby.own_properties = {"hadoop.security.authorization": False}
    standby.start()
    hand_over(cluster, active, standby)
    before = counted(cluster, "Refused")
    said = reporter.says(of="node-1", host="node-0", node="node-0")
    caller, expected = (f"nm/{hosts[name].name}@EXAMPLE.ORG" for name in ("node-1", "node-0"))
    node = cluster.node_managers[0].node_id
    assert f"FOREIGN_PRINCIPAL: the caller is {caller}" in said
    assert f"the NodeManager of {node} is {expected}" in said
    wait_refused(cluster, before + 1)
    own = reporter.says(of="node-0", host="node-0", node="node-0")
    assert "REFUSED_BODY" in own


def hand_over(cluster: Cluster, former: ResourceManager, successor: ResourceManager) -> None:
    cluster.administration.stand_by(former)
    cluster.fail_over(successor)
    cluster.wait_registered()
    wait_all_reporting(cluster)
