"""The toolbox of one attempt, which records what the agent does with it, and its time limit."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

import msgspec

from misstep.core.agent import Answer, StepsExhausted, Tool
from misstep.core.outcome import Call, Metered, Transcript, Usage
from misstep.core.secrets import Redactor
from misstep.core.spending import AGENT, UNCOUNTED, Account
from misstep.core.surroundings import restore
from misstep.core.text import ANSWER, MESSAGE, NAME, TEXT, TextLimiter, error_in_words

LONGEST = 3600.0


class Deadline:
    """Cancels what runs inside it when time is up. It can be extended or shortened from any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._extended = 0.0
        self._struck = False
        self._running = False
        self._lock = threading.Lock()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._limit = asyncio.timeout(self._seconds)
        await self._limit.__aenter__()
        self._running = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running = False
        await self._limit.__aexit__(kind, error, trace)

    @property
    def passed(self) -> bool:
        """Whether time is up, even if a blocked event loop kept the timeout from firing."""
        return self._limit.expired() or self._loop.time() - self._began > self._seconds

    def extend(self, seconds: float) -> None:
        """Extend the limit, by at most an hour in all; a negative number takes back part of an extension."""
        if not math.isfinite(seconds):
            return
        with self._lock:
            before, self._extended = self._extended, max(0.0, min(LONGEST, self._extended + seconds))
            self._seconds += self._extended - before
        self._reschedule()

    def strike(self) -> None:
        """End the time now, whatever is extended later."""
        self._struck = True
        self._reschedule()

    def _reschedule(self) -> None:
        def do() -> None:
            if self._running and not self._limit.expired():
                self._limit.reschedule(self._loop.time() if self._struck else self._began + self._seconds)

        if self._running:
            self._loop.call_soon_threadsafe(do)


NOTHING_SECRET = Redactor()
CALLS_PER_STEP = 20  # limits an agent that calls endlessly within one turn
MOST_TOKENS = 1 << 48  # limits the token counts that an agent reports
MOST_MESSAGES = 10_000
MOST_WARNINGS = 20
MOST_METERED = 1_000
LEFT_OUT = "the remaining messages are omitted: too many"


class ToolWorld(Protocol):
    @property
    def tools(self) -> Sequence[Tool]: ...

    def answer(self, name: str, arguments: Any) -> str:
        """The result of a call, or a text that says what was wrong with it.

        It may depend on earlier calls; the calls of one turn come in the order in which they were emitted.
        """
        ...

    def renewed(self) -> "ToolWorld":
        """A new copy of the world in its initial state."""
        ...


class _Entry(msgspec.Struct):
    """A recorded call; `ran` is None until it is executed, `result` until the world has been asked."""

    tool: str
    arguments: Any
    turn: int
    at: float
    result: str | None = None
    ran: int | None = None


