"""Tools in a sandboxed process, called over a channel and loaded again whenever the process has ended.

Tools that are only described, not called, are loaded in a separate process too, because loading runs code.
"""

import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice, repeat
from typing import Self

import msgspec
from msgspec.structs import replace

from misstep.adapters.processes import LOOK
from misstep.adapters.toolset.spec import file_of
from misstep.core.results.descriptions import reworded
from misstep.core.results.fuzzing import CodeReach
from misstep.core.tool import Described, Probe, Reaction
from misstep.errors import UsageError
from misstep.fuzzing.coverage import reach_of
from misstep.fuzzing.workbench import calls_in_flight
from misstep.tool_host.channel import Channel, ChannelLost, encoded
from misstep.tool_host.protocol import LAST_WORDS, CallConditions, CallerStopped, Overrun, ToolsLoaded
from misstep.tool_host.reactions import ReactionDecoder, died, hung
from misstep.tool_host.sandbox.places import anchored, is_server
from misstep.tool_host.sandbox.sandbox import Sandbox, refuse_remote, sandbox_for
from misstep.tool_host.sandbox_process import SOON, GivenUp, SandboxProcess

GRACE = 0.25  # seconds beyond the time limit of a call
EARLY = 0.25  # share of the time limit after which a call's CPU use is measured, since it may hang
PAUSE = 5.0  # seconds before an unreachable server is tried again
PLACES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


