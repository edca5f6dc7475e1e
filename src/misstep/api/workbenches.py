"""Processes in which tools are called, lent to whoever examines them."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from misstep.core.descriptions import read_descriptions, refuse_strangers
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.tool_host.conditions import Conditions
from misstep.tool_host.process import Process
from misstep.tool_host.protocol import Limits


class Workbenches:
    """Opens processes as they are wanted, and keeps those that are given back for the next."""

    def __init__(self, settings: Settings) -> None:
        self._conditions = conditions_of(settings)
        self._idle = dict[str, list[Process]]()
        self._open = list[Process]()
        self._lock = threading.Lock()

    def __enter__(self) -> "Workbenches":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._open:
            process.close()

    def tools_of(self, spec: str) -> Sequence[Described]:
        with self.lend(spec) as bench:
            return bench.tools

    def all_tools(self, specs: Sequence[str]) -> dict[str, Sequence[Described]]:
        """The tools of each spec; a `UsageError` where something is said about one that is not there."""
        found = {spec: self.tools_of(spec) for spec in specs}
        refuse_strangers(self._conditions.wordings, [tool.name for tools in found.values() for tool in tools])
        return found

    @contextmanager
    def lend(self, spec: str) -> Iterator[Process]:
        """A process with the tools of the spec as they are when they have been loaded."""
        process = self._take(spec)
        try:
            process.forget()
            yield process
        except BaseException:
            process.close()
            raise
        with self._lock:
            self._idle.setdefault(spec, []).append(process)

    def _take(self, spec: str) -> Process:
        with self._lock:
            if idle := self._idle.get(spec):
                return idle.pop()
        process = Process(spec, self._conditions)
        with self._lock:
            self._open.append(process)
        process.start()
        return process


def conditions_of(settings: Settings) -> Conditions:
    """The conditions under which these settings want tools to be called."""
    return Conditions(
        shelter=settings.sandbox,
        limits=Limits(timeout=settings.timeout, memory=settings.memory << 20),
        allow_network=settings.allow_network,
        allow_read=settings.allow_read,
        workspace=settings.workspace,
        python=settings.python or sys.executable,
        only=settings.only,
        wordings=read_descriptions(settings.descriptions),
    )
