"""A certificate for a daemon's web server on loopback."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.hosts import LOCAL
from cluster.java import java_program
from cluster.ports import LOOPBACK

PASSWORD = "for-tests"
HOST = LOCAL.name


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate, which is its own CA."""

    keystore: Path
    pem: Path
    """The certificate alone, for clients."""

    @property
    def ssl_server(self) -> dict[str, object]:
        """The keys of Hadoop's ssl-server.xml."""
        prefix = "ssl.server.keystore"
        return {
            f"{prefix}.location": self.keystore,
            f"{prefix}.password": PASSWORD,
            f"{prefix}.keypassword": PASSWORD,
            f"{prefix}.type": "pkcs12",
        }


def make_certificate(folder: Path, *hosts: str) -> Certificate:
    """For these hosts as well as for loopback."""
    made = Certificate(folder / "keystore.p12", folder / "ca.pem")
    names = ",".join(f"dns:{host}" for host in (HOST, *hosts))
    _keytool(
        made,
        *("-genkeypair", "-alias", HOST, "-keyalg", "EC", "-groupname", "secp256r1"),
        *("-dname", f"CN={HOST}", "-ext", f"san={names},ip:{LOOPBACK}", "-ext", "bc:c=ca:true"),
        *("-validity", "2", "-keypass", PASSWORD, "-storetype", "PKCS12"),
    )
    _keytool(made, "-exportcert", "-rfc", "-alias", HOST, "-file", str(made.pem))
    return made


def _keytool(made: Certificate, *arguments: str) -> None:
    store = ("-keystore", str(made.keystore), "-storepass", PASSWORD)
    command = [str(java_program("keytool")), *arguments, *store]
    subprocess.run(command, check=True, capture_output=True)
