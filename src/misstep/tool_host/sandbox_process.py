"""The client of a process in the sandbox: starts it, loads and calls tools in it, ends it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress

from misstep.adapters.processes import kill_process_tree
from misstep.adapters.subprocess.agent import ENTRY
from misstep.errors import UsageError
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.load_waiter import LoadWaiter
from misstep.tool_host.protocol import (
    CallConditions,
    CallerStopped,
    GuardOrder,
    LoadTools,
    Measure,
    Overrun,
    Start,
    Stop,
    ToolsLoaded,
    WatchCalls,
    from_supervisor,
    from_zygote,
)
from misstep.tool_host.sandbox.bubblewrap import opened
from misstep.tool_host.sandbox.places import is_server
from misstep.tool_host.sandbox.sandbox import Sandbox
from misstep.tool_host.serving.process_tree import namespace

SERVING = "misstep.tool_host.serving.supervisor"
GRACE = 3.0  # seconds for what should take milliseconds
SOON = 1.0  # seconds for what has already happened
LOAD_LIMIT = {"code": 30.0, "server": 120.0}  # seconds; a server may have to be downloaded first


def never() -> bool:
    return False


class SandboxProcess:
    """A sandbox in which `spec` is loaded. One copy of the tools at a time accepts calls.

    With `read`, there are no copies. Loading is abandoned once `is_over`.
    """

    def __init__(
        self,
        spec: str,
        conditions: CallConditions,
        sandbox: Sandbox,
        apart: bool = False,
        read: bool = False,
        is_over: Callable[[], bool] = never,
    ) -> None:
        limit = conditions.load_limit or LOAD_LIMIT["server" if is_server(spec) else "code"]
        ours, theirs = socket.socketpair()
        self._line = Channel(ours)
        with theirs:
            self._process = self._launch(conditions.python, sandbox, theirs)
        guards = 2 if sandbox.command else 1
        self._load_waiter = LoadWaiter(spec, conditions.python, limit, is_over, self._line, guards)
        ours, self._zygotes = socket.socketpair()
        self.control = Channel(ours)
        litter = (sandbox.scratch_dir.path,) if sandbox.scratch_dir else ()
        self._guard = GuardOrder(conditions.limits, namespace(), litter)
        self._load = LoadTools(
            spec,
            conditions.limits,
            sandbox.folder,
            sandbox.roots,
            os.path.abspath(conditions.workspace) if conditions.workspace else "",
            os.getcwd(),
            apart,
            read,
        )

    def _launch(self, python: str, sandbox: Sandbox, theirs: socket.socket) -> subprocess.Popen[bytes]:
        number = theirs.fileno()
        try:
            with opened(sandbox.command) as (command, files):
                return subprocess.Popen(
                    [*command, _program(python), str(ENTRY), SERVING, str(number)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=[number, *files],
                    env=sandbox.environment,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._line.close()
            hint = "give the path of the python in the environment that the tools are installed in"
            raise UsageError(f"'{python}' can't be run: {error.strerror or error}", hint) from error

    def load(self) -> ToolsLoaded:
        """Load the tools. Raises `UsageError` with the reason if that fails, `GivenUp` if it is over."""
        with suppress(ChannelLost), self._zygotes:  # errors show up when reading
            self._line.send(self._guard, self._zygotes.fileno())
        with suppress(ChannelLost):
            self.control.send(self._load)
        return self.introduced(self.control)

    def start(self) -> Channel:
        """Start a copy of the tools and return the channel to it. Raises `Lost`."""
        ours, theirs = socket.socketpair()
        with theirs:
            self.control.send(Start(), theirs.fileno())
        return Channel(ours)

    def introduced(self, line: Channel) -> ToolsLoaded:
        """The tools as reported over a channel; the sandbox is ended if there are none."""
        try:
            return self._load_waiter.await_tools(line, self._process)
        except BaseException:
            self.kill()
            raise

    def watch(self, busy: bool) -> None:
        """Have the supervisor check the processes while calls are in flight."""
        with suppress(ChannelLost):
            self._line.send(WatchCalls(busy))

    def measure(self) -> None:
        """Measure from now on whether the copy computes or waits."""
        with suppress(ChannelLost):
            self.control.send(Measure())

    def stop(self) -> CallerStopped | None:
        """End the copy and all its children; None if the whole sandbox ended."""
        with suppress(ChannelLost):
            self.control.send(Stop())
        return self.stopped(GRACE)

    def stopped(self, patience: float) -> CallerStopped | None:
        """How the copy ended, if that is reported within `patience` seconds."""
        try:
            message = self.control.receive(from_zygote, patience)
        except (ChannelLost, TimeoutError, ValueError):
            return None
        return message if isinstance(message, CallerStopped) else None

    @property
    def has_news(self) -> bool:
        """Whether the copy, or the whole sandbox, has ended."""
        return self.control.wait(0)

    def overrun(self) -> Overrun | None:
        """Which limit made the supervisor end everything, if that happened."""
        try:
            message = self._line.receive(from_supervisor, SOON)
        except (ChannelLost, TimeoutError, ValueError):
            return None
        return message if isinstance(message, Overrun) else None

    def kill(self) -> None:
        """End the sandbox and all processes in it."""
        if self._process.returncode is not None:
            return  # the process id may have been reused
        kill_process_tree(self._process.pid)
        self._line.close()
        self.control.close()
        self._zygotes.close()
        if self._process.stderr:
            self._process.stderr.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)


def _program(python: str) -> str:
    """The absolute path of the interpreter, because the process starts in another folder."""
    found = shutil.which(os.path.expanduser(python))
    if found is None:
        raise FileNotFoundError("there is no such program")
    return os.path.abspath(found)
