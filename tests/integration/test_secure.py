"""Elastane on a cluster with Kerberos and TLS, by the example configuration."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.elastane_command import run_elastane
from cluster.kerberos import Kdc, Ticket
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.security import Security, by_the_example
from cluster.tls import HOST, make_certificate
from cluster.usage_report import report_once
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import ClusterMaker
from .expectations import wait_all_measured, wait_all_reporting, wait_containers

CONTAINER_MB = 512
WAIT_SECONDS = 60.0
NEGOTIATE = ("--negotiate", "-u", ":")
# What each path shows to those who are let in.
PATHS = {
    "/elastane/": "<script",
    "/elastane/v1/status": "in_service",
    "/elastane/v1/openapi.json": "components",
    "/jmx": "beans",
}


@pytest.fixture(scope="module")
def places(checkout: Checkout) -> Path:
    """Files of the daemons that are there before the cluster. The name must not begin as that of
    the cluster's folder, whose processes are found by it."""
    folder = checkout.target / "tests" / "kerberos"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lib", "log"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def kdc(places: Path) -> Iterator[Kdc]:
    with Kdc(places / "kdc") as one:
        yield one


@pytest.fixture(scope="module")
def security(places: Path, kdc: Kdc, checkout: Checkout) -> Security:
    return by_the_example(checkout, kdc, make_certificate(places), "admin", places)


@pytest.fixture(scope="module")
def alice(kdc: Kdc) -> Ticket:
    return kdc.ticket("alice")


@pytest.fixture(scope="module")
def bob(kdc: Kdc) -> Ticket:
    return kdc.ticket("bob")


@pytest.fixture(scope="module")
def nobody(kdc: Kdc) -> Ticket:
    return kdc.no_ticket("nobody")


@pytest.fixture(scope="module")
def node_manager(kdc: Kdc, security: Security) -> Ticket:
    """The NodeManager's own principal, from its keytab."""
    return kdc.ticket(f"nm/{HOST}", Path(security.node_manager["yarn.nodemanager.keytab"]))


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, security: Security) -> Cluster:
    executor = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
    options = " ".join(security.java_options)
    cluster = start_cluster(
        nodes=1,
        security=security,
        node_manager={
            # The example's needs a program with setuid and users of this machine.
            "yarn.nodemanager.container-executor.class": executor,
            "yarn.nodemanager.admin-env": f"JAVA_TOOL_OPTIONS={options}",
        },
        # As the example says: nobody administers all queues.
        capacity_scheduler={"yarn.scheduler.capacity.root.acl_administer_queue": " "},
    )
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture(scope="module")
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def of_alice(
    cluster: Cluster,
    security: Security,
    alice: Ticket,
    until: Alarm,
    work: Path,
    checkout: Checkout,
) -> str:
    """An application that alice has submitted with her ticket, and whose containers run."""
    shell = DistributedShell(cluster.resource_manager, work, checkout, security, alice)
    application = shell.submit(Sleepers("asleep", 1, CONTAINER_MB, until.pid))
    wait_containers(cluster, application, 2, WAIT_SECONDS)
    return application


@pytest.mark.parametrize(("path", "shows"), PATHS.items())
def test_nothing_is_shown_without_a_ticket(
    cluster: Cluster, security: Security, nobody: Ticket, alice: Ticket, path: str, shows: str
) -> None:
    url = f"{cluster.resource_manager.url}{path}"
    for arguments in ((), NEGOTIATE):
        said = security.curl(url, nobody, *arguments)
        assert said.status == 401
        assert shows not in said.body
    for claimed in ("user.name=alice", "user.name=yarn"):
        assert security.curl(f"{url}?{claimed}", nobody).status == 401
    let_in = security.curl(url, alice, *NEGOTIATE)
    assert let_in.status == 200
    assert shows in let_in.body