class ToolHost:
    """The tools of `spec`, in a sandboxed process that is started again when it has ended; a `Workbench`.

    `start` loads them, and raises `UsageError` if that fails. After that, whatever happens to the process is
    a reaction, and nothing is raised unless code cannot be loaded again. Calls to a server that is gone for
    good result in a `died` reaction. `tools`, `files`, `skipped` (messages about tools that were left out),
    `notes` (other oddities) and `about` (what servers say they are) are from the last time the tools were
    loaded.
    """

    def __init__(self, spec: str, conditions: CallConditions | None = None) -> None:
        self._conditions = conditions = conditions or CallConditions()
        self._limits = conditions.limits
        self._spec = anchored(spec)
        refuse_remote(self._spec, conditions)
        self.sandbox: Sandbox = sandbox_for(self._spec, conditions)
        self._is_server = self._is_apart = is_server(spec)
        self._is_over: Callable[[], bool] = lambda: False
        self._process: SandboxProcess | None = None
        self._line: Channel | None = None  # to the copy that accepts calls
        self.tools: tuple[Described, ...] = ()
        self.files: tuple[str, ...] = ()
        self.skipped: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.about: tuple[str, ...] = ()
        self._decoder = ReactionDecoder()
        self._is_fresh = False
        self._heard_at = 0.0
        self._patience = 1.0
        self._gone: Reaction | None = None
        self._gone_at = 0.0

    @property
    def starts_quickly(self) -> bool:
        return not self._is_apart

    def spec_of(self, tool: str) -> str:  # noqa: ARG002
        """The spec from which the tool can be loaded."""
        return self._spec

    def heed(self, is_over: Callable[[], bool]) -> None:
        """Make no more calls, and wait neither for calls nor for a restart, once `is_over` returns True."""
        self._is_over = is_over

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Load the tools and get ready for calls."""
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self._watch(False)
        self._is_fresh = True

    def close(self) -> None:
        """End all processes and remove all files."""
        self._abandon()
        self.sandbox.remove()

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and yield each reaction as soon as it is known.

        More probes are taken than there are reactions, so that both sides are busy: a generator of probes
        runs while earlier calls are made. After a call that hung, died or ran out of memory, the rest
        continues from the initial state.
        """
        source, self._patience = iter(probes), patience
        sent, unsent = deque[Probe](), deque[Probe]()
        most = calls_in_flight(self.starts_quickly)
        self._watch(True)
        try:
            while True:
                if len(sent) + len(unsent) <= most:
                    unsent += islice(source, most)
                if not sent and self._process is not None and self._process.has_news:
                    self._end(by_itself=True)  # it ended between calls
                if self._is_over():
                    return
                if self._line is None:
                    unsent.extendleft(reversed(sent))
                    sent.clear()
                    if gone := self._begin_again() if unsent else None:
                        yield from repeat(gone, len(unsent))
                        unsent.clear()
                        continue
                if not unsent and not sent:
                    return
                self._send(unsent, idle=not sent)
                sent += unsent
                unsent.clear()
                for reaction in self._reactions(len(sent)):
                    sent.popleft()
                    yield reaction
        except GivenUp:
            return
        finally:
            if sent:
                self._end()
            self._watch(False)

    def reset(self) -> None:
        """Restore the tools' state and files to what they were after loading."""
        if self._is_fresh or self._is_over():
            return
        self._end()
        with suppress(GivenUp):  # there will be no more calls, or a restart before them
            self._begin_again()
            self._watch(False)

    def forget(self) -> None:
        """Start the next call from the initial state, with no coverage recorded."""
        if not self._is_fresh:
            self._end()
        self._decoder.forget()

    def reach(self, tool: str) -> CodeReach | None:
        """How much of the tool's own code has run so far; None if that is unknown."""
        source = next((each.source for each in self.tools if each.name == tool), None)
        if source is None:
            return self._decoder.reach()
        return reach_of(source.file, source.line, source.text, self._decoder.lines_of(source.file))

    def _send(self, probes: Iterable[Probe], idle: bool) -> None:
        data = b"".join(encoded(probe) + b"\n" for probe in probes)
        if data:
            assert self._line is not None
            self._is_fresh = False
            self._line.put(data)
            self._heard_at = time.monotonic() if idle else self._heard_at

    def _reactions(self, most: int) -> Iterator[Reaction]:
        """The known reactions to the calls in flight; at least the first one."""
        try:
            rows = self._listen()
            if len(rows) > most:
                raise ChannelLost
            reactions = [self._decoder.take(row) for row in rows]
        except TimeoutError:
            yield hung(self._end(), self._limits, time.monotonic() - self._heard_at)
        except (ChannelLost, msgspec.MsgspecError, RecursionError):
            seconds = time.monotonic() - self._heard_at
            yield died(self._end(by_itself=True), self._limits, seconds)
        else:
            self._heard_at = time.monotonic()
            for reaction in reactions:
                if reaction.ended in LAST_WORDS:
                    self._end(by_itself=True)
                yield reaction

    def _listen(self) -> list[bytes]:
        """The next messages. Raises `ChannelLost` if there are no more, TimeoutError, or `GivenUp`."""
        line, sandbox_process = self._line, self._process
        assert line is not None
        assert sandbox_process is not None
        allowed = self._limits.timeout * self._patience
        until, early = self._heard_at + allowed + GRACE, self._heard_at + min(allowed * EARLY, LOOK)
        while True:
            line.flush()
            if line.read():
                if rows := line.take_all():
                    return rows
                continue
            now = time.monotonic()
            if early <= now:
                sandbox_process.measure()
                early = until + GRACE
            if now >= until:
                raise TimeoutError
            if self._is_over():
                raise GivenUp
            poll = select.poll()
            poll.register(line, select.POLLIN | (select.POLLOUT if line.busy else 0))
            poll.register(sandbox_process.control, select.POLLIN)
            left = min(min(early, until) - now, LOOK)
            if any(file == sandbox_process.control.fileno() for file, _ in poll.poll(left * 1000)):
                return _last_rows(line)

    def _begin_again(self) -> Reaction | None:
        """Open a copy of the tools to calls. Returns the reaction to all calls if their server is gone."""
        if self._gone is not None and time.monotonic() - self._gone_at < PAUSE:
            self._is_fresh = False
            return self._gone
        self._gone = None
        try:
            self._begin()
        except GivenUp:
            self._abandon()
            raise
        except UsageError as error:
            if not self._is_server:
                raise
            self._abandon()
            self._gone = Reaction("died", detail=f"the server can't be reached: {error.message}")
            self._gone_at = time.monotonic()
        self._is_fresh = self._gone is None
        return self._gone

    def _watch(self, busy: bool) -> None:
        if self._process is not None:
            self._process.watch(busy)

    def _end(self, by_itself: bool = False) -> CallerStopped | Overrun | None:
        """End the copy, or let it end by itself; if that fails, end the sandbox."""
        if self._line is None or self._process is None:
            return None
        self._line.close()
        self._line = None
        stopped = self._process.stopped(SOON) if by_itself else None
        ended = stopped or self._process.stop() or self._process.overrun()
        if not isinstance(ended, CallerStopped) or not ended.restored:
            self._abandon()
        return ended

    def _abandon(self) -> None:
        """End the sandbox."""
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.kill()
        self._line = self._process = None

    def _open(self) -> None:
        if self.sandbox.command:  # the files to hide may have changed
            self.sandbox = sandbox_for(self._spec, self._conditions)
        self.sandbox.prepare()
        arguments = self._spec, self._conditions, self.sandbox, self._is_apart
        self._process = SandboxProcess(*arguments, is_over=lambda: self._is_over())
        loaded = self._process.load()
        if loaded.forkable or self._is_apart:
            self._take(loaded)
            self._begin()
        else:
            self._is_apart = True
            self._abandon()
            self._open()

    def _begin(self) -> None:
        """Open a copy of the tools to calls, in a new sandbox if this one is gone."""
        assert self._line is None
        try:
            self._line = self._process.start() if self._process else None
        except ChannelLost:
            self._abandon()
        if self._process is None or self._line is None:
            self._open()
        elif self._is_apart:
            self._take(self._process.introduced(self._line))

    def _take(self, loaded: ToolsLoaded) -> None:
        self.files = loaded.files
        self.tools = tuple([reworded(each, self._conditions.wordings) for each in loaded.tools])
        self.skipped, self.notes, self.about = loaded.skipped, loaded.notes, loaded.about


def _last_rows(line: Channel) -> list[bytes]:
    """What a copy had sent before it ended. Raises `ChannelLost` if that was nothing."""
    with suppress(ChannelLost):
        while line.read():
            pass
    if rows := line.take_all():
        return rows
    raise ChannelLost


def read_apart(spec: str, conditions: CallConditions) -> ToolsLoaded:
    """The descriptions of the tools of a spec. Raises `UsageError` if there are none."""
    whole = anchored(spec)
    sandbox = sandbox_for(whole, conditions)
    sandbox.prepare()
    with ExitStack() as ending:
        ending.callback(sandbox.remove)
        sandbox_process = SandboxProcess(whole, conditions, sandbox, read=True)
        ending.callback(sandbox_process.kill)
        loaded = sandbox_process.load()
    tools = [replace(tool, where=tool.where.replace(file_of(whole), file_of(spec))) for tool in loaded.tools]
    return replace(loaded, tools=tuple(tools)) if file_of(spec) else loaded


def whole_environment(at_home: bool) -> dict[str, str]:
    """All our environment variables; those for file locations only if `at_home`."""
    return {name: value for name, value in os.environ.items() if at_home or name not in PLACES}
