"""Runs one agent on planning cases, judges it in another process, and masks secrets.

The judge's process runs nothing else, so that agents in this process can't reach it.
"""

import asyncio
import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar

import msgspec

from misstep.core.agent import Agent, Assignment, Closing, Displaced, Preparing
from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.rng import derive_seed
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.settings import AgentSettings, LimitSettings
from misstep.core.spending import UNCOUNTED, Account
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.errors import MisstepError
from misstep.planning.difficulty import baselines
from misstep.planning.judging.check import check
from misstep.planning.world.mock import MockWorld
from misstep.runs.budget import is_theirs

PATH = [os.path.abspath(folder) for folder in sys.path]  # as it was before any agent was loaded
START = "import sys; sys.path[:] = sys.argv[1:]; from misstep.runs.execution import serve; serve()"
UNKNOWN = "unknown"  # the answer to a transcript whose case the process does not have
SIZE = 8  # bytes for the length of a message
MOST_EXPECTED = 10_000  # cases that are kept for transcripts that never arrive
ATTEMPTS = 4  # attempts to judge a transcript, in case agents end the process
KILLED = f"the judging process was killed {ATTEMPTS} times before it reached a verdict, possibly by the agent"

_pack, _unpack = msgspec.msgpack.encode, msgspec.msgpack.decode

# Returns the verdict on a transcript, given how parallel calls count.
Judge = Callable[[Transcript, str], Verdict]


def judge_for(settings: AgentSettings, agent: Agent | None) -> "JudgeProcess | None":
    """The judge for an agent whose code runs in this process; None if it is ours or runs elsewhere.

    Call it before that code is loaded.
    """
    elsewhere = settings.python or settings.agent.startswith("mcp:")
    if agent is None and (elsewhere or not is_theirs(settings)):
        return None
    return _judge_of(os.getpid())


@cache
def _judge_of(pid: int) -> "JudgeProcess":
    """One for each process, since starting takes longer than judging a thousand cases."""
    judge = JudgeProcess()

    def close() -> None:
        if os.getpid() == pid:  # not in a forked child of the process
            judge.close()

    atexit.register(close)
    return judge


class JudgeProcess:
    """Receives each case before the agent sees it, and judges what the agent did with it.

    If an agent ends the process or closes its pipes, another one is started.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._process = _start()

    def expect(self, case: Case) -> Judge:
        """Send a case; the returned function judges one transcript of it."""
        with self._lock:
            self._count += 1
            number = self._count
            with suppress(OSError):  # if it has ended, the case is sent with the transcript
                self._send(["case", number, msgspec.to_builtins(case)])
        return lambda transcript, parallel: self._judge(number, case, transcript, parallel)

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream and stream.close()
        with suppress(OSError):
            self._process.wait()

    def _judge(self, number: int, case: Case, transcript: Transcript, parallel: str) -> Verdict:
        asked = ["transcript", number, msgspec.to_builtins(transcript), parallel]
        with self._lock:
            for _ in range(ATTEMPTS):
                try:
                    answer = self._ask(asked)
                    if answer == UNKNOWN:  # the process was replaced
                        self._send(["case", number, msgspec.to_builtins(case)])
                        answer = self._ask(asked)
                    return msgspec.convert(answer, Verdict)
                except (OSError, msgspec.DecodeError):
                    self._process.kill()
                    self.close()
                    self._process = _start()
        return Verdict(case.id, "errored", explanation=KILLED)

    def _ask(self, message: Any) -> Any:
        self._send(message)
        answer = _receive(self._process.stdout)
        if answer is None:
            raise BrokenPipeError
        return answer

    def _send(self, message: Any) -> None:
        _write(self._process.stdin, message)


def _start() -> "subprocess.Popen[bytes]":
    """Start it in its own session, so that Ctrl-C in the terminal does not reach it."""
    command = [sys.executable, "-I", "-c", START, *PATH]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True)


def serve() -> None:
    cases = dict[int, Case]()
    while (message := _receive(sys.stdin.buffer)) is not None:
        match message:
            case ["case", number, case]:
                cases[number] = msgspec.convert(case, Case)
                if len(cases) > MOST_EXPECTED:
                    del cases[next(iter(cases))]
            case ["transcript", number, transcript, parallel] if number in cases:
                verdict = check(cases.pop(number), msgspec.convert(transcript, Transcript), parallel)
                _write(sys.stdout.buffer, msgspec.to_builtins(verdict))
            case ["transcript", *_]:
                _write(sys.stdout.buffer, UNKNOWN)


def _write(stream: Any, message: Any) -> None:
    data = _pack(message)
    stream.write(len(data).to_bytes(SIZE, "big") + data)
    stream.flush()


def _receive(stream: Any) -> Any:
    """The next message, or None at the end of the stream."""
    size = stream.read(SIZE)
    return _unpack(stream.read(int.from_bytes(size, "big"))) if len(size) == SIZE else None


CLOSING_SECONDS = 10.0
NO_CALLS = "The judge passed a plan without calls, which no case allows: it has been tampered with."

_environment: dict[object, object] = {}  # as of the last check
_secrets: tuple[str, ...] = ()  # of this process, kept even if their variables are removed


@asynccontextmanager
async def at_work(agent: Agent) -> AsyncIterator[None]:
    """Prepare an agent, and release its resources at the end."""
    try:
        if isinstance(agent, Preparing) and iscoroutinefunction(agent.prepare):
            await agent.prepare()
        yield
    finally:
        if isinstance(agent, Closing) and iscoroutinefunction(agent.close):
            # All results are stored: an agent that fails to clean up must not lose them.
            with suppress(Exception):
                async with asyncio.timeout(CLOSING_SECONDS):
                    await agent.close()


async def execute_once(
    agent: Agent, settings: LimitSettings, case: Case, judge_process: JudgeProcess | None = None
) -> Outcome:
    async with at_work(agent):
        return await execute(agent, settings, case, judge_process=judge_process)


async def execute(
    agent: Agent,
    settings: LimitSettings,
    case: Case,
    account: Account = UNCOUNTED,
    judge_process: JudgeProcess | None = None,
) -> Outcome:
    """Run the agent on a case and judge it, in the judge's own process if there is one."""
    while True:  # ends: each displacement is the end of another case
        with suppress(Displaced):
            judging = judge_process.expect(case) if judge_process else None
            began = time.monotonic()
            deadline = Deadline(settings.timeout)
            recorder = record(case, settings, deadline, account)
            # Not the seed of the case: the agent's randomness must not depend on how the case was made.
            assignment = Assignment(case.query, derive_seed(case.seed, "agent"))
            answer, broken = await attempt(agent, assignment, recorder, deadline)
            transcript = recorder.transcript(case.id, answer, broken)
            return judge(case, settings, transcript, time.monotonic() - began, judging)


