"""The first process in the sandbox: enforces the limits, and ends everything at the end.

With a PID namespace it is the init process: nothing inside can end it, and everything ends with it.
"""

import os
import select
import signal
import socket

from misstep.adapters.processes import end_with_parent, keep_orphans, open_to_family
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.protocol import GuardOrder, Limits, Overrun, to_supervisor, while_guarding
from misstep.tool_host.serving.process_tree import FAR, ProcessTree
from misstep.tool_host.serving.zygote import Zygote

TICK = 0.005  # seconds between checks while calls are in flight
SLOW_TICK = 0.1
FEWEST = 2  # processes: the zygote and its copy, which may not have started yet
TICKS_PER_WEIGHING = 4
CHUNK = 4096


def serve(number: int) -> None:
    """Start the zygote and supervise all processes until the other side is gone."""
    line = Channel(socket.socket(fileno=number), trusting=True)
    order = line.receive(to_supervisor)
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
    _Watch(line, process_tree, order, zygote, loaded).keep()
    process_tree.end_all(order.litter)
    os._exit(0)


class _Watch:
    """Supervises the processes until there is a reason to end them."""

    def __init__(
        self, line: Channel, process_tree: ProcessTree, order: GuardOrder, zygote: int, loaded: int
    ) -> None:
        self._line = line
        self._process_tree = process_tree
        self._limits: Limits = order.limits
        self._zygote = zygote
        self._loaded = loaded
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
                continue
            if file != self._line.fileno():
                os.read(file, CHUNK)  # notifications about ended children
                continue
            try:
                self._line.read()
                while (row := self._line.take()) is not None:
                    self._busy = while_guarding.decode(row).busy
            except ChannelLost:
                return False
        return True

    def _reap(self) -> bool:
        """Reap ended children. Returns whether the zygote is alive."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self._zygote:
                return False

    def _find_overrun(self, weighing: bool) -> Overrun | None:
        if (count := self._process_tree.count(self._limits.processes)) > self._limits.processes:
            return Overrun("processes", count)
        if not weighing or not self._memory:
            return None
        memory = self._process_tree.memory()
        if self._memory < memory <= FAR * self._memory:
            memory = self._process_tree.true_memory()
        return Overrun("memory", memory) if memory > self._memory else None


def _deaths() -> int:
    """A pipe that becomes readable whenever a child of this process ends."""
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # otherwise there are no notifications
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    return told
