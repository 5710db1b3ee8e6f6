"""HDFS with one NameNode and one DataNode."""

from __future__ import annotations

import getpass
import shutil
from http.client import HTTPException
from pathlib import Path
from typing import Any

from cluster.hadoop_conf import LOG4J, write_site
from cluster.hadoop_daemon import DAEMON_OPTIONS
from cluster.java import java_command, java_environment, run_java
from cluster.paths import Checkout
from cluster.ports import LOOPBACK, free_ports
from cluster.processes import Daemon, kill_strays
from cluster.rest import get_bytes, get_json_or_none
from cluster.running import Running
from cluster.waiting import wait_until

HEAP_MB = 128
START_SECONDS = 90.0
SERVER = "org.apache.hadoop.hdfs.server"


class Hdfs(Running):
    """A context manager. A restart of the NameNode keeps ports and data."""

    def __init__(self, work: Path, checkout: Checkout) -> None:
        """`work` must not be below a cluster's folder, whose leftover processes are killed."""
        self._work = work
        self._checkout = checkout
        self._configuration = work / "conf"
        self._port, self._web_port = free_ports(2)
        self._data_ports = free_ports(3)
        self.name_node = self._daemon("NameNode", f"{SERVER}.namenode.NameNode")
        self.data_node = self._daemon("DataNode", f"{SERVER}.datanode.DataNode")

    @property
    def url(self) -> str:
        return f"hdfs://{LOOPBACK}:{self._port}"

    def start(self) -> None:
        self._prepare()
        self._run(f"{SERVER}.namenode.NameNode", "-format", "-nonInteractive")
        self.name_node.start()
        self.data_node.start()
        self.wait_writable()

    def stop(self) -> None:
        for daemon in (self.data_node, self.name_node):
            daemon.kill()
        for name in ("name", "data", "tmp"):
            shutil.rmtree(self._work / name, ignore_errors=True)

    def wait_writable(self) -> None:
        """Waits until the DataNode is registered and safe mode is over."""

        def writable() -> bool:
            self.name_node.check()
            self.data_node.check()
            state = self._state()
            return state.get("NumLiveDataNodes") == 1 and state.get("FSState") == "Operational"

        wait_until(writable, f"{self.url} to be writable", START_SECONDS)

    def enter_safe_mode(self) -> None:
        """Read-only until the NameNode restarts."""
        self._run("org.apache.hadoop.hdfs.tools.DFSAdmin", "-safemode", "enter")

    def list(self, directory: str) -> dict[str, dict[str, Any]]:
        """WebHDFS's record of each file of a directory; none if the directory is missing."""
        answer = get_json_or_none(self._web(directory, "LISTSTATUS"))
        listed = answer["FileStatuses"]["FileStatus"] if answer else []
        return {status["pathSuffix"]: status for status in listed}

    def read(self, file: str) -> bytes | None:
        """None if the file is missing or is being replaced."""
        try:
            return get_bytes(self._web(file, "OPEN"))
        except (OSError, HTTPException):
            return None

    def _web(self, path: str, operation: str) -> str:
        user = getpass.getuser()
        place = f"http://{LOOPBACK}:{self._web_port}/webhdfs/v1{path}"
        return f"{place}?op={operation}&user.name={user}"

    def _state(self) -> dict[str, Any]:
        query = "qry=Hadoop:service=NameNode,name=FSNamesystemState"
        answer = get_json_or_none(f"http://{LOOPBACK}:{self._web_port}/jmx?{query}")
        beans = (answer or {}).get("beans")
        return beans[0] if beans else {}

    def _prepare(self) -> None:
        # Left behind by a run that was ended with SIGKILL.
        kill_strays(str(self._work))
        shutil.rmtree(self._work, ignore_errors=True)
        self._configuration.mkdir(parents=True)
        # The jars lack the daemons' web pages, and no daemon starts without a folder for them.
        for pages in ("hdfs", "datanode", "static"):
            (self._configuration / "webapps" / pages).mkdir(parents=True)
        write_site(
            self._configuration / "core-site.xml",
            {"fs.defaultFS": self.url, "hadoop.tmp.dir": self._work / "tmp"},
        )
        transfer, web, ipc = self._data_ports
        write_site(
            self._configuration / "hdfs-site.xml",
            {
                "dfs.replication": 1,
                "dfs.namenode.name.dir": f"file://{self._work}/name",
                "dfs.namenode.http-address": f"{LOOPBACK}:{self._web_port}",
                # Otherwise a restarted NameNode stays read-only for 30 s longer.
                "dfs.namenode.safemode.extension": 0,
                # WebHDFS redirects readers there.
                "dfs.datanode.hostname": LOOPBACK,
                "dfs.datanode.data.dir": f"file://{self._work}/data",
                "dfs.datanode.address": f"{LOOPBACK}:{transfer}",
                "dfs.datanode.http.address": f"{LOOPBACK}:{web}",
                "dfs.datanode.ipc.address": f"{LOOPBACK}:{ipc}",
            },
        )
        (self._configuration / "log4j.properties").write_text(LOG4J)

    def _daemon(self, name: str, main_class: str) -> Daemon:
        log = self._work / "logs" / f"{name.lower()}.log"
        return Daemon(name, self._command(main_class), java_environment(self._configuration), log)

    def _command(self, main_class: str, *arguments: str) -> list[str]:
        return java_command(
            main_class,
            [self._configuration, f"{self._checkout.hadoop_jars}/*"],
            HEAP_MB,
            [*DAEMON_OPTIONS, f"-Dwork={self._work}"],
            arguments,
        )

    def _run(self, main_class: str, *arguments: str) -> None:
        run_java(self._command(main_class, *arguments), self._configuration)
