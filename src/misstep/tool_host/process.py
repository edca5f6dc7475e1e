"""A workbench in a separate process that survives whatever the tools do."""

import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat
from types import TracebackType

import msgspec

from misstep.adapters.processes import LOOK
from misstep.core.results.finding import CodeReach
from misstep.core.tool import Described, Probe, Reaction
from misstep.fuzzing.coverage import reach_of
from misstep.fuzzing.workbench import AHEAD
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.load_waiter import GivenUp
from misstep.tool_host.protocol import LAST_WORDS, CallConditions
from misstep.tool_host.reactions import ReactionDecoder, died, hung
from misstep.tool_host.restarting import RestartingHost
from misstep.tool_host.sandbox.sandbox import Sandbox

GRACE = 0.25  # seconds beyond the time limit of a call
EARLY = 0.25  # share of the time limit after which a call's CPU use is measured, since it may hang

_encoder = msgspec.json.Encoder()


class Process:
    """The tools of `spec`, in a process within a sandbox; a `Workbench`.

    `start` loads them, and raises `UsageError` if that fails. After that, whatever happens to the process is
    a reaction, and nothing is raised unless code cannot be loaded again. Calls to a server that is gone for
    good result in a `died` reaction.
    """

    def __init__(self, spec: str, conditions: CallConditions | None = None) -> None:
        conditions = conditions or CallConditions()
        self._limits = conditions.limits
        self._host = RestartingHost(spec, conditions)
        self._decoder = ReactionDecoder()
        self._is_fresh = False
        self._heard_at = 0.0
        self._patience = 1.0

    def spec_of(self, tool: str) -> str:  # noqa: ARG002
        """The spec from which the tool can be loaded."""
        return self._host.spec

    @property
    def tools(self) -> Sequence[Described]:
        return self._host.tools

    @property
    def files(self) -> Sequence[str]:
        return self._host.files

    @property
    def skipped(self) -> Sequence[str]:
        """Messages about tools that were left out."""
        return self._host.skipped

    @property
    def notes(self) -> Sequence[str]:
        """Messages about other oddities when the tools were loaded."""
        return self._host.notes

    @property
    def sandbox(self) -> Sandbox:
        return self._host.sandbox

    @property
    def starts_quickly(self) -> bool:
        return not self._host.is_apart

    def heed(self, is_over: Callable[[], bool]) -> None:
        """Make no more calls, and wait neither for calls nor for a restart, once `is_over` returns True."""
        self._host.is_over = is_over

    def __enter__(self) -> "Process":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Load the tools and get ready for calls."""
        self._host.start()
        self._host.watch(False)
        self._is_fresh = True

    def close(self) -> None:
        """End all processes and remove all files."""
        self._host.close()

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and yield each reaction as soon as it is known.

        More probes are taken than there are reactions, so that both sides are busy: a generator of probes
        runs while earlier calls are made. After a call that hung, died or ran out of memory, the rest
        continues from the initial state.
        """
        source, self._patience = iter(probes), patience
        sent, unsent = deque[Probe](), deque[Probe]()
        host = self._host
        host.watch(True)
        try:
            while True:
                if len(sent) + len(unsent) <= AHEAD:
                    unsent += islice(source, AHEAD)
                if not sent and host.sandbox_process is not None and host.sandbox_process.has_news:
                    host.end(by_itself=True)  # it ended between calls
                if host.is_over():
                    return
                if host.line is None:
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
                host.end()
            host.watch(False)

    def reset(self) -> None:
        """Restore the tools' state and files to what they were after loading."""
        if self._is_fresh or self._host.is_over():
            return
        self._host.end()
        try:
            self._begin_again()
            self._host.watch(False)
        except GivenUp:
            return  # there will be no more calls, or a restart before them

    def forget(self) -> None:
        """Start the next call from the initial state, with no coverage recorded."""
        if not self._is_fresh:
            self._host.end()
        self._decoder.forget()

    def reach(self, tool: str) -> CodeReach | None:
        """How much of the tool's own code has run so far; None if that is unknown."""
        source = next((each.source for each in self.tools if each.name == tool), None)
        if source is None:
            return None
        return reach_of(source.file, source.line, source.text, self._decoder.lines_of(source.file))

    def _begin_again(self) -> Reaction | None:
        gone = self._host.begin_again()
        self._is_fresh = gone is None
        return gone

    def _send(self, probes: Iterable[Probe], idle: bool) -> None:
        data = b"".join(_encoder.encode(probe) + b"\n" for probe in probes)
        if data:
            assert self._host.line is not None
            self._is_fresh = False
            self._host.line.put(data)
            self._heard_at = time.monotonic() if idle else self._heard_at

    def _reactions(self, most: int) -> Iterator[Reaction]:
        """The known reactions to the calls in flight; at least the first one."""
        try:
            rows = self._listen()
            if len(rows) > most:
                raise ChannelLost
            reactions = [self._decoder.take(row) for row in rows]
        except TimeoutError:
            yield hung(self._host.end(), self._limits, time.monotonic() - self._heard_at)
        except (ChannelLost, msgspec.MsgspecError, RecursionError):
            seconds = time.monotonic() - self._heard_at
            yield died(self._host.end(by_itself=True), self._limits, seconds)
        else:
            self._heard_at = time.monotonic()
            for reaction in reactions:
                if reaction.ended in LAST_WORDS:
                    self._host.end(by_itself=True)
                yield reaction

    def _listen(self) -> list[bytes]:
        """The next messages. Raises `Lost` if there are no more, and TimeoutError if it takes too long.

        Raises `GivenUp` if the caller no longer waits.
        """
        line, sandbox_process = self._host.line, self._host.sandbox_process
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
            if self._host.is_over():
                raise GivenUp
            poll = select.poll()
            poll.register(line, select.POLLIN | (select.POLLOUT if line.busy else 0))
            poll.register(sandbox_process.control, select.POLLIN)
            left = min(min(early, until) - now, LOOK)
            if any(file == sandbox_process.control.fileno() for file, _ in poll.poll(left * 1000)):
                return _last_rows(line)


def _last_rows(line: Channel) -> list[bytes]:
    """What a copy had sent before it ended. Raises `Lost` if that was nothing."""
    try:
        while line.read():
            pass
    except ChannelLost:
        pass
    if rows := line.take_all():
        return rows
    raise ChannelLost
