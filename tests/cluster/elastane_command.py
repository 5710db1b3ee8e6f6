"""The built `elastane` and `elastane-lab` commands."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from cluster.hosts import LOCAL, Host
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.waiting import wait_until

INTERRUPT_SECONDS = 10.0
PRINT_SECONDS = 30.0


def run_elastane(
    checkout: Checkout,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    host: Host = LOCAL,
) -> str:
    """Returns the output. Raises ProcessEnded with the output if the command fails."""
    return _run(*host.enter, checkout.elastane, *arguments, environment=environment)


def run_elastane_lab(checkout: Checkout, *arguments: object) -> str:
    """The same with the laboratory's command."""
    return _run(checkout.elastane_lab, *arguments)


class Watching:
    """An `elastane … --watch` whose output is a file."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self._process = process
        self._output = output

    @property
    def printed(self) -> str:
        return self._output.read_text()

    def wait_printed(self, text: str, since: int = 0) -> int:
        """Waits until `text` is in the output, behind so many characters. Returns the length of the
        output then."""

        def printed() -> int:
            if self._process.poll() is not None:
                raise ProcessEnded(f"it ended with {self._process.returncode}: {self.printed}")
            output = self.printed
            return len(output) if text in output[since:] else 0

        return wait_until(printed, f"{text!r} in {self._output}", PRINT_SECONDS)

    def interrupt(self) -> int:
        """Ctrl-C, which a terminal sends to the command and its children. Returns the exit code;
        that of a process which a signal ended is negative."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self._process.wait(INTERRUPT_SECONDS)


@contextlib.contextmanager
def watching(checkout: Checkout, output: Path, *arguments: object) -> Iterator[Watching]:
    """A command that prints again each second while the block runs."""
    command = [str(checkout.elastane), *map(str, arguments), "--watch=1"]
    with output.open("wb") as file:
        process = subprocess.Popen(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_heed_interrupt,
        )
    try:
        yield Watching(process, output)
    finally:
        # The session, since a killed command leaves its children. It may have ended already.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _heed_interrupt() -> None:
    """Shells ignore SIGINT for background jobs, which their children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    """All servers are on loopback."""
    return {**os.environ, "no_proxy": "*"}


def _run(*words: object, environment: Mapping[str, str] | None = None) -> str:
    command = list(map(str, words))
    full = {**_environment(), **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=full)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout
