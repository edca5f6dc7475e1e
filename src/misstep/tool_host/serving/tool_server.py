"""Loads the tools, and serves calls of them in copies of the process."""

import contextlib
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from typing import Protocol

from misstep.adapters.subprocess.protocol import Unloadable
from misstep.adapters.toolset.bound import bind
from misstep.adapters.toolset.calling import Toolset
from misstep.adapters.toolset.spec import read_tools
from misstep.core.outcome import storable
from misstep.core.text import cut, error_in_words
from misstep.errors import MisstepError
from misstep.fuzzing.coverage import Ownership
from misstep.tool_host.channel import Channel
from misstep.tool_host.protocol import LoadTools, ToolsLoaded
from misstep.tool_host.serving.caller import Caller
from misstep.tool_host.serving.scratch import names_in
from misstep.tool_host.serving.traces import CrashTraces

LONGEST_ERROR = 2_000  # characters
STREAMS = (0, 1, 2)


class ToolServer(Protocol):
    """Serves calls of tools, once in each copy of the process."""

    def owns(self, file: str, /) -> bool:
        """Whether a file is the tools' own code."""
        ...

    def serve(self, line: Channel, traces: CrashTraces) -> None:
        """Make the requested calls until the channel closes."""
        ...


def make_tool_server(order: LoadTools) -> tuple[ToolsLoaded | Unloadable, ToolServer | None]:
    """Load the tools and report the result. Tools that load `apart` report later."""
    try:
        _set_up(order)
    except OSError as error:  # includes shutil.Error
        problem = cut(error_in_words(error), LONGEST_ERROR)
        return _unloadable("the workspace can't be copied", [problem], order.workspace), None
    if order.read:
        return _read(order), None
    if order.apart:
        with contextlib.suppress(ImportError):  # reported later, if a server needs it
            import mcp  # noqa: F401  (every copy would have to load it)
        _hush()
        return ToolsLoaded(()), UncopiedTools(order)
    loaded = _load(order.spec)
    if isinstance(loaded, Unloadable):
        return loaded, None
    _hush()
    return _told(loaded, order), Common(order, loaded)


class Common:
    """Tools that were loaded before the process was forked."""

    def __init__(self, order: LoadTools, tools: Toolset) -> None:
        self._order = order
        self._tools = tools
        self._ownership = _ownership(tools)

    def owns(self, file: str) -> bool:
        return self._ownership.owns(file)

    def serve(self, line: Channel, traces: CrashTraces) -> None:
        Caller(self._tools, self._ownership, self._order, traces).serve(line)


class UncopiedTools:
    """Tools that every copy loads itself, because their state cannot be forked."""

    def __init__(self, order: LoadTools) -> None:
        self._order = order

    def owns(self, _file: str) -> bool:
        return False

    def serve(self, line: Channel, traces: CrashTraces) -> None:
        tools = _load(self._order.spec)
        if isinstance(tools, Unloadable):
            line.say(tools)
            return
        line.say(_told(tools, self._order))
        Caller(tools, _ownership(tools), self._order, traces).serve(line)


def _told(tools: Toolset, order: LoadTools) -> ToolsLoaded:
    described = tuple(bound.described for bound in tools.bounds)
    files, skipped = tuple(names_in(order.folder)), tuple(map(storable, tools.skipped))
    return ToolsLoaded(described, tools.forkable, files, skipped, tuple(map(storable, tools.notes)))


def _ownership(tools: Toolset) -> Ownership:
    sources = [bound.described.source for bound in tools.bounds]
    return Ownership([source.file for source in sources if source])


def _set_up(order: LoadTools) -> None:
    """Create the folders that tools use."""
    for folder in (os.environ["HOME"], os.environ["TMPDIR"]):
        os.makedirs(folder, exist_ok=True)
    if order.workspace:
        shutil.copytree(order.workspace, order.folder, symlinks=True, dirs_exist_ok=True)
    else:
        os.makedirs(order.folder, exist_ok=True)
    os.chdir(order.folder)
    sys.path.append(order.origin)


def _load(spec: str) -> Toolset | Unloadable:
    try:
        return bind(spec)
    except BaseException as error:
        return _blamed(error, spec)


def _read(order: LoadTools) -> ToolsLoaded | Unloadable:
    skipped, notes = list[str](), list[str]()
    try:
        tools = read_tools(order.spec, skipped, notes)
    except BaseException as error:
        return _blamed(error, order.spec)
    return ToolsLoaded(tuple(tools), skipped=tuple(map(storable, skipped)), notes=tuple(map(storable, notes)))


def _blamed(error: BaseException, spec: str) -> Unloadable:
    if isinstance(error, MisstepError):
        return _unloadable(error.message, error.hints, error.where)
    return _unloadable(cut(error_in_words(error), LONGEST_ERROR), _last_place(error), spec)


def _unloadable(message: str, hints: Sequence[str], where: str) -> Unloadable:
    return Unloadable(storable(message), tuple(map(storable, hints)), storable(where))


def _last_place(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-1:]
    return [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]


def _hush() -> None:
    """Connect the standard streams to /dev/null: tools have nothing to read, and their output is ignored."""
    for stream in STREAMS:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, stream)
        if nowhere != stream:
            os.close(nowhere)
    for printed in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # tools may have replaced the streams
            printed.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
