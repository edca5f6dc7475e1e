"""Loads the tools and serves calls of them in copies of the process: each is made, observed and reported.

Marks are added to the arguments right before the tool's own function, because validation removes them.
"""

import contextlib
import functools
import inspect
import json
import os
import resource
import shutil
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from misstep.adapters.mcp.server_code import ServerCode
from misstep.adapters.subprocess.protocol import Unloadable
from misstep.adapters.toolset.bound import bind
from misstep.adapters.toolset.calling import BoundTool, Garbled, ServerGone, Toolset
from misstep.adapters.toolset.spec import read_tools
from misstep.core.outcome import storable
from misstep.core.text import NAME, cut, error_in_words
from misstep.core.tool import Ended, Probe, Reaction
from misstep.errors import MisstepError
from misstep.fuzzing.contracts.promises import promises_of
from misstep.fuzzing.contracts.security import LINK, OUTSIDE, SECRET
from misstep.fuzzing.coverage import Coverage, Ownership
from misstep.fuzzing.judging.exceptions import describe_exception, put_into
from misstep.fuzzing.returned import filled_in, may_have_markers, remember, without_bulk
from misstep.fuzzing.taint import Marks, observe, plain
from misstep.tool_host import protocol as say
from misstep.tool_host.channel import Channel
from misstep.tool_host.sandbox.places import is_in
from misstep.tool_host.serving.file_watch import FileWatch
from misstep.tool_host.serving.network_watch import NetworkWatch
from misstep.tool_host.serving.process_tree import CrashTraces, allow_cpu
from misstep.tool_host.serving.scratch import names_in

LONGEST_ERROR = 2_000  # characters
STREAMS = (0, 1, 2)


def make_tool_server(order: say.LoadTools) -> tuple[say.ToolsLoaded | Unloadable, "ToolServer | None"]:
    """Load the tools and report the result. Tools that load `apart` report later."""
    try:
        _set_up(order)
    except OSError as error:  # includes shutil.Error
        problem = cut(error_in_words(error), LONGEST_ERROR)
        return _unloadable("the workspace can't be copied", [problem], order.workspace), None
    if order.apart and not order.read:
        with contextlib.suppress(ImportError):  # reported later, if a server needs it
            import mcp  # noqa: F401  (every copy would have to load it)

            import misstep.adapters.mcp.connections  # noqa: F401  (copies share what they learn of servers)
        _hush()
        return say.ToolsLoaded(()), ToolServer(order, None)
    try:
        if order.read:
            skipped, notes = list[str](), list[str]()
            read = tuple(read_tools(order.spec, skipped, notes, order.beside))
            return say.ToolsLoaded(read, skipped=_storable(skipped), notes=_storable(notes)), None
        tools = bind(order.spec, order.beside)
    except BaseException as error:
        return _blamed(error, order.spec), None
    _hush()
    return _told(tools, order), ToolServer(order, tools)


def _told(tools: Toolset, order: say.LoadTools) -> say.ToolsLoaded:
    described, files = tuple(bound.described for bound in tools.bounds), names_in(order.folder)
    if order.apart:  # servers often take absolute paths only
        files += [os.path.join(order.folder, each) for each in files]
    told = (_storable(texts) for texts in (tools.skipped, tools.notes, tools.about))
    return say.ToolsLoaded(described, tools.forkable, tuple(files), *told)


def _storable(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(storable, texts))


def _ownership(tools: Toolset) -> Ownership:
    sources = [bound.described.source for bound in tools.bounds]
    return Ownership([source.file for source in sources if source])


def _watched(order: say.LoadTools) -> list[str]:
    """The folders whose files tools work on, and those with canaries."""
    beside = [os.path.join(os.path.dirname(order.folder), os.path.dirname(name)) for name in OUTSIDE]
    copies = [root for root in order.roots if not is_in(order.folder, [root]) and not is_in(root, ["/dev"])]
    return [order.folder, *beside, *copies]


def _home(order: say.LoadTools) -> str:
    """The home folder of the tools, in which many servers keep their data; empty if it is the user's own."""
    home = os.environ["HOME"]
    return home if is_in(home, order.roots) and not is_in(order.folder, [home]) else ""


