"""An agent that lives in other processes: as many as cases run at once, each with one case at a time."""

import asyncio
from collections.abc import Mapping

from misstep.adapters.subprocess.process import AgentError, Worker, WorkerError
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, Meter, StepsExhausted, Toolbox

START_LIMIT = 120.0
STEP = 0.1  # seconds of a start that are told to the meter at a time


class SubprocessAgent:
    """The agent that `spec` means to the interpreter `python`, which needs no misstep of its own.

    Processes are started when they are needed and kept for later cases. A case that is cancelled takes its
    process with it. The time that a process takes to start is not the agent's; past `start_limit` seconds it
    is an error.
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
        self._workers = set[Worker]()
        self._idle = list[Worker]()

    async def prepare(self) -> None:
        """Start a first process and load the agent. Raises a `UsageError` for what is wrong with either."""
        self._idle.append(await self._start(None))

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        idle = self._take_idle()
        if idle:
            try:
                return await self._work(idle, assignment, toolbox)
            except WorkerError:
                if idle.has_begun:
                    raise
                # It had died while it was idle: another one takes the case.
        return await self._work(await self._start(toolbox), assignment, toolbox)

    async def _work(self, worker: Worker, assignment: Assignment, toolbox: Toolbox) -> Answer:
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
        """End all processes; cases that still run break off."""
        ended, self._workers, self._idle = self._workers, set(), []
        await asyncio.gather(*(in_thread(worker.kill) for worker in ended))

    def _take_idle(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._end(worker)
        return None

    async def _start(self, meter: Meter | None) -> Worker:
        worker = Worker(self._python, self._environment)
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

    def _end(self, worker: Worker) -> None:
        self._workers.discard(worker)
        worker.kill()
