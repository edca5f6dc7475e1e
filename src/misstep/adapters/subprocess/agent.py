"""Runs an agent in worker processes: as many as there are concurrent cases, one case at a time in each."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from misstep.adapters.processes import LOOK, Patience, family_seconds, kill_process_tree
from misstep.adapters.subprocess import protocol as say
from misstep.adapters.subprocess.worker import OLDEST
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, Meter, StepsExhausted, Toolbox
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.text import readable
from misstep.errors import MisstepError, UsageError

ENTRY = Path(__file__).with_name("worker.py")
SERVING = "misstep.adapters.subprocess.serving"
GRACE = 5.0  # seconds until killed processes are gone
KEPT = 4096  # bytes of the process's stderr; only the end matters
SHOWN = 12  # lines of it
# Keeps frameworks from sending telemetry or prompting on a terminal.
QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "CREWAI_TESTING": "true"}


class WorkerError(MisstepError):
    """An agent's process failed; this is not the agent's failure."""


class AgentError(MisstepError):
    """The agent raised an exception; its process continues."""


class AgentProcess:
    """A process with an agent. `load` and `work` block until `kill` ends them from another thread."""

    def __init__(self, python: str, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        complete = {**QUIET, **os.environ, **environment}
        self._python = python
        self._redact = Redactor(secrets_in(complete))
        self._case = 0
        self.has_begun = False  # the agent has sent something in the last case
        self._dead = False
        self._dying = threading.Lock()
        self._link = say.ProcessLink(ours)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [os.path.expanduser(python), str(ENTRY), SERVING, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    env=complete,
                    start_new_session=True,
                )
            except OSError as error:
                self._link.close()
                hint = "give the path of the Python interpreter that has the agent installed"
                raise UsageError(f"'{python}' can't be run: {error.strerror}", hint) from error
        self._printed = bytearray()
        self._bytes = 0  # of all output
        self._draining = threading.Thread(target=self._drain, name="stderr", daemon=True)
        self._draining.start()

    @property
    def alive(self) -> bool:
        return self._status() is None

    def load(self, spec: str, name: str, limit: float) -> None:
        """Load the agent. Raises `UsageError` for problems that the user can fix."""
        self._link.be_patient(limit)
        # It fails if the process neither uses the CPU nor prints anything for so long.
        patience = Patience(limit, lambda: family_seconds(self._process.pid) + self._bytes)
        try:
            with contextlib.suppress(say.LinkLost):  # it has ended, and may have said why
                self._link.send(say.LoadAgent(spec, name))
            while not self._link.has_news(min(patience.left(), LOOK)):
                if patience.left() <= 0:
                    raise TimeoutError
            message = self._link.receive(say.from_worker)
        except TimeoutError:
            raise WorkerError(f"'{spec}' {patience.outcome}", *self._printed_lines()) from None
        except (say.LinkLost, ValueError) as error:
            raise self._why_not_loaded(f"'{self._python}' did not start", error) from None
        self._link.be_patient(None)
        match message:
            case say.AgentLoaded():
                return
            case say.Unfit():
                raise unfit(self._python, self._plain(message.problem), self._plain(message.detail), "agents")
            case say.Unloadable():
                hints = [self._plain(hint) for hint in message.hints]
                raise UsageError(self._plain(message.message), *hints, where=self._plain(message.where))
        raise WorkerError(f"'{self._python}' answered with {type(message).__name__}")

    def work(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self._case += 1
        self.has_begun = False
        order = say.TryCase(self._case, assignment, tuple(toolbox.tools), toolbox.max_steps)
        try:
            self._link.send(order)
            while True:
                message = self._link.receive(say.from_worker)
                self.has_begun = True
                if isinstance(message, say.Ending) and message.case == self._case:
                    return self._answer(message)
                self._pass_on(message, toolbox)
        except (say.LinkLost, ValueError) as error:
            raise self._why_not_loaded("the agent's process ended unexpectedly", error) from None

    def kill(self) -> None:
        """Kill the process and all its descendants."""
        with self._dying:
            if self._dead:
                return
            self._dead = True
            kill_process_tree(self._process.pid)
            self._link.hang_up()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
            self._link.close()

    def _answer(self, ending: say.Ending) -> Answer:
        match ending:
            case say.Finished():
                return ending.answer
            case say.Exhausted():
                raise StepsExhausted
            case say.AgentRaised():
                raise AgentError(self._plain(ending.error))

    def _pass_on(self, message: say.FromWorker, toolbox: Toolbox) -> None:
        match message:
            case say.BeginTurn() | say.Ask() | say.CallTool():
                self._link.send(self._reply(message, toolbox))
            case say.Finished() | say.Exhausted() | say.AgentRaised():
                pass  # of an earlier case
            case say.Unfit() | say.Unloadable() | say.AgentLoaded():
                raise ValueError(f"{type(message).__name__} at the wrong time")
            case _ if message.case != self._case:
                pass
            case say.Misread():
                toolbox.misread()
            case say.SpendUsage():
                toolbox.spend(message.usage)
            case say.Wait():
                toolbox.wait(message.seconds)
            case say.Note():
                toolbox.note(message.message)
            case say.Warn():
                toolbox.warn(message.text)

    def _reply(self, question: say.Question, toolbox: Toolbox) -> say.QuestionReply:
        """The toolbox's reply; threads left over from earlier cases are told that no turns are left."""
        number = question.question
        try:
            if question.case != self._case:
                raise StepsExhausted
            match question:
                case say.BeginTurn():
                    return say.QuestionReply(number, turn=toolbox.begin_turn())
                case say.Ask():
                    toolbox.ask(question.tool, question.arguments, question.turn)
                    return say.QuestionReply(number)
                case say.CallTool():
                    result = toolbox.call(question.tool, question.arguments, question.turn)
                    return say.QuestionReply(number, result=result)
        except StepsExhausted:
            return say.QuestionReply(number, exhausted=True)

    def _why_not_loaded(self, what: str, error: Exception) -> WorkerError:
        """How the process ended, with its last output; whatever is left of it is killed."""
        lost = isinstance(error, say.LinkLost)
        cause = _cause(self._status(GRACE)) if lost else f"it sent an invalid message: {error}"
        self.kill()
        return WorkerError(f"{what}: {self._plain(cause)}", *self._printed_lines())

    def _status(self, patience: float = 0.0) -> int | None:
        """The exit status, if the process ends within `patience` seconds."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        until = time.monotonic() + patience
        # Not reaped, so that its id is not reused while its descendants still have to be found.
        while not (ended := os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
            if time.monotonic() >= until:
                return None
            time.sleep(0.01)
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def _printed_lines(self) -> list[str]:
        self._draining.join(GRACE if self._dead else 0)
        text = self._plain(bytes(self._printed[-KEPT:]).decode("utf-8", "replace"))
        return [line for line in text.splitlines() if line.strip()][-SHOWN:]

    def _plain(self, text: str) -> str:
        """Text from the process without secrets and terminal control characters."""
        return self._redact(readable(text))

    def _drain(self) -> None:
        """Read stderr to its end, so that the process never blocks on it."""
        assert self._process.stderr is not None
        with self._process.stderr as stderr:
            while chunk := os.read(stderr.fileno(), 1 << 16):
                self._printed += chunk
                self._bytes += len(chunk)
                del self._printed[:-KEPT]


def unfit(python: str, problem: str, detail: str, users: str) -> UsageError:
    """The error for an interpreter that can't run agents or tools (`users`)."""
    if problem == "python":
        hint = f"{users} need Python {'.'.join(map(str, OLDEST))} or newer"
        return UsageError(f"'{python}' is Python {detail}", hint)
    return UsageError(f"'{python}' has no {problem}", f"{python} -m pip install msgspec")