def _plant_canaries(order: say.LoadTools) -> None:
    """Files beside the tools' folder that no tool should reach; nothing beside a folder of the user's."""
    above = os.path.dirname(order.folder)
    if order.read or not is_in(above, order.roots):
        return
    for name in OUTSIDE:
        os.makedirs(os.path.dirname(os.path.join(above, name)), exist_ok=True)
        with open(os.path.join(above, name), "w", encoding="utf-8") as file:
            file.write(f"{SECRET}\n")


def _plant_link(order: say.LoadTools) -> None:
    """A link in the tools' folder that leads to a canary; other tools than those under test never see it."""
    above = os.path.dirname(order.folder)
    if is_in(above, order.roots) and not os.path.lexists(os.path.join(order.folder, LINK)):
        with contextlib.suppress(OSError):  # a tool has removed the folder
            os.symlink(os.path.join(above, os.path.dirname(OUTSIDE[0])), os.path.join(order.folder, LINK))


def _set_up(order: say.LoadTools) -> None:
    for folder in (os.environ["HOME"], os.environ["TMPDIR"]):
        os.makedirs(folder, exist_ok=True)
    if order.workspace:
        shutil.copytree(order.workspace, order.folder, symlinks=True, dirs_exist_ok=True)
    else:
        os.makedirs(order.folder, exist_ok=True)
    _plant_canaries(order)
    os.chdir(order.folder)
    sys.path.append(order.origin)


def _blamed(error: BaseException, spec: str) -> Unloadable:
    if isinstance(error, MisstepError):
        return _unloadable(error.message, error.hints, error.where)
    frames = traceback.extract_tb(error.__traceback__)[-1:]
    place = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return _unloadable(cut(error_in_words(error), LONGEST_ERROR), place, spec)


def _unloadable(message: str, hints: Iterable[str], where: str) -> Unloadable:
    return Unloadable(storable(message), _storable(hints), storable(where))


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