class Recorder:
    """A `Toolbox` in front of a world. `max_steps` limits the agent's turns, `clock` gives seconds."""

    def __init__(
        self,
        world: ToolWorld,
        deadline: Deadline,
        max_steps: int,
        redact: Redactor = NOTHING_SECRET,
        keep_messages: bool = False,
        account: Account = UNCOUNTED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._world = world
        self._deadline = deadline
        self._words = TextLimiter(redact)
        self._raw_words = TextLimiter(redact, text=ANSWER, value=MESSAGE)
        self._keeps_messages = keep_messages
        self._account = account
        self._clock = clock
        self._began = clock()
        self._lock = threading.RLock()
        self._entries = list[_Entry]()
        self._seen = list[int]()  # indices of the calls that the world has answered
        self._ran = 0
        self._turns = 0
        self._tells_turns = False
        self._closed = False
        self.exhausted = False  # the agent tried to continue past its last turn (it may catch the exception)
        self.max_steps = max_steps
        self.usage = Usage()
        self.metered = list[Metered]()
        self.misread_turns = 0
        self.messages = list[Any]()
        self.warnings = list[str]()

    @property
    def tools(self) -> Sequence[Tool]:
        return self._world.tools

    @property
    def calls(self) -> tuple[Call, ...]:
        with self._lock:
            order = [entry.ran for entry in self._entries if entry.ran is not None]
            as_emitted = order == sorted(order)
            return tuple([_call(entry, as_emitted) for entry in self._entries])

    def transcript(self, case: str, answer: Answer, broken: str = "") -> Transcript:
        return Transcript(
            case,
            self.calls,
            answer.ended,
            self._words.text(answer.text, ANSWER),
            self._words.text(broken, ANSWER),
            self.usage,
            self.misread_turns,
            tuple(self.messages),
            tuple(self.metered),
        )

    def begin_turn(self) -> int:
        restore()
        with self._lock:
            self._admit(self._turns + 1)
            self._tells_turns = True
            return self._turns

    # The agent's own objects are converted before the lock is taken: their code may never return.

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        name, arguments, turn = self._words.text(name, NAME), self._words.json(arguments), _numbered(turn)
        with self._lock:
            turn = max(1, self._turns) if turn is None else turn
            self._admit(turn)
            self._enter(name, arguments, turn)

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        restore()
        name, arguments, turn = self._words.text(name, NAME), self._words.json(arguments), _numbered(turn)
        with self._lock:
            self._admit(self._turns)
            entry = self._asked_for(name, arguments, turn)
            if entry is None:
                if turn is None:  # one of its own, unless the agent reports turns
                    turn = self._turns + (0 if self._tells_turns else 1)
                self._admit(turn)
                entry = self._enter(name, arguments, turn)
            self._ran += 1
            entry.ran = self._ran
            return self._result(entry)

    def misread(self) -> None:
        with self._lock:
            self.misread_turns += 1

    def spend(self, usage: Usage) -> None:
        usage = Usage(_counted(usage.input), _counted(usage.output), _counted(usage.cached))
        with self._lock:
            self.usage += usage
            if len(self.metered) < MOST_METERED:
                self.metered.append(Metered(self._now(), usage))
        self._account.spend(AGENT, usage)

    def wait(self, seconds: float) -> None:
        self._deadline.extend(seconds)

    def note(self, message: Any) -> None:
        if not self._keeps_messages:
            return
        kept = self._raw_words.json(message)
        with self._lock:
            if len(self.messages) < MOST_MESSAGES:
                self.messages.append(kept)
            else:
                self.messages[-1] = LEFT_OUT

    def warn(self, text: str) -> None:
        text = self._words.text(text, TEXT)
        with self._lock:
            if text not in self.warnings and len(self.warnings) < MOST_WARNINGS:
                self.warnings.append(text)

    def close(self) -> None:
        """Accept no more calls: whatever still uses the toolbox belongs to a case that is over."""
        with self._lock:
            self._closed = True

    def _enter(self, name: str, arguments: Any, turn: int) -> _Entry:
        if len(self._entries) >= CALLS_PER_STEP * self.max_steps:
            self._exhaust()
        entry = _Entry(name, arguments, turn, self._now())
        self._entries.append(entry)
        self._account.call()
        return entry

    def _now(self) -> float:
        return round(self._clock() - self._began, 6)

    def _asked_for(self, name: str, arguments: Any, turn: int | None) -> _Entry | None:
        """The call asked for earlier that this one executes.

        Prefers one of the given turn, then one with these arguments, then one of the newest turn: earlier
        requests that were not executed by then have been discarded. The first of equal ones is used.
        """
        waiting = [entry for entry in self._entries if entry.ran is None and entry.tool == name]
        waiting = [entry for entry in waiting if entry.turn == turn] or waiting
        waiting = [entry for entry in waiting if entry.arguments == arguments] or waiting
        if len(waiting) > 1:
            waiting = [entry for entry in waiting if _same(entry.arguments, arguments)] or waiting
        newest = max((entry.turn for entry in waiting), default=0)
        return next((entry for entry in waiting if entry.turn == newest), None)

    def _result(self, entry: _Entry) -> str:
        """The result of a call, from a world that has seen the calls before it in the order emitted.

        Calls of one turn may be executed in any order; the result of a call that is not executed yet is kept
        until it is. If it never is, later turns see a world in which it has not happened, and the judge
        ignores it too.
        """
        due = self._up_to(entry)
        if self._seen[: len(due)] == due:
            return entry.result or ""
        if due[: len(self._seen)] != self._seen:
            self._world, self._seen = self._world.renewed(), []
        for place in due[len(self._seen) :]:
            self._seen.append(place)
            each = self._entries[place]
            said = self._words.text(self._answer(each), ANSWER)
            if each is entry or each.ran is None:  # the others have their result
                each.result = said
        return entry.result or ""

    def _up_to(self, entry: _Entry) -> list[int]:
        """Indices of the call and of earlier ones that were executed, or may be in its turn."""
        places = list[int]()
        for place, each in enumerate(self._entries):
            if each.ran is not None or each.turn == entry.turn:
                places.append(place)
            if each is entry:
                break
        return places

    def _answer(self, entry: _Entry) -> str:
        try:
            # What the model wrote counts, even if a framework has corrected it on the way.
            return self._world.answer(entry.tool, entry.arguments)
        except Exception as error:
            return f"Error: {error_in_words(error)}"

    def _admit(self, turn: int) -> None:
        """Let the agent continue in this turn, or raise `StepsExhausted`."""
        if self._closed:
            raise StepsExhausted
        if self.exhausted or turn > self.max_steps:
            self._exhaust()
        self._turns = max(self._turns, turn)

    def _exhaust(self) -> NoReturn:
        self.exhausted = True
        self._deadline.strike()  # for agents that treat the exception as a failed tool call
        raise StepsExhausted


def _call(entry: _Entry, as_emitted: bool) -> Call:
    if entry.ran is None:
        return Call(entry.tool, entry.arguments, "", entry.turn, entry.at, -1)
    ran = 0 if as_emitted else entry.ran
    return Call(entry.tool, entry.arguments, entry.result or "", entry.turn, entry.at, ran)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are all different."""
    encode = msgspec.json.encode
    return encode(one, order="deterministic") == encode(other, order="deterministic")


def _numbered(turn: int | None) -> int | None:
    return None if turn is None else max(1, int(turn))


def _counted(tokens: int) -> int:
    return max(0, min(int(tokens), MOST_TOKENS))