def _cause(status: int | None) -> str:
    if status is None:
        return "it closed the connection"
    if status < 0:
        names = {each.value: each.name for each in signal.Signals}
        return f"it was ended by {names.get(-status, f'signal {-status}')}"
    return f"it ended with status {status}"


START_LIMIT = 120.0
STEP = 0.1  # seconds between reports of start-up time to the meter


class SubprocessAgent:
    """The agent of `spec`, run by the interpreter `python`, which does not need misstep installed.

    Processes are started on demand and kept for later cases. A cancelled case ends its process. The start-up
    time of a process does not count for the agent; more than `start_limit` seconds without progress is an
    error.
    """

    def __init__(
        self,
        spec: str,
        python: str,
        name: str,
        environment: Mapping[str, str] | None = None,
        start_limit: float = START_LIMIT,
    ) -> None:
        self.name = name
        self._spec = spec
        self._python = python
        self._environment = dict(environment or {})
        self._start_limit = start_limit
        self._workers = set[AgentProcess]()
        self._idle = list[AgentProcess]()

    async def prepare(self) -> None:
        """Start a first process and load the agent. Raises `UsageError` if either fails."""
        self._idle.append(await self._start(None))

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        idle = self._take_idle()
        if idle:
            try:
                return await self._work(idle, assignment, toolbox)
            except WorkerError:
                if idle.has_begun:
                    raise
                # It died while idle: a new process gets the case.
        return await self._work(await self._start(toolbox), assignment, toolbox)

    async def _work(self, worker: AgentProcess, assignment: Assignment, toolbox: Toolbox) -> Answer:
        try:
            answer = await in_thread(lambda: worker.work(assignment, toolbox))
        except (AgentError, StepsExhausted):
            self._idle.append(worker)
            raise
        except BaseException:
            self._end(worker)
            raise
        self._idle.append(worker)
        return answer

    async def close(self) -> None:
        """End all processes; running cases are interrupted."""
        ended, self._workers, self._idle = self._workers, set(), []
        await asyncio.gather(*(in_thread(worker.kill) for worker in ended))

    def _take_idle(self) -> AgentProcess | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._end(worker)
        return None

    async def _start(self, meter: Meter | None) -> AgentProcess:
        worker = AgentProcess(self._python, self._environment)
        self._workers.add(worker)
        loading = asyncio.ensure_future(
            in_thread(lambda: worker.load(self._spec, self.name, self._start_limit))
        )
        try:
            while not loading.done():
                if meter:
                    meter.wait(STEP)
                await asyncio.wait([loading], timeout=STEP)
            loading.result()
        except BaseException:
            loading.cancel()
            self._end(worker)
            raise
        return worker

    def _end(self, worker: AgentProcess) -> None:
        self._workers.discard(worker)
        worker.kill()
