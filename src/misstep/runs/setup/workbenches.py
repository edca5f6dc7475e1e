"""Lends processes in which tools are called, and finds the targets among a user's tools."""

import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import structs

from misstep.adapters.toolset.spec import MCP, file_of
from misstep.core.results.descriptions import read_descriptions, refuse_unknown_tools
from misstep.core.settings import ToolRunSettings
from misstep.core.tool import Described
from misstep.errors import UsageError, did_you_mean
from misstep.runs.setup.workspace import make_workspace
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions, Limits
from misstep.tool_host.sandbox.places import is_remote, is_server

REMINDER = 5.0  # seconds until it is said what is being waited for; then twice as long each time
MOST_NAMED = 3


class Workbenches:
    """Opens processes as they are needed, and keeps returned ones for reuse.

    `notice` is told what is being waited for. With `beside`, what servers offer besides tools is included.
    """

    def __init__(
        self,
        settings: ToolRunSettings,
        notice: Callable[[str], None] = lambda _: None,
        beside: bool = False,
    ) -> None:
        self._conditions = structs.replace(conditions_of(settings), beside=beside)
        self._notice = notice
        self._jobs = settings.jobs
        self._over = threading.Event()
        self._workspaces = dict[str, str]()  # folders that we have made, empty if a spec needs none
        self._made = ExitStack()
        self._idle = dict[str, list[ToolHost]]()
        self._open = list[ToolHost]()
        self._lock = threading.Lock()
        self._deciding = defaultdict[str, threading.Lock](threading.Lock)

    def __enter__(self) -> "Workbenches":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._open:
            process.close()
        self._made.close()

    def tools_of(self, spec: str) -> Sequence[Described]:
        with self.lend(spec) as bench:
            return bench.tools

    def all_tools(
        self, specs: Sequence[str], unusable: dict[str, str] | None = None
    ) -> dict[str, Sequence[Described]]:
        """The tools of each spec; a `UsageError` if the settings mention a tool that is not there.

        Servers that can't be used are put into `unusable` with the reason, unless there is nothing else.
        """
        with ThreadPoolExecutor(min(self._jobs, len(specs)), "starting") as pool:
            loading = {spec: pool.submit(self.tools_of, spec) for spec in specs}
            try:
                self._await(loading)
            except BaseException:
                self._over.set()
                pool.shutdown(cancel_futures=True)
                raise
        found = dict[str, Sequence[Described]]()
        for spec, future in loading.items():
            try:
                found[spec] = future.result()
            except UsageError as error:
                is_code = not spec.startswith(MCP) and not file_of(spec).endswith(".json")
                if unusable is None or is_code or len(unusable) == len(specs) - 1:
                    raise
                unusable[spec] = error.message
                self._notice(f"{os.path.basename(spec)} is not tested: {error.message}")
        refuse_unknown_tools(
            self._conditions.wordings, [tool.name for tools in found.values() for tool in tools]
        )
        return found

    def _await(self, loading: Mapping[str, "Future[Sequence[Described]]"]) -> None:
        """Wait until all have ended, and say now and then for which."""
        patience = REMINDER
        while left := wait(loading.values(), patience).not_done:
            names = [os.path.basename(spec) for spec, future in loading.items() if future in left]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            self._notice(f"waiting for the tools of {', '.join(names[:MOST_NAMED])}{more}")
            patience *= 2

    @contextmanager
    def lend(self, spec: str) -> Iterator[ToolHost]:
        """Lend a process with the tools of the spec, freshly loaded."""
        process = self._take(spec)
        try:
            process.forget()
            yield process
        except BaseException:
            process.close()
            raise
        with self._lock:
            self._idle.setdefault(spec, []).append(process)

    def _take(self, spec: str) -> ToolHost:
        with self._lock:
            if idle := self._idle.get(spec):
                return idle.pop()
        with self._lock:
            deciding = self._deciding[spec]
        with deciding:
            if spec not in self._workspaces and (process := self._decide(spec)):
                return process
        return self._start(spec, self._workspaces[spec])

    def _start(self, spec: str, workspace: str = "") -> ToolHost:
        conditions = self._conditions
        process = ToolHost(
            spec, structs.replace(conditions, workspace=workspace) if workspace else conditions
        )
        with self._lock:
            self._open.append(process)
        process.heed(self._over.is_set)
        process.start()
        return process

    def _decide(self, spec: str) -> ToolHost | None:
        """Make a workspace for a server whose tools work on files, if the user has given none.

        A process that was started to find out is returned if it needs no other one.
        """
        if self._conditions.workspace or not is_server(spec) or is_remote(spec):
            self._workspaces[spec] = ""
            return None
        process = self._start(spec)
        folder = self._made.enter_context(TemporaryDirectory(prefix="misstep-"))
        is_made = make_workspace(process.tools, Path(folder))
        self._workspaces[spec] = folder if is_made else ""
        if is_made:
            process.close()
        return None if is_made else process


