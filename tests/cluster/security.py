"""What makes a cluster secure: Kerberos, TLS, and the files of the example configuration."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.hosts import LOCAL, Host
from cluster.kerberos import Kdc, Ticket
from cluster.paths import Checkout
from cluster.tls import Certificate

ANSWER_SECONDS = "20"


@dataclass(frozen=True)
class Answer:
    """What a web server said."""

    status: int
    body: str
    url: str
    """Of the web server that said it, behind all redirects."""


@dataclass(frozen=True)
class Security:
    """The keys of each file, and how the administrator asks the web servers."""

    core_site: Mapping[str, str]
    hadoop_policy: Mapping[str, str]
    ssl_server: Mapping[str, object]
    resource_manager: Mapping[str, str]
    """Of yarn-site.xml, below what a cluster sets itself."""

    node_manager: Mapping[str, str]
    java_options: tuple[str, ...]
    certificate: Certificate
    administrator: Ticket
    client: Mapping[str, str] = field(default_factory=dict)
    """Of yarn-site.xml of a client, below what the cluster sets itself."""

    client_host: Host = LOCAL
    """Where users and administrators ask."""

    def environment(self, ticket: Ticket) -> dict[str, str]:
        """For a command that asks by curl, with the CA as docs/command.md says."""
        return {**ticket.environment, "CURL_CA_BUNDLE": str(self.certificate.pem)}

    def curl(self, url: str, ticket: Ticket, *arguments: str) -> Answer:
        """Asks as docs/rest.md says; raises CalledProcessError if no web server answers."""
        command = [
            *self.client_host.enter,
            "curl",
            "-sS",
            "--max-time",
            ANSWER_SECONDS,
            "--noproxy",
            "*",
        ]
        done = subprocess.run(
            [*command, "-w", "\n%{http_code} %{url_effective}", *arguments, url],
            env={**os.environ, **self.environment(ticket)},
            capture_output=True,
            text=True,
            check=True,
        )
        body, _, told = done.stdout.rpartition("\n")
        status, url = told.split(" ")
        return Answer(int(status), body, url)

    def get_json(self, url: str) -> Any:
        """What the administrator is answered; raises OSError if nobody answers, or with a status
        other than 200."""
        try:
            said = self.curl(url, self.administrator, "--negotiate", "-u", ":")
        except subprocess.CalledProcessError as failure:
            raise OSError(failure.stderr) from failure
        if said.status != 200:
            raise OSError(f"{url} answers with {said.status}: {said.body}")
        return json.loads(said.body)


def by_the_example(
    checkout: Checkout,
    kdc: Kdc,
    certificate: Certificate,
    administrator: str,
    work: Path,
    hosts: Sequence[Host] = (LOCAL,),
    client_host: Host = LOCAL,
) -> Security:
    """The files of yarn-site-examples/secure; only what names hosts, places and keytabs differs."""
    keytabs = kdc.keytab("rm.service.keytab", *(f"rm/{host.name}" for host in hosts)).parent
    kdc.keytab("nm.service.keytab", *(f"nm/{host.name}" for host in hosts))
    kdc.keytab("spnego.service.keytab", *(f"HTTP/{host.name}" for host in hosts))
    (keytabs / "http-auth-signature-secret").write_text("of tests")
    places = {
        "/etc/security/keytabs": str(keytabs),
        "/var/lib/hadoop-yarn": str(work / "lib"),
        "/var/log/hadoop-yarn": str(work / "log"),
    }
    if LOCAL in hosts:
        # Loopback has many names, of which the daemons would choose different ones.
        places |= {"rm.example.org": LOCAL.configured, "_HOST": LOCAL.name}

    def example(name: str) -> dict[str, str]:
        return _properties(checkout.root / "yarn-site-examples" / "secure" / name, places)

    resource_manager = example("yarn-site-resourcemanager.xml")
    resource_manager["yarn.admin.acl"] += f",{administrator}"
    return Security(
        core_site=example("core-site.xml"),
        hadoop_policy=example("hadoop-policy.xml"),
        ssl_server=certificate.ssl_server,
        resource_manager=resource_manager,
        node_manager=example("yarn-site-nodemanager.xml"),
        java_options=kdc.java_options,
        certificate=certificate,
        administrator=kdc.ticket(administrator),
        client_host=client_host,
        client={
            key: value for key, value in resource_manager.items() if key.endswith(".principal")
        },
    )


def _properties(file: Path, places: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for one in ElementTree.parse(file).iter("property"):
        value = one.findtext("value", "").strip()
        for ours, here in places.items():
            value = value.replace(ours, here)
        found[one.findtext("name", "").strip()] = value
    return found
