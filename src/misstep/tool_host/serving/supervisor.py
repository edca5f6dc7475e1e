"""The supervisor, which enforces the limits and ends everything, and the zygote, which holds the tools.

With a PID namespace the supervisor is the init process: nothing inside can end it, and everything ends with
it. The zygote forks copies of itself that make the calls.
"""

import os
import resource
import select
import signal
import socket
import warnings

from misstep.adapters.processes import end_with_parent, keep_orphans, open_to_family
from misstep.tool_host import protocol as say
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.serving.process_tree import FAR, CrashTraces, Gauge, ProcessTree, limit
from misstep.tool_host.serving.scratch import Scratch
from misstep.tool_host.serving.tool_server import UNIT, ToolServer, make_tool_server

TICK = 0.005  # seconds between checks while calls are in flight
SLOW_TICK = 0.1
FEWEST = 2  # processes: the zygote and its copy, which may not have started yet
TICKS_PER_WEIGHING = 4
CHUNK = 4096


def serve(number: int) -> None:
    """Start the zygote and supervise all processes until the other side is gone."""
    line = Channel(socket.socket(fileno=number), trusting=True)
    order = line.receive(say.to_supervisor)
    process_tree = ProcessTree(order.outside)
    keep_orphans()
    open_to_family(False)  # tools must not impersonate the supervisor or the zygote
    loaded, loading = os.pipe()
    zygote = os.fork()
    if not zygote:
        end_with_parent()
        control = Channel(socket.socket(fileno=line.files.pop()), trusting=True)
        line.close()
        os.close(loaded)
        Zygote(control, process_tree, loading).serve()
        os._exit(0)
    os.close(loading)
    for file in line.files:
        os.close(file)
    line.files.clear()
    _Watch(line, process_tree, order.limits, zygote, loaded).keep()
    process_tree.end_all(order.litter)
    os._exit(0)


class _Watch:
    """Supervises the processes until there is a reason to end them."""

    def __init__(
        self, line: Channel, process_tree: ProcessTree, limits: say.Limits, zygote: int, loaded: int
    ) -> None:
        self._line, self._process_tree, self._limits = line, process_tree, limits
        self._zygote, self._loaded = zygote, loaded
        self._memory = 0  # bytes that all may use together; 0 until that is known
        self._busy = True
        self._usual = 0  # number of processes after the tools were loaded

    def keep(self) -> None:
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        poll.register(self._loaded, select.POLLIN)
        poll.register(_deaths(), select.POLLIN)
        tick = 0
        while self._goes_on(poll.poll(self._pause()), poll) and self._reap():
            tick += 1
            if overrun := self._find_overrun(tick % TICKS_PER_WEIGHING == 0):
                self._line.send(overrun)
                return

    def _pause(self) -> float | None:
        """Milliseconds until the next check; None if no calls are in flight and nothing was left running."""
        if self._busy:
            return TICK * 1000
        count = self._process_tree.count(self._limits.processes)
        self._usual = self._usual or max(count, FEWEST)
        return SLOW_TICK * 1000 if count > self._usual else None

    def _goes_on(self, events: list[tuple[int, int]], poll: select.poll) -> bool:
        for file, _ in events:
            if file == self._loaded:
                poll.unregister(self._loaded)
                # A copy of the zygote uses as much again, although shared, and so does a server.
                self._memory = 3 * self._process_tree.memory() + self._limits.memory
            elif file != self._line.fileno():
                os.read(file, CHUNK)  # notifications about ended children
            else:
                try:
                    self._line.read()
                except ChannelLost:
                    return False
                while (row := self._line.take()) is not None:
                    self._busy = say.while_guarding.decode(row).busy
        return True

    def _reap(self) -> bool:
        """Reap ended children. Returns whether the zygote is alive."""
        try:
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid == self._zygote:
                    return False
        except ChildProcessError:
            return False
        return True

    def _find_overrun(self, weighing: bool) -> say.Overrun | None:
        if (count := self._process_tree.count(self._limits.processes)) > self._limits.processes:
            return say.Overrun("processes", count)
        if not weighing or not self._memory:
            return None
        memory = self._process_tree.memory()
        if self._memory < memory <= FAR * self._memory:
            memory = self._process_tree.true_memory()
        return say.Overrun("memory", memory) if memory > self._memory else None