def conditions_of(settings: ToolRunSettings) -> CallConditions:
    return CallConditions(
        shelter=settings.sandbox,
        limits=Limits(timeout=settings.timeout, memory=settings.memory << 20),
        allow_network=settings.allow_network,
        allow_read=settings.allow_read,
        workspace=settings.workspace,
        python=settings.python or sys.executable,
        only=settings.only,
        wordings=read_descriptions(settings.descriptions),
    )


TOGETHER = "(together)"  # the name under which all tools of a spec are fuzzed in turns


LAST = 3  # wave of several tools together: what they show alone is not new then


class Target(msgspec.Struct, frozen=True):
    """One tool, or all of a spec together, by its name in the report; `titles` are for ambiguous names.

    Those of a lower `wave` are tested first.
    """

    place: int
    name: str
    spec: str
    tools: tuple[str, ...]
    titles: dict[str, str] = {}
    wave: int = 2

    def among(self, tools: Sequence[Described]) -> list[Described]:
        """Those of the tools that belong to it; a `UsageError` unless all of them are there."""
        found = [tool for tool in tools if tool.name in self.tools]
        if len(found) < len(self.tools):
            raise UsageError("its tools differ between starts", where=self.spec)
        return found


def find_targets(found: Mapping[str, Sequence[Described]], only: Sequence[str]) -> list[Target]:
    """Each tool by itself, then those of a spec together if it has several: they may share state."""
    from misstep.fuzzing.search.sequences import wave_of  # takes long to import

    known = [tool.name for tools in found.values() for tool in tools]
    shorts = short_names(found)
    for name in only:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known[:10])}"
            raise UsageError(f"there is no tool '{name}'", hint, where="--only")
    counts = Counter(known)
    targets = list[Target]()
    for spec, tools in found.items():
        short = shorts[spec]
        names = [tool.name for tool in tools if not only or tool.name in only]
        wanted: list[tuple[str, tuple[str, ...]]]
        wanted = [(_label(name, short, counts[name] > 1), (name,)) for name in names]
        wanted += [(_label(TOGETHER, short, len(found) > 1), tuple(names))] if len(names) > 1 else []
        titles = {name: _label(name, short, True) for name in names if counts[name] > 1}
        waves = {tool.name: wave_of(tool) for tool in tools}
        targets += [
            Target(len(targets) + place, name, spec, some, titles, waves[some[0]] if len(some) == 1 else LAST)
            for place, (name, some) in enumerate(wanted)
        ]
    return targets


def short_names(specs: Iterable[str]) -> dict[str, str]:
    """The last part of each spec, as far as that is unambiguous."""
    ends = {spec: os.path.basename(spec) for spec in specs}
    counts = Counter(ends.values())
    return {spec: end if end and counts[end] == 1 else spec for spec, end in ends.items()}


def _label(name: str, spec: str, ambiguous: bool) -> str:
    return f"{name} of {spec}" if ambiguous else name
