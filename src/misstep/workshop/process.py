"""A workbench in a process of its own, which goes on whatever the tools do to it."""

import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat
from types import TracebackType

import msgspec

from misstep.core.finding import Reach
from misstep.core.tool import Described, Probe, Reaction
from misstep.errors import UsageError
from misstep.tooling.coverage import reach_of
from misstep.tooling.workbench import AHEAD
from misstep.workshop.conditions import Conditions
from misstep.workshop.endings import died, hung
from misstep.workshop.housing import SOON, Housing
from misstep.workshop.line import Line, Lost
from misstep.workshop.protocol import LAST_WORDS, Loaded, Overrun, Report, Stopped
from misstep.workshop.sandbox.destruction import refuse_destruction
from misstep.workshop.sandbox.places import anchored, is_remote, is_server
from misstep.workshop.sandbox.sandbox import Sandbox, sandbox_for

GRACE = 0.25  # seconds beyond the time for a call
PAUSE = 5.0  # seconds until a server that could not be reached is looked for again
LOOK = 0.5  # seconds until somebody who waits looks whether to go on

_encoder = msgspec.json.Encoder()
_reports = msgspec.json.Decoder(Report)


class _GivenUp(Exception):
    """Nobody wants to know what comes of the calls that are under way."""


class Process:
    """The tools that `spec` means, in a process within a sandbox; it is a `Workbench`.

    `start` loads them, and raises a `UsageError` where they can't be, or where nothing would keep tools that
    look destructive from doing harm. Afterwards whatever happens to the process is a reaction, and nothing is
    raised unless code can't be loaded again: calls to a server that is gone for good come to its death.
    `skipped` tells of tools that were left out, `notes` of what else was odd when they were loaded.
    """

    def __init__(self, spec: str, conditions: Conditions | None = None) -> None:
        self._spec = anchored(spec)
        self._conditions = conditions or Conditions()
        self.sandbox: Sandbox = sandbox_for(self._spec, self._conditions)
        self._is_server = self._apart = is_server(spec)
        self._housing: Housing | None = None
        self._line: Line | None = None
        self._tools: tuple[Described, ...] = ()
        self._files: tuple[str, ...] = ()
        self.skipped: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self._lines = dict[str, set[int]]()
        self._is_fresh = False
        self._heard_at = 0.0
        self._gone: Reaction | None = None
        self._gone_at = 0.0
        self._patience = 1.0
        self._is_over: Callable[[], bool] = lambda: False

    @property
    def tools(self) -> Sequence[Described]:
        return self._tools

    @property
    def files(self) -> Sequence[str]:
        return self._files

    @property
    def starts_quickly(self) -> bool:
        return not self._apart

    def heed(self, is_over: Callable[[], bool]) -> None:
        """Make no more calls, and wait for none, as soon as this says so."""
        self._is_over = is_over

    def __enter__(self) -> "Process":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Load the tools, and be ready for calls."""
        try:
            self._open()
            refuse_destruction(self._tools, self.sandbox, self._conditions, is_remote(self._spec))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End everything, and leave nothing behind."""
        self._abandon()
        self.sandbox.remove()

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and give what came of each as soon as it is known.

        Some more probes are taken than there are reactions, so that both sides are busy: whoever makes probes
        one by one does so while earlier ones are carried out. After one that hung or died the rest goes on
        with everything as it was at the beginning. So it does after one that took all memory.
        """
        source, self._patience = iter(probes), patience
        sent, unsent = deque[Probe](), deque[Probe]()
        try:
            while True:
                if len(sent) + len(unsent) <= AHEAD:
                    unsent += islice(source, AHEAD)
                if not sent and self._housing is not None and self._housing.has_news:
                    self._end(by_itself=True)  # while nobody asked anything of it
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
        except _GivenUp:
            return
        finally:
            if sent:
                self._end()

    def reset(self) -> None:
        """Put the tools' state and their files back to what they were when they had been loaded."""
        if not self._is_fresh and not self._is_over():
            self._end()
            self._begin_again()

    def forget(self) -> None:
        """Begin anew with the next call, as far as anybody can see: with nothing reached yet."""
        if not self._is_fresh:
            self._end()
        self._lines.clear()

    def reach(self, tool: str) -> Reach | None:
        """How much of the tool's own code has been run so far; None where it can't be seen."""
        source = next((each.source for each in self._tools if each.name == tool), None)
        if source is None or not self._conditions.watched:
            return None
        return reach_of(source.file, source.line, source.text, self._lines.get(source.file, set()))

    def _open(self) -> None:
        if self.sandbox.holds:  # what there is to hide may have changed
            self.sandbox = sandbox_for(self._spec, self._conditions)
        self.sandbox.prepare()
        self._housing = Housing(self._spec, self._conditions, self.sandbox, self._apart)
        loaded = self._housing.load()
        if not loaded.forkable and not self._apart:
            self._apart = True
            self._abandon()
            return self._open()
        self._take(loaded)
        self._begin()
        return None

    def _take(self, loaded: Loaded) -> None:
        self._tools, self._files = loaded.tools, loaded.files
        self.skipped, self.notes = loaded.skipped, loaded.notes

    def _begin_again(self) -> Reaction | None:
        """Open a copy of the tools to calls; what comes of all calls if their server can't be had again."""
        if self._gone is not None and time.monotonic() - self._gone_at < PAUSE:
            return self._gone
        self._gone = None
        try:
            self._begin()
        except UsageError as error:
            if not self._is_server:
                raise
            self._abandon()
            self._gone = Reaction("died", detail=f"the server can't be reached: {error.message}")
            self._gone_at = time.monotonic()
        return self._gone

    def _begin(self) -> None:
        """Open a copy of the tools to calls, in another sandbox if this one is gone."""
        assert self._line is None
        if self._housing is None:
            return self._open()
        try:
            self._line = self._housing.start()
        except Lost:
            self._abandon()
            return self._open()
        if self._apart:
            self._take(self._housing.introduced(self._line))
        self._is_fresh = True
        return None

    def _end(self, by_itself: bool = False) -> Stopped | Overrun | None:
        """End the copy, unless it does so by itself; where that can't be done, the sandbox."""
        if self._line is None or self._housing is None:
            return None
        self._line.close()
        self._line = None
        stopped = self._housing.stopped(SOON) if by_itself else None
        ended = stopped or self._housing.stop() or self._housing.overrun()
        if not isinstance(ended, Stopped) or not ended.restored:
            self._abandon()
        return ended

    def _abandon(self) -> None:
        """End the sandbox."""
        if self._line is not None:
            self._line.close()
        if self._housing is not None:
            self._housing.kill()
        self._line = self._housing = None

    def _send(self, probes: Iterable[Probe], idle: bool) -> None:
        data = b"".join(_encoder.encode(probe) + b"\n" for probe in probes)
        if data:
            assert self._line is not None
            self._is_fresh = False
            self._line.put(data)
            self._heard_at = time.monotonic() if idle else self._heard_at

    def _reactions(self, most: int) -> Iterator[Reaction]:
        """What came of the calls that are under way, as far as it is known; at least of the first."""
        limits = self._conditions.limits
        try:
            rows = self._listen()
            if len(rows) > most:
                raise Lost
            reports = [_reports.decode(row) for row in rows]
        except TimeoutError:
            yield hung(self._end(), limits, time.monotonic() - self._heard_at)
        except (Lost, msgspec.MsgspecError, RecursionError):
            seconds = time.monotonic() - self._heard_at
            yield died(self._end(by_itself=True), limits, seconds)
        else:
            self._heard_at = time.monotonic()
            yield from map(self._known, reports)

    def _listen(self) -> list[bytes]:
        """The next rows. Raises `Lost` if there won't be any, and a TimeoutError if it takes too long.

        Raises `_GivenUp` if nobody waits for them any more.
        """
        assert self._line is not None
        assert self._housing is not None
        line, control = self._line, self._housing.control
        until = self._heard_at + self._conditions.limits.timeout * self._patience + GRACE
        while True:
            line.flush()
            if line.read():
                if rows := line.take_all():
                    return rows
                continue
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if self._is_over():
                raise _GivenUp
            poll = select.poll()
            poll.register(line, select.POLLIN | (select.POLLOUT if line.busy else 0))
            poll.register(control, select.POLLIN)
            if any(file == control.fileno() for file, _ in poll.poll(min(left, LOOK) * 1000)):
                return _last_rows(line)

    def _known(self, report: Report) -> Reaction:
        if report.reaction.ended in LAST_WORDS:
            self._end(by_itself=True)
        for file, lines in report.lines.items():
            self._lines.setdefault(file, set()).update(lines)
        return report.reaction


def _last_rows(line: Line) -> list[bytes]:
    """What a copy that has ended had said before. Raises `Lost` if it was nothing."""
    try:
        while line.read():
            pass
    except Lost:
        pass
    if rows := line.take_all():
        return rows
    raise Lost
