"""The client of a process in the sandbox: starts it, loads and calls tools in it, ends it.

If tools can't be loaded, it says why.
"""

import os
import select
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

import msgspec

from misstep.adapters.processes import LOOK, Patience, family_seconds, kill_process_tree
from misstep.adapters.subprocess.agent import ENTRY, unfit
from misstep.adapters.subprocess.protocol import Unfit, Unloadable
from misstep.adapters.toolset.spec import file_of
from misstep.core.text import readable
from misstep.errors import UsageError
from misstep.tool_host import protocol as say
from misstep.tool_host.channel import Channel, ChannelLost
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
        conditions: say.CallConditions,
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
        self._guard = say.GuardOrder(conditions.limits, namespace(), litter)
        self._load = say.LoadTools(
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
            hint = "give the path of the Python interpreter that has the tools installed"
            raise UsageError(f"'{python}' can't be run: {error.strerror or error}", hint) from error

    def load(self) -> say.ToolsLoaded:
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
            self.control.send(say.Start(), theirs.fileno())
        return Channel(ours)

    def introduced(self, line: Channel) -> say.ToolsLoaded:
        """The tools as reported over a channel; the sandbox is ended if there are none."""
        try:
            return self._load_waiter.await_tools(line, self._process)
        except BaseException:
            self.kill()
            raise

    def watch(self, busy: bool) -> None:
        """Have the supervisor check the processes while calls are in flight."""
        with suppress(ChannelLost):
            self._line.send(say.WatchCalls(busy))

    def measure(self) -> None:
        """Measure from now on whether the copy computes or waits."""
        with suppress(ChannelLost):
            self.control.send(say.Measure())

    def stop(self) -> say.CallerStopped | None:
        """End the copy and all its children; None if the whole sandbox ended."""
        with suppress(ChannelLost):
            self.control.send(say.Stop())
        return self.stopped(GRACE)

    def stopped(self, patience: float) -> say.CallerStopped | None:
        """How the copy ended, if that is reported within `patience` seconds."""
        with suppress(ChannelLost, TimeoutError, ValueError):
            message = self.control.receive(say.from_zygote, patience)
            return message if isinstance(message, say.CallerStopped) else None
        return None

    @property
    def has_news(self) -> bool:
        """Whether the copy, or the whole sandbox, has ended."""
        return self.control.wait(0)

    def overrun(self) -> say.Overrun | None:
        """Which limit made the supervisor end everything, if that happened."""
        with suppress(ChannelLost, TimeoutError, ValueError):
            message = self._line.receive(say.from_supervisor, SOON)
            return message if isinstance(message, say.Overrun) else None
        return None

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
        raise FileNotFoundError("no such program")
    return os.path.abspath(found)


RELATIVE = "attempted relative import"
READ_ONLY = "Read-only file system"
WRITES = (
    "the sandbox forbids writing here: pass --workspace DIR to let it write to a copy of a folder,",
    "or run without the sandbox with --sandbox none",
)


def advise(message: str, spec: str) -> list[str]:
    """Hints for an error in the user's code; usually none."""
    if READ_ONLY in message:
        return [*WRITES]
    file = file_of(spec)
    return [_as_module(file, spec)] if RELATIVE in message and file.endswith(".py") else []


def _as_module(file: str, spec: str) -> str:
    """How to specify the file as a module of its package."""
    here, folder = os.getcwd(), os.path.dirname(file)
    top = folder
    while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    if top == folder:  # a package without __init__.py
        top = here if file.startswith(here + os.sep) and folder != here else os.path.dirname(folder)
    dotted = os.path.relpath(file, top).removesuffix(".py").replace(os.sep, ".")
    where = "" if top == here else f", in the folder {top}"
    return f"it is part of a package: give {dotted}{spec.removeprefix(file)}{where}"


HINTS = {
    "code": "check what its import waits for",
    "server": "does the command start an MCP server? run it by hand to see",
}
KEPT = 4096  # bytes of the process's output; only the end matters
SHOWN = 12  # lines of it

_loading: msgspec.json.Decoder[say.ToolsLoaded | Unloadable] = msgspec.json.Decoder(
    say.ToolsLoaded | Unloadable
)


class GivenUp(Exception):
    """The caller no longer waits for a result."""


class LoadWaiter:
    """Waits for the tools of `spec`; the channel to the supervisor (`supervisor`) reports failures.

    The first `guards` generations of processes load nothing: bubblewrap, if used, and the supervisor.

    It gives up when the process has neither used the CPU nor printed anything for `limit` seconds, and after
    a maximum time in any case. Raises `GivenUp` as soon as `is_over`.
    """

    def __init__(
        self,
        spec: str,
        python: str,
        limit: float,
        is_over: Callable[[], bool],
        supervisor: Channel,
        guards: int,
    ) -> None:
        self._spec = spec
        self._named = _from_here(spec)
        self._python = python
        self._limit = limit
        self._is_over = is_over
        self._supervisor = supervisor
        self._printed = bytearray()
        self._bytes = 0
        self._guards = guards

    def await_tools(self, line: Channel, process: subprocess.Popen[bytes]) -> say.ToolsLoaded:
        """The tools as reported over the channel. Raises `UsageError` with the reason if there are none."""
        assert process.stderr is not None
        patience = Patience(self._limit, lambda: family_seconds(process.pid, self._guards) + self._bytes)
        try:
            news = _loading.decode(self._next_row(line, process.stderr, patience))
        except TimeoutError:
            message = f"'{self._named}' {patience.outcome}"
            hint = HINTS["server" if is_server(self._spec) else "code"]
            raise UsageError(message, *self._printed_lines(process.stderr), hint) from None
        except (ChannelLost, msgspec.MsgspecError, RecursionError):
            raise self._why_not_loaded(process.stderr) from None
        if isinstance(news, say.ToolsLoaded):
            return news
        message = readable(news.message)
        hints = [*map(readable, news.hints), *advise(message, self._spec)]
        raise UsageError(message, *hints, where=_from_here(readable(news.where)))

    def _next_row(self, line: Channel, printed: IO[bytes], patience: Patience) -> bytes:
        """The next message; output is read meanwhile, so that the process does not block on it."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        poll.register(printed, select.POLLIN)
        while (row := line.take()) is None:
            if (left := patience.left()) <= 0:
                raise TimeoutError
            if self._is_over():
                raise GivenUp
            for file, _ in poll.poll(min(left, LOOK) * 1000):
                if file == line.fileno():
                    line.read()
                elif not self._read(printed):
                    poll.unregister(printed)
        return row

    def _read(self, printed: IO[bytes]) -> bool:
        data = os.read(printed.fileno(), 1 << 16)
        self._printed += data
        self._bytes += len(data)
        del self._printed[:-KEPT]
        return bool(data)

    def _why_not_loaded(self, printed: IO[bytes]) -> UsageError:
        """Why there are no tools, as far as known."""
        with suppress(ChannelLost, TimeoutError, ValueError):
            message = self._supervisor.receive(say.from_supervisor, GRACE)
            if isinstance(message, Unfit):
                return unfit(self._python, readable(message.problem), readable(message.detail), "tools")
            return UsageError(f"'{self._named}' needs too many {message.what} to load")
        words = self._printed_lines(printed)
        hint = f"is '{self._python}' a Python interpreter, or does the code end its own process?"
        problem = f"the process ended while loading '{self._named}'"
        return UsageError(problem, *(words or [f"no output: {hint}"]))

    def _printed_lines(self, printed: IO[bytes]) -> Sequence[str]:
        os.set_blocking(printed.fileno(), False)
        with suppress(BlockingIOError):
            while self._read(printed):
                pass
        text = readable(bytes(self._printed).decode("utf-8", "replace"))
        return [line for line in text.splitlines() if line.strip()][-SHOWN:]


def _from_here(place: str) -> str:
    """The path relative to the working directory."""
    return place.removeprefix(os.getcwd() + os.sep)