@contextmanager
def marking(bound: BoundTool, marks: Marks, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments for the call: marked inside the tool, or at once if its function cannot be replaced."""
    entry = bound.entry
    if entry is None:
        yield marks.arguments(arguments)
        return
    function = entry.function
    entry.function = _marked(function, marks)
    try:
        yield arguments
    finally:
        entry.function = function


def _marked(function: Callable[..., Any], marks: Marks) -> Callable[..., Any]:
    """The function with its arguments marked. Its result is unmarked, since only the tool's code matters."""
    names = _names(function)

    def call(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        places = [(names[place],) if place < len(names) else ("*", place) for place in range(len(given))]
        inner = [marks.mark(value, place) for value, place in zip(given, places, strict=True)]
        return function(*inner, **{name: marks.mark(value, (name,)) for name, value in named.items()})

    async def wait(*given: Any, **named: Any) -> Any:
        return plain(await call(given, named))

    def enter(*given: Any, **named: Any) -> Any:
        return plain(call(given, named))

    return functools.wraps(function)(wait if inspect.iscoroutinefunction(function) else enter)


def _names(function: Callable[..., Any]) -> list[str]:
    """The names of parameters that can be passed by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in by_place]


TEXT = 4_000  # characters of a result that are kept
LARGE = 8 * say.MEGABYTE  # memory growth that is reported
UNIT = 1024 if sys.platform == "linux" else 1  # unit of peak memory in bytes
REMEMBERED = 256  # results from which later calls may take values
ALLOWANCE = 1.0  # seconds between renewals of the CPU limit
PAUSES = 1.0, 3.0  # seconds without a call, at least and at most
HELD = 8  # reports that are sent together
HIGH = 200  # file descriptor that tools which close random ones don't reach

_decoder = msgspec.json.Decoder(Probe)


class ToolServer:
    """Serves calls of tools, once in each copy of the process, which loads them itself if `tools` is None."""

    def __init__(self, order: say.LoadTools, tools: Toolset | None) -> None:
        self._order = order
        self._tools = tools
        self._ownership = _ownership(tools) if tools else None
        self._watch: FileWatch | None = None
        self._watched = deque[tuple[str, str]](maxlen=2)  # the latest calls while the network is watched
        self._allowed_until = 0.0
        self._lines = dict[str, set[int]]()
        self._latest = dict[str, str | int]()  # what servers have returned, by name
        self._unread = deque[tuple[str, Reaction]](maxlen=REMEMBERED)  # by tool

    def owns(self, file: str) -> bool:
        """Whether a file is the tools' own code, as far as known."""
        return self._ownership is not None and self._ownership.owns(file)

    def serve(self, line: Channel, traces: CrashTraces) -> None:
        """Make the requested calls until the channel closes, or one ends its server or uses all memory."""
        if self._tools is None:
            try:
                self._tools = bind(self._order.spec, self._order.beside)
            except BaseException as error:
                line.say(_blamed(error, self._order.spec))
                return
            line.say(_told(self._tools, self._order))
            self._ownership = _ownership(self._tools)
        self._bounds = {bound.described.name: bound for bound in self._tools.bounds}
        has_code = any(bound.described.source for bound in self._tools.bounds)
        self._coverage = self._tools.code or Coverage(self.owns if has_code else None)
        self._peak = _peak()
        self._line = line = line.moved(HIGH)
        os.register_at_fork(after_in_child=line.close)  # otherwise it stays open after this process ends
        traces.begin()
        self._answer(line)

    def _answer(self, line: Channel) -> None:
        process = os.getpid()
        try:
            waiting = list[tuple[Probe, BoundTool | None]]()
            for row in line.rows():
                probe = _decoder.decode(row)
                waiting.append((probe, self._sent(probe, bool(waiting))))
                if probe.invocation.sent == "together":
                    continue
                for probe, bound in waiting:
                    report = self._report(probe, bound)
                    if os.getpid() != process:
                        os._exit(0)  # a fork made by the tool
                    is_last = report.reaction.ended in say.LAST_WORDS
                    line.hold(report)
                    if is_last or bound is None or bound.begin is None or line.held >= HELD:
                        line.say_held()
                    if is_last:
                        return
                waiting.clear()
        except MemoryError:  # tools have left too little for this code
            _leave(line, say.MEMORY_FULL)
        except OSError:
            os._exit(say.LINE_CLOSED)
        except BaseException:  # tools have replaced something that this code uses
            _leave(line, say.BROKEN)

    def _sent(self, probe: Probe, beside_another: bool) -> BoundTool | None:
        """The tool to call. If it isn't called in turn, the call is sent now, and calling it only ends it.

        Reports on calls of a server are held for a moment, since sending one takes as long as a fast call.
        """
        bound, sent = self._bounds.get(probe.invocation.tool), probe.invocation.sent
        if bound is None or bound.begin is None:
            return bound
        begin = bound.begin
        if sent in ("in turn", "afresh") and not beside_another:
            say_held = self._line.say_held
            return msgspec.structs.replace(bound, call=lambda arguments: begin(arguments, say_held)(None))
        self._line.say_held()
        if bound.call_unlisted is not None and sent == "unlisted":
            return msgspec.structs.replace(bound, call=bound.call_unlisted)
        finish = begin(self._arguments(probe), lambda: None)
        patience = {"cancelled": 0.0, "timed out": self._order.limits.timeout / 2}.get(sent)
        return msgspec.structs.replace(bound, call=lambda _: finish(patience))

    def _arguments(self, probe: Probe) -> dict[str, Any]:
        """The arguments of a call, with what earlier ones have returned."""
        text = probe.invocation.arguments
        arguments: dict[str, Any] = json.loads(text)
        if may_have_markers(text):
            while self._unread:
                remember(self._latest, *self._unread.popleft())
            arguments = filled_in(arguments, self._latest)
        return arguments

    def _report(self, probe: Probe, bound: BoundTool | None) -> say.Report:
        if bound is None:  # a server may list different tools each time it starts
            detail = storable(f"the server no longer has the tool '{cut(probe.invocation.tool, NAME)}'")
            return say.Report(Reaction("garbled", detail=detail))
        arguments = self._arguments(probe)
        now = time.monotonic()
        if now >= self._allowed_until:  # rarely: the CPU limit exceeds what one call may use
            self._allowed_until = now + ALLOWANCE
            allow_cpu(self._order.limits.timeout)
        if probe.watch and self._watch is None:
            _plant_link(self._order)
            self._watch = FileWatch(_watched(self._order), _home(self._order))
            self._network = NetworkWatch()
        reaction = self._marked(bound, arguments) if probe.mark else self._called(bound, arguments)
        if bound.described.kind == "mcp" and reaction.ended == "returned" and not reaction.flagged:
            self._unread.append((bound.described.name, without_bulk(reaction)))
        if probe.watch and self._watch is not None:
            attempts = self._network.attempts()
            # A contract asks for the pause only after a call that is made again, with one call between.
            made = probe.invocation.tool, probe.invocation.arguments
            is_repeated = len(self._watched) == 2 and self._watched[0] == made
            self._watched.append(made)
            background = self._background(bound, reaction.seconds) if attempts and is_repeated else 0
            reaction = msgspec.structs.replace(
                reaction, changes=self._watch.changes(), connections=attempts, background=background
            )
        return self._reported(bound, reaction) if reaction.edges else say.Report(reaction)

    def _background(self, bound: BoundTool, seconds: float) -> int:
        """Attempts to reach the network while nothing is called, in a pause longer than the call."""
        if not any(promise.contract == "closed world" for promise in promises_of(bound.described)):
            return 0
        left = max(self._order.limits.timeout - seconds, 0) / 2
        time.sleep(min(max(2 * seconds, PAUSES[0]), PAUSES[1], left))
        return self._network.attempts()

    def _marked(self, bound: BoundTool, arguments: dict[str, Any]) -> Reaction:
        with observe() as marks, marking(bound, marks, arguments) as marked:
            reaction = self._called(bound, marked, everything=True)
        return msgspec.structs.replace(reaction, observations=marks.observations)

    def _called(self, bound: BoundTool, arguments: dict[str, Any], everything: bool = False) -> Reaction:
        """Make a call and describe the result, with its new edges, or with all of them."""
        returned, failure = None, None
        began = time.perf_counter()
        self._coverage.begin()
        try:
            returned = bound.call(arguments)
        except BaseException as error:  # including SystemExit and KeyboardInterrupt
            failure = error
        edges = self._coverage.end(everything)
        errors = self._coverage.errors()
        seconds = time.perf_counter() - began
        peak = _peak()
        growth, self._peak = peak - self._peak, peak
        memory = growth if growth >= LARGE else 0
        if failure is None:
            assert returned is not None
            return Reaction(
                "returned",
                text=returned.text[:TEXT],
                size=returned.size,
                structured=returned.structured,
                flagged=returned.flagged,
                seconds=seconds,
                memory=memory,
                edges=edges,
                handled=put_into(returned.text, errors, self.owns) if errors else (),
            )
        try:
            return self._failed(bound, failure, seconds, memory, edges)
        finally:
            del failure, errors  # they keep the tool's local variables alive

    def _failed(
        self, bound: BoundTool, error: BaseException, seconds: float, memory: int, edges: tuple[int, ...]
    ) -> Reaction:
        if isinstance(error, ServerGone | Garbled):
            ended: Ended = "died" if isinstance(error, ServerGone) else "garbled"
            detail = storable(cut(error_in_words(error), TEXT))
            return Reaction(ended, detail=detail, seconds=seconds, memory=memory, edges=edges)
        is_full = isinstance(error, MemoryError)
        raised = describe_exception(error, self.owns)
        if bound.described.kind == "mcp":  # the frames are those of the client
            raised = msgspec.structs.replace(raised, frames=())
        return Reaction(
            "exhausted" if is_full else "raised",
            raised=raised,
            detail=f"{self._order.limits.memory // say.MEGABYTE:,} MB were allowed" if is_full else "",
            seconds=seconds,
            memory=memory,
            edges=edges,
        )

    def _reported(self, bound: BoundTool, reaction: Reaction) -> say.Report:
        """The report of a call that reached something new."""
        if isinstance(code := self._coverage, ServerCode):
            lines = {file: tuple(each) for file, each in code.lines.items()}
            return say.Report(
                reaction, lines, {file: tuple(each.values()) for file, each in code.functions.items()}
            )
        source = bound.described.source
        if source is None:
            return say.Report(reaction)
        known = self._lines.setdefault(source.file, set())
        fresh = code.lines(source.file) - known
        known |= fresh
        return say.Report(reaction, {source.file: tuple(fresh)})


def _leave(line: Channel, status: int) -> None:
    """End the process, after the reports that were held, if that is still possible."""
    with contextlib.suppress(BaseException):
        line.say_held()
    os._exit(status)


def _peak() -> int:
    """The maximum memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
