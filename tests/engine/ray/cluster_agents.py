"""Agents for workers on a cluster: some are simulated, some ask a model, some are trouble."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from misstep.core.agent import Agent, Answer, Assignment, Toolbox
from misstep.core.case import Case
from misstep.core.model import Chat, User
from misstep.core.outcome import Outcome, Transcript, Usage, Verdict
from misstep.core.spending import Account, RateLimiters
from misstep.engine.attempt import attempt
from misstep.engine.ray.worker import Execute
from misstep.engine.recorder import Deadline, Recorder
from misstep.models.client import Options
from misstep.models.openai import OpenAIModel
from misstep.models.providers import Endpoint, ModelName
from misstep.planning.judging.check import check
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.world.mock import MockWorld

Working = AbstractAsyncContextManager[Execute]


async def execute(agent: Agent, case: Case, account: Account) -> Outcome:
    """What the agent makes of a case, without anything that depends on the clock."""
    deadline = Deadline(120)
    recorder = Recorder(MockWorld(case), deadline, max_steps=50, account=account, clock=lambda: 0.0)
    answer, broken = await attempt(agent, Assignment(case.query, case.seed), recorder, deadline)
    transcript = recorder.transcript(case.id, answer, broken)
    return Outcome(case, transcript, check(case, transcript))


def lost(case: Case, reason: str) -> Outcome:
    return Outcome(case, Transcript(case.id, (), "error", error=reason), Verdict(case.id, "errored"))


@asynccontextmanager
async def working(agent: Agent) -> AsyncIterator[Execute]:
    yield partial(execute, agent)


class Diary:
    """Lines in a file that several processes write to."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def write(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []

    async def until(self, line: str) -> None:
        while line not in self.lines():
            await asyncio.sleep(0.02)


class Slow:
    """A planner that spends tokens, says in its diary that it has begun, and goes on when that says `go`."""

    name = "slow"

    def __init__(self, diary: str) -> None:
        self._planner = simulated_agent("random", {})
        self._diary = Diary(diary)

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        toolbox.spend(Usage(assignment.seed % 1000, 7))
        self._diary.write(f"begun in {os.getpid()}")
        try:
            await self._diary.until("go")
        except asyncio.CancelledError:
            self._diary.write("cancelled")
            raise
        toolbox.spend(Usage(1, 1, 1))
        return await self._planner.run(assignment, toolbox)


class Deadly:
    """A planner that takes its process with it in one case."""

    name = "deadly"

    def __init__(self, seed: int) -> None:
        self._planner = simulated_agent("random", {})
        self._seed = seed

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        await asyncio.sleep(0.05)  # others are under way by then
        if assignment.seed == self._seed:
            os._exit(1)
        return await self._planner.run(assignment, toolbox)


class Blocking:
    """An agent that never lets anybody else do anything."""

    name = "blocking"

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        time.sleep(3600)
        return Answer()


class Asking:
    """An agent that asks a model twice and takes its word for the answer."""

    name = "asking"

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        said = json.dumps({"process": os.getpid()})
        for _ in range(2):
            reply = await self._model.chat(Chat((User(said),)), toolbox)
        return Answer(reply.text)


def simulated(kind: str, rate_limiters: RateLimiters) -> Working:
    return working(simulated_agent(kind, {}))


def slow(diary: str, rate_limiters: RateLimiters) -> Working:
    return working(Slow(diary))


def blocking(rate_limiters: RateLimiters) -> Working:
    return working(Blocking())


def deadly(seed: int, rate_limiters: RateLimiters) -> Working:
    return working(Deadly(seed))


@asynccontextmanager
async def asking(base_url: str, in_flight: int, rate_limiters: RateLimiters) -> AsyncIterator[Execute]:
    model = OpenAIModel(
        ModelName("vllm", "m"), Endpoint(base_url, "none"), Options(in_flight=in_flight), rate_limiters
    )
    try:
        yield partial(execute, Asking(model))
    finally:
        await model.close()


@asynccontextmanager
async def failing(error: Exception, rate_limiters: RateLimiters) -> AsyncIterator[Execute]:
    raise error
    yield


def missing(rate_limiters: RateLimiters) -> Working:
    """Prepared where a part is not installed; such errors can't be pickled."""
    from misstep.errors import MissingExtra

    return failing(MissingExtra("the SDK", "sdk"), rate_limiters)


def dying(diary: str, rate_limiters: RateLimiters) -> Working:
    """Takes its process with it before there is any case."""
    Diary(diary).write("died")
    os._exit(1)


def end_process(line: str) -> None:
    """End the process that a line of a diary names."""
    with suppress(ProcessLookupError):
        os.kill(int(line.rpartition(" ")[2]), 9)
