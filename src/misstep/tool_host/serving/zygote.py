"""The process that holds the loaded tools and forks copies of itself, which make the calls."""

import os
import resource
import select
import signal
import socket
import sys
import warnings

from misstep.adapters.processes import end_with_parent, open_to_family
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.protocol import CallerStopped, LoadTools, Measure, Start, to_zygote
from misstep.tool_host.serving.process_tree import Gauge, ProcessTree, limit
from misstep.tool_host.serving.scratch import Scratch
from misstep.tool_host.serving.tool_server import ToolServer, make_tool_server
from misstep.tool_host.serving.traces import CrashTraces

UNIT = 1024 if sys.platform == "linux" else 1  # unit of peak memory in bytes
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
        order = self._line.receive(to_zygote)
        assert isinstance(order, LoadTools)
        try:
            message, tool_server = make_tool_server(order)
            self._line.send(message)
            if tool_server is not None:
                os.close(self._loading)
                self._attend(order, tool_server)
        except ChannelLost:
            return

    def _attend(self, order: LoadTools, tool_server: ToolServer) -> None:
        scratch = Scratch(order.roots)
        traces = CrashTraces()
        while True:
            if not isinstance(self._line.receive(to_zygote), Start):
                continue  # a Stop for a copy that had already ended
            os.chdir(order.folder)  # it may be a new folder with the same name
            self._gauge, self._computed = None, 0.0
            status, usage = self._wait(self._copy(order, tool_server, traces), traces)
            self._process_tree.end_others()
            frames, restored = traces.read(tool_server.owns), scratch.restore()
            computed = usage.ru_utime + usage.ru_stime if status == -signal.SIGXCPU else self._computed
            self._line.send(CallerStopped(status, frames, usage.ru_maxrss * UNIT, restored, computed))

    def _copy(self, order: LoadTools, tool_server: ToolServer, traces: CrashTraces) -> int:
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
        """Handle commands while the copy is running."""
        self._line.read()
        while (row := self._line.take()) is not None:
            if isinstance(to_zygote.decode(row), Measure):
                self._gauge = Gauge(self._process_tree)
                continue
            if self._gauge:
                self._computed = self._gauge.computed()
                traces.ask(copy)
            self._process_tree.end_others()