def record(case: Case, settings: LimitSettings, deadline: Deadline, account: Account = UNCOUNTED) -> Recorder:
    redact = Redactor(known_secrets())
    return Recorder(MockWorld(case), deadline, settings.max_steps, redact, settings.messages, account)


def known_secrets() -> tuple[str, ...]:
    """Every secret that has been in the environment so far, the longest first."""
    global _environment, _secrets
    raw = getattr(os.environ, "_data", None)  # iterating over the mapping takes longer than all the rest
    if raw is None or raw != _environment:
        _environment = dict(raw or {})
        found = {*_secrets, *secrets_in(os.environ)}
        _secrets = tuple(sorted(found, key=len, reverse=True))
    return _secrets


def judge(
    case: Case, settings: LimitSettings, transcript: Transcript, seconds: float, judging: Judge | None = None
) -> Outcome:
    transcript = _masked(transcript)
    decide = judging or partial(check, case)
    verdict = decide(transcript, settings.parallel)
    if verdict.verdict == "passed" and not transcript.calls:
        verdict = Verdict(case.id, "errored", explanation=NO_CALLS)
    return Outcome(case, transcript, verdict, round(seconds, 6), baselines(case))


def _masked(transcript: Transcript) -> Transcript:
    """Mask keys that the agent loaded only after its case began, for example from a file."""
    secrets = known_secrets()
    text = msgspec.json.encode(transcript).decode()
    if not any(secret in text for secret in secrets):
        return transcript
    return msgspec.convert(Redactor(secrets).within(msgspec.to_builtins(transcript)), Transcript)


T = TypeVar("T", bound=msgspec.Struct)


def masked(told: T) -> T:
    """The same value without secrets, which tools, models and agents may repeat."""
    plain = msgspec.to_builtins(told)
    clean = Redactor(known_secrets()).within(plain)
    return told if clean == plain else msgspec.convert(clean, type(told))


def mask_error(error: MisstepError) -> None:
    """Remove secrets from an error, which may quote a model."""
    redact = Redactor(known_secrets())
    error.message, error.where = redact(error.message), redact(error.where)
    error.hints = tuple(map(redact, error.hints))
