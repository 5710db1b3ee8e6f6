"""ZooKeeper with one server."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from cluster.hadoop_conf import LOG4J
from cluster.java import java_command, java_environment
from cluster.paths import Checkout
from cluster.ports import LOOPBACK, free_ports
from cluster.processes import Daemon, kill_strays
from cluster.running import Running
from cluster.waiting import wait_until

HEAP_MB = 96
START_SECONDS = 60.0
ANSWER_SECONDS = 2.0
# Sessions may be 2 to 20 ticks long.
TICK_MS = 500
MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


class ZooKeeper(Running):
    """A context manager."""

    def __init__(self, work: Path, checkout: Checkout) -> None:
        """`work` must not be below a cluster's folder, whose leftover processes are killed."""
        self._work = work
        (self.port,) = free_ports(1)
        self._configuration = work / "conf"
        self.daemon = Daemon(
            "ZooKeeper",
            java_command(
                MAIN_CLASS,
                [self._configuration, f"{checkout.hadoop_jars}/*"],
                HEAP_MB,
                [f"-Dwork={work}"],
                [str(self._file)],
            ),
            java_environment(self._configuration),
            work / "logs" / "zookeeper.log",
        )

    @property
    def _file(self) -> Path:
        return self._configuration / "zoo.cfg"

    def start(self) -> None:
        self._prepare()
        self.daemon.start()
        wait_until(self._serves, "ZooKeeper to serve", START_SECONDS)

    def stop(self) -> None:
        self.daemon.kill()
        shutil.rmtree(self._work / "data", ignore_errors=True)

    def _serves(self) -> bool:
        self.daemon.check()
        try:
            with socket.create_connection((LOOPBACK, self.port), ANSWER_SECONDS) as connection:
                connection.sendall(b"srvr")
                return connection.recv(64).startswith(b"Zookeeper version")
        except OSError:
            return False

    def _prepare(self) -> None:
        # Left behind by a run that was ended with SIGKILL.
        kill_strays(str(self._work))
        shutil.rmtree(self._work, ignore_errors=True)
        self._configuration.mkdir(parents=True)
        (self._configuration / "log4j.properties").write_text(LOG4J)
        self._file.write_text(
            f"tickTime={TICK_MS}\n"
            f"dataDir={self._work / 'data'}\n"
            f"clientPortAddress={LOOPBACK}\n"
            f"clientPort={self.port}\n"
            # Its web server takes a fixed port.
            "admin.enableServer=false\n"
            "4lw.commands.whitelist=srvr\n"
        )
