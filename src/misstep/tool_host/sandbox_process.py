"""The client of a process in the sandbox: starts it, loads and calls tools in it, ends it."""

import os
import select
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress

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


class SandboxProcess:
    """A sandbox in which `spec` is loaded. One copy of the tools at a time accepts calls.

    With `read`, there are no copies. With `apart`, every copy loads the tools itself. Loading is given up
    when the process has neither used the CPU nor printed anything for some time, after a maximum time in any
    case, and as soon as `is_over`.
    """

    def __init__(
        self,
        spec: str,
        conditions: say.CallConditions,
        sandbox: Sandbox,
        apart: bool = False,
        read: bool = False,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spec, self._named, self._python = spec, _from_here(spec), conditions.python
        self._sort = "server" if is_server(spec) else "code"
        self._load_limit = conditions.load_limit or LOAD_LIMIT[self._sort]
        self._is_over = is_over
        self._printed = bytearray()
        self._bytes = 0  # printed so far
        ours, theirs = socket.socketpair()
        self._line = Channel(ours)
        with theirs:
            self._process = self._launch(sandbox, theirs)
        assert self._process.stderr is not None
        self._output = self._process.stderr.fileno()
        # The first generations of processes load nothing: bubblewrap, if used, and the supervisor.
        self._guards = 2 if sandbox.command else 1
        ours, self._zygotes = socket.socketpair()
        self.control = Channel(ours)
        litter = (sandbox.scratch_dir.path,) if sandbox.scratch_dir else ()
        self._guard = say.GuardOrder(conditions.limits, namespace(), litter)
        workspace = os.path.abspath(conditions.workspace) if conditions.workspace else ""
        places = sandbox.folder, sandbox.roots, workspace, os.getcwd()
        self._load = say.LoadTools(spec, conditions.limits, *places, apart, read, conditions.beside)

    def _launch(self, sandbox: Sandbox, theirs: socket.socket) -> subprocess.Popen[bytes]:
        number = theirs.fileno()
        try:
            with opened(sandbox.command) as (command, files):
                return subprocess.Popen(
                    [*command, _program(self._python), str(ENTRY), SERVING, str(number)],
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
            raise UsageError(f"'{self._python}' can't be run: {error.strerror or error}", hint) from error

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
        """The tools reported over a channel. If there are none, ends the sandbox and raises the reason."""
        try:
            return self._await_tools(line)
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

    def _await_tools(self, line: Channel) -> say.ToolsLoaded:
        leader = self._process.pid
        patience = Patience(self._load_limit, lambda: family_seconds(leader, self._guards) + self._bytes)
        try:
            news = _loading.decode(self._next_row(line, patience))
        except TimeoutError:
            message = f"'{self._named}' {patience.outcome}"
            raise UsageError(message, *self._printed_lines(), HINTS[self._sort]) from None
        except (ChannelLost, msgspec.MsgspecError, RecursionError):
            raise self._why_not_loaded() from None
        if isinstance(news, say.ToolsLoaded):
            return news
        message = readable(news.message)
        hints = [*map(readable, news.hints), *advise(message, self._spec)]
        raise UsageError(message, *hints, where=_from_here(readable(news.where)))

    def _next_row(self, line: Channel, patience: Patience) -> bytes:
        """The next message; output is read meanwhile, so that the process does not block on it."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        poll.register(self._output, select.POLLIN)
        while (row := line.take()) is None:
            if (left := patience.left()) <= 0:
                raise TimeoutError
            if self._is_over():
                raise GivenUp
            for file, _ in poll.poll(min(left, LOOK) * 1000):
                if file == line.fileno():
                    line.read()
                elif not self._read():
                    poll.unregister(self._output)
        return row

    def _read(self) -> bool:
        data = os.read(self._output, 1 << 16)
        self._printed += data
        self._bytes += len(data)
        del self._printed[:-KEPT]
        return bool(data)

    def _why_not_loaded(self) -> UsageError:
        """Why there are no tools, as far as known."""
        with suppress(ChannelLost, TimeoutError, ValueError):
            message = self._line.receive(say.from_supervisor, GRACE)
            if isinstance(message, Unfit):
                return unfit(self._python, readable(message.problem), readable(message.detail), "tools")
            return UsageError(f"'{self._named}' needs too many {message.what} to load")
        words = self._printed_lines()
        hint = f"is '{self._python}' a Python interpreter, or does the code end its own process?"
        problem = f"the process ended while loading '{self._named}'"
        return UsageError(problem, *(words or [f"no output: {hint}"]))

    def _printed_lines(self) -> Sequence[str]:
        os.set_blocking(self._output, False)
        with suppress(BlockingIOError):
            while self._read():
                pass
        text = readable(bytes(self._printed).decode("utf-8", "replace"))
        return [line for line in text.splitlines() if line.strip()][-SHOWN:]


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


def _from_here(place: str) -> str:
    return place.removeprefix(os.getcwd() + os.sep)