def test_there_is_no_way_without_tls(cluster: Cluster, security: Security, alice: Ticket) -> None:
    plain = cluster.resource_manager.url.replace("https:", "http:")
    with pytest.raises(subprocess.CalledProcessError):
        security.curl(f"{plain}/elastane/v1/status", alice, *NEGOTIATE)


def test_the_command_asks_with_a_ticket_over_tls(
    cluster: Cluster, security: Security, alice: Ticket, nobody: Ticket, checkout: Checkout
) -> None:
    manager = ("--resource-manager", cluster.resource_manager.url)
    node = cluster.node_managers[0].node_id

    def ask(*arguments: str, ticket: Ticket = alice) -> str:
        environment = security.environment(ticket)
        return run_elastane(checkout, *arguments, *manager, environment=environment)

    assert ask("status").startswith("Mode enforce, and the core is in service\n1 node: ")
    assert json.loads(ask("status", "--json"))["status"]["in_service"] is True
    assert ask("explain", node).startswith(f"{node}: mode enforce, its agent reported ")
    assert json.loads(ask("explain", "root.default", "--json"))["queue"]["queue"] == "root.default"
    with pytest.raises(ProcessEnded, match="get a Kerberos ticket with kinit"):
        ask("status", ticket=nobody)
    with pytest.raises(ProcessEnded, match="certificate"):
        environment = alice.environment
        run_elastane(checkout, "status", *manager, environment=environment)


def test_a_delegation_token_stands_for_its_owners_ticket(
    cluster: Cluster,
    security: Security,
    of_alice: str,
    alice: Ticket,
    bob: Ticket,
    nobody: Ticket,
    work: Path,
    checkout: Checkout,
) -> None:
    url = cluster.resource_manager.url
    given = f"{url}/elastane/v1/status?op=GETDELEGATIONTOKEN"
    assert security.curl(given, nobody, *NEGOTIATE).status == 401

    def token_of(ticket: Ticket) -> str:
        said = security.curl(given, ticket, "-fL", *NEGOTIATE)
        return json.loads(said.body)["Token"]["urlString"]

    def ask(token: str, *arguments: str) -> str:
        file = work / "token"
        file.write_text(f"{token}\n")
        options = ("--resource-manager", url, "--delegation-token", file)
        environment = security.environment(nobody)
        return run_elastane(checkout, *arguments, *options, environment=environment)

    token = token_of(alice)
    assert json.loads(ask(token, "status", "--json"))["status"]["in_service"] is True
    assert f"{of_alice} (asleep) of alice" in ask(token, "explain", of_alice)
    with pytest.raises(ProcessEnded, match="ended with 2"):
        ask(token_of(bob), "explain", of_alice)
    with pytest.raises(ProcessEnded, match="refuses the delegation token"):
        ask(token[:-8] + "AAAAAAAA", "status")


def test_an_application_is_shown_to_its_owner_alone(
    cluster: Cluster,
    security: Security,
    of_alice: str,
    alice: Ticket,
    bob: Ticket,
    checkout: Checkout,
) -> None:
    url = cluster.resource_manager.url

    def listed(ticket: Ticket) -> list[str]:
        said = security.curl(f"{url}/elastane/v1/applications", ticket, *NEGOTIATE)
        return [one["application"] for one in json.loads(said.body)["applications"]]

    def explain(ticket: Ticket, *more: str) -> str:
        arguments = ("explain", of_alice, "--resource-manager", url, *more)
        return run_elastane(checkout, *arguments, environment=security.environment(ticket))

    assert listed(alice) == [of_alice]
    assert listed(bob) == []
    assert f"{of_alice} (asleep) of alice" in explain(alice)
    for claimed in ((), ("--user", "alice")):
        with pytest.raises(ProcessEnded, match="ended with 2"):
            explain(bob, *claimed)
    impersonating = f"{url}/elastane/v1/applications?doAs=alice"
    assert security.curl(impersonating, bob, *NEGOTIATE).status == 403