def _deaths() -> int:
    """A pipe that becomes readable whenever a child of this process ends."""
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # otherwise there are no notifications
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    return told


PAUSE = 20  # milliseconds between checks of a copy, if the system does not report its end


class Zygote:
    """Handles the commands of one channel; `loading` is a pipe that is closed when the tools are loaded."""

    def __init__(self, line: Channel, process_tree: ProcessTree, loading: int) -> None:
        self._line = line
        self._process_tree = process_tree
        self._loading = loading
        self._gauge: Gauge | None = None
        self._computed = 0.0

    def serve(self) -> None:
        """Serve until the channel closes, or until the tools fail to load."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for our side
        order = self._line.receive(say.to_zygote)
        assert isinstance(order, say.LoadTools)
        try:
            message, tool_server = make_tool_server(order)
            self._line.send(message)
            if tool_server is not None:
                os.close(self._loading)
                self._attend(order, tool_server)
        except ChannelLost:
            return

    def _attend(self, order: say.LoadTools, tool_server: ToolServer) -> None:
        scratch = Scratch(order.roots)
        traces = CrashTraces()
        while True:
            if not isinstance(self._line.receive(say.to_zygote), say.Start):
                continue  # a Stop for a copy that had already ended
            os.chdir(order.folder)  # it may be a new folder with the same name
            self._gauge, self._computed = None, 0.0
            status, usage = self._wait(self._copy(order, tool_server, traces), traces)
            self._process_tree.end_others()
            frames, restored = traces.read(tool_server.owns), scratch.restore()
            computed = usage.ru_utime + usage.ru_stime if status == -signal.SIGXCPU else self._computed
            self._line.send(say.CallerStopped(status, frames, usage.ru_maxrss * UNIT, restored, computed))

    def _copy(self, order: say.LoadTools, tool_server: ToolServer, traces: CrashTraces) -> int:
        """Fork a copy of this process that takes over the channel received last."""
        end = self._line.files.pop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # threads that the tools started are not copied
            copy = os.fork()
        if copy:
            os.close(end)
            return copy
        try:
            end_with_parent()
            open_to_family(True)
            self._line.close()
            limit(order.limits, self._process_tree.is_private, address_space=not order.apart)
            tool_server.serve(Channel(socket.socket(fileno=end)), traces)
        finally:
            os._exit(1)

    def _wait(self, copy: int, traces: CrashTraces) -> tuple[int, resource.struct_rusage]:
        """How the copy ended, by itself or because it was stopped."""
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        # Not available on all systems. The id stays the copy's until it has been waited for.
        ending = os.pidfd_open(copy) if hasattr(os, "pidfd_open") else None
        if ending is not None:
            poll.register(ending, select.POLLIN)
        try:
            while True:
                for file, _ in poll.poll(None if ending is not None else PAUSE):
                    if file == self._line.fileno():
                        self._obey(copy, traces)
                ended, status, usage = os.wait4(copy, os.WNOHANG)
                if ended:
                    return os.waitstatus_to_exitcode(status), usage
        finally:
            if ending is not None:
                os.close(ending)

    def _obey(self, copy: int, traces: CrashTraces) -> None:
        self._line.read()
        while (row := self._line.take()) is not None:
            if isinstance(say.to_zygote.decode(row), say.Measure):
                self._gauge = Gauge(self._process_tree)
                continue
            if self._gauge:
                self._computed = self._gauge.computed()
                traces.ask(copy)
            self._process_tree.end_others()
