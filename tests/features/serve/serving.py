"""`misstep serve` as people start it."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.processes import drain

STOPS = 10  # seconds that a server may take to end, on a busy machine


class Served:
    """A server, where it is, and the process that it is in."""

    def __init__(
        self, process: "subprocess.Popen[str]", lines: list[str], said_since: Callable[[], str]
    ) -> None:
        self.process, self.url, self.said, self._said_since = process, lines[0], lines[1:], said_since

    def stop(self) -> str:
        """Ctrl-C; what it has said since on standard error."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=STOPS)
        return self._said_since()


@contextmanager
def served(store: str, *flags: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "misstep", "serve", "--port", "0", "--store", store, *flags]
    command += [] if "--host" in flags or "--token" in flags else ["--no-token"]
    command = [word for word in command if word != "--token"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = list[str]()
        while (line := process.stderr.readline()) not in ("", "Ctrl-C ends it\n"):
            lines.append(line.strip())
        assert line, lines
        running = Served(process, lines, drain(process.stderr))
        try:
            yield running
        finally:
            if process.poll() is None:
                running.stop()
    assert process.returncode == 0