def test_profiles_are_shown_to_administrators_alone(
    cluster: Cluster, security: Security, alice: Ticket
) -> None:
    url = f"{cluster.resource_manager.url}/elastane/v1/profiles"
    assert security.curl(url, security.administrator, *NEGOTIATE).status == 200
    assert security.curl(url, alice, *NEGOTIATE).status == 403


def test_the_node_managers_reports_arrive(cluster: Cluster) -> None:
    manager = cluster.resource_manager

    def accepted() -> int:
        return manager.beans("ElastaneUsage")[0]["Reports"]

    before = accepted()
    wait_until(lambda: accepted() > before + 1, "two more reports", WAIT_SECONDS)
    wait_all_reporting(cluster)
    assert manager.beans(_rpc(cluster))[0]["RpcAuthenticationSuccesses"] > 0


def test_the_containers_of_a_users_application_are_measured(
    cluster: Cluster, of_alice: str
) -> None:
    wait_all_measured(cluster, of_alice, WAIT_SECONDS)
    application = cluster.resource_manager.elastane_rest(f"applications/{of_alice}")
    assert application["user"] == "alice"
    used = [one["measured"]["used"]["memory_bytes"] for one in application["containers"]]
    assert len(used) == 2
    assert min(used) > 0


def test_a_user_with_a_ticket_cannot_report(
    cluster: Cluster, security: Security, bob: Ticket, work: Path, checkout: Checkout
) -> None:
    """Hadoop refuses a user before Elastane sees the report, and counts it."""
    manager = cluster.resource_manager

    def refused_by_hadoop() -> int:
        return manager.beans(_rpc(cluster))[0]["RpcAuthorizationFailures"]

    before = refused_by_hadoop()
    node = cluster.node_managers[0].node_id
    said = report_once(manager, node, security, bob, work, checkout)
    assert "bob@EXAMPLE.ORG" in said
    assert "is not authorized for protocol" in said
    wait_until(lambda: refused_by_hadoop() > before, "the refused report", WAIT_SECONDS)


def test_a_node_manager_cannot_report_for_another_node(
    cluster: Cluster, security: Security, node_manager: Ticket, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager

    def refused() -> int:
        return manager.beans("ElastaneUsage")[0]["Refused"]

    before = refused()
    said = report_once(manager, "elsewhere:45454", security, node_manager, work, checkout)
    assert "UNKNOWN_NODE" in said
    wait_until(lambda: refused() == before + 1, "the refused report", WAIT_SECONDS)


def test_the_service_acl_follows_a_refresh(
    cluster: Cluster, security: Security, node_manager: Ticket, work: Path, checkout: Checkout
) -> None:
    """As in Hadoop, of connections that are opened after it."""
    manager = cluster.resource_manager

    def said() -> str:
        return report_once(manager, "elsewhere:45454", security, node_manager, work, checkout)

    assert "UNKNOWN_NODE" in said()
    manager.rewrite_service_acls({"security.elastane.usage.protocol.acl": "nobody"})
    try:
        cluster.administration.refresh_service_acls()
        wait_until(
            lambda: "is not authorized for protocol" in said(), "the narrower ACL", WAIT_SECONDS
        )
    finally:
        manager.rewrite_service_acls({})
        cluster.administration.refresh_service_acls()
    wait_until(lambda: "UNKNOWN_NODE" in said(), "the former ACL", WAIT_SECONDS)


def test_reports_are_encrypted(
    cluster: Cluster, security: Security, node_manager: Ticket, work: Path, checkout: Checkout
) -> None:
    """A sender that would not encrypt is refused, although it is the NodeManager."""
    said = report_once(
        cluster.resource_manager,
        cluster.node_managers[0].node_id,
        security,
        node_manager,
        work,
        checkout,
        hadoop_rpc_protection="authentication",
    )
    assert "No common protection layer" in said


def _rpc(cluster: Cluster) -> str:
    """Hadoop's metrics of the port at which NodeManagers report."""
    return f"RpcActivityForPort{cluster.resource_manager.usage_port}"
