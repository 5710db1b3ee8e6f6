"""A KDC of its own, with keytabs and tickets."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.hosts import LOCAL, Host
from cluster.ports import free_ports
from cluster.prerequisites import required_program
from cluster.processes import Daemon, ProcessEnded, kill_strays
from cluster.running import Running
from cluster.waiting import wait_until

REALM = "EXAMPLE.ORG"
START_SECONDS = 30.0
COMMAND_SECONDS = 30.0


@dataclass(frozen=True)
class Ticket:
    """A principal's ticket in a cache of its own."""

    environment: dict[str, str]
    """What a process needs besides to use the ticket."""


class Kdc(Running):
    """A context manager. Host names are not resolved, since loopback has many."""

    def __init__(self, work: Path, host: Host = LOCAL, client: Host = LOCAL) -> None:
        """`client` is the host whose users get tickets. The path of `work` must not begin as that
        of a cluster's folder, whose leftover processes are killed."""
        self._work = work
        self._host = host
        self._client = client
        (self._port,) = free_ports(1)
        self._daemon = Daemon(
            "KDC",
            [*host.enter, required_program("krb5kdc"), "-n"],
            self._environment,
            work / "kdc.log",
        )

    def start(self) -> None:
        # Left behind by a run that was ended with SIGKILL.
        kill_strays(str(self._work))
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(parents=True)
        self.configuration.write_text(self._krb5_conf())
        (self._work / "kdc.conf").write_text(self._kdc_conf())
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self._daemon.start()

    def stop(self) -> None:
        self._daemon.stop()

    @property
    def configuration(self) -> Path:
        return self._work / "krb5.conf"

    @property
    def java_options(self) -> tuple[str, ...]:
        """A JVM does not read KRB5_CONFIG."""
        return (f"-Djava.security.krb5.conf={self.configuration}",)

    def keytab(self, name: str, *principals: str) -> Path:
        """Makes principals, without their realm, and one keytab with their keys."""
        file = self._work / name
        for principal in principals:
            self._run("kadmin.local", "addprinc", "-randkey", principal)
            self._run("kadmin.local", "ktadd", "-k", str(file), principal)
        return file

    def ticket(self, principal: str, keytab: Path | None = None) -> Ticket:
        """A principal's ticket; without a keytab, the principal is made."""
        if keytab is None:
            keytab = self.keytab(f"{principal}.keytab", principal)
        ticket = self.no_ticket(principal.replace("/", "-"))
        command = [str(required_program("kinit")), "-k", "-t", str(keytab), principal]
        command = [*self._client.enter, *command]
        environment = {**os.environ, **ticket.environment}

        def got() -> bool:
            self._daemon.check()
            return not subprocess.run(command, env=environment, capture_output=True).returncode

        wait_until(got, f"a ticket of {principal}", START_SECONDS)
        return ticket

    def no_ticket(self, name: str) -> Ticket:
        """An empty cache."""
        cache = self._work / f"{name}.cache"
        return Ticket({"KRB5_CONFIG": str(self.configuration), "KRB5CCNAME": f"FILE:{cache}"})

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self._work / "kdc.conf"),
        }

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(required_program(program)), *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        # kadmin.local may end with 0 although it failed: then no ticket or login succeeds.
        if done.returncode != 0:
            raise ProcessEnded(f"{program} {' '.join(arguments)}: {done.stdout}{done.stderr}")

    def _krb5_conf(self) -> str:
        # UDP may lose a request, after which a JVM waits for 30 s.
        return f"""\
[libdefaults]
  default_realm = {REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1

[realms]
  {REALM} = {{
    kdc = {self._host.configured}:{self._port}
  }}

[domain_realm]
  localhost = {REALM}
"""

    def _kdc_conf(self) -> str:
        return f"""\
[kdcdefaults]
  kdc_listen = {self._host.configured}:{self._port}
  kdc_tcp_listen = {self._host.configured}:{self._port}

[realms]
  {REALM} = {{
    database_name = {self._work}/principal
    key_stash_file = {self._work}/stash
    acl_file = {self._work}/kadm5.acl
  }}
"""
