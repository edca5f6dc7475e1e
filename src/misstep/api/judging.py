"""Judge transcripts in a process that runs nothing but the judge, out of reach of agents in this one."""

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import msgspec

from misstep.api.costs import is_theirs
from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.settings import Settings
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict
from misstep.planning.judging.explanation import check

PATH = [os.path.abspath(folder) for folder in sys.path]  # as it was before any agent was loaded
START = "import sys; sys.path[:] = sys.argv[1:]; from misstep.api.judging import serve; serve()"
UNKNOWN = "unknown"  # the answer to a transcript whose case was never handed over
SIZE = 8  # bytes that say how long a message is
MOST_EXPECTED = 10_000  # cases that are kept for transcripts that never come
ATTEMPTS = 4  # to judge a transcript, while agents end the process
KILLED = f"the process that judges was ended {ATTEMPTS} times, as by the agent, before there was a verdict"

_pack, _unpack = msgspec.msgpack.encode, msgspec.msgpack.decode

# Given a transcript and how parallel calls count, the verdict on it.
Judge = Callable[[Transcript, str], Verdict]


def judge_for(settings: Settings, agent: Agent | None) -> "JudgeProcess | None":
    """The judge for an agent whose code runs in this process; None where that is our own, or runs elsewhere.

    It has to be called before that code is loaded.
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
        if os.getpid() == pid:  # not in a child that the process has forked
            judge.close()

    atexit.register(close)
    return judge


class JudgeProcess:
    """Keeps each case from before its agent sees it, and judges what the agent did with it.

    Should an agent end the process or close its pipes, another one is started.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._process = _start()

    def expect(self, case: Case) -> Judge:
        """Hand over a case; what is returned judges one transcript of it."""
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
                    if answer == UNKNOWN:  # another process has taken over since
                        self._send(["case", number, msgspec.to_builtins(case)])
                        answer = self._ask(asked)
                    return msgspec.convert(answer, Verdict)
                except (OSError, msgspec.DecodeError):
                    self._restart()
        return Verdict(case.id, "errored", explanation=KILLED)

    def _ask(self, message: Any) -> Any:
        self._send(message)
        answer = _receive(self._process.stdout)
        if answer is None:
            raise BrokenPipeError
        return answer

    def _send(self, message: Any) -> None:
        _write(self._process.stdin, message)

    def _restart(self) -> None:
        self._process.kill()
        self.close()
        self._process = _start()


def _start() -> "subprocess.Popen[bytes]":
    """In a session of its own, so that Ctrl-C in the terminal does not reach it."""
    command = [sys.executable, "-I", "-c", START, *PATH]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True)


def serve() -> None:
    """Judge what comes on standard input until it ends."""
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
    """The next message, None at the end of the stream."""
    size = stream.read(SIZE)
    return _unpack(stream.read(int.from_bytes(size, "big"))) if len(size) == SIZE else None
