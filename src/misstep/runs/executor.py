"""Runs the cases of a run, with an agent in this process or with workers on a cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript
from misstep.core.run import Execute
from misstep.core.settings import AgentRunSettings, LimitSettings
from misstep.core.spending import RateLimiters
from misstep.errors import UsageError
from misstep.models.throttle import Throttles
from misstep.runs.execution import JudgeProcess, at_work, execute, execute_once, judge, judge_for
from misstep.runs.lookup import view_case
from misstep.runs.setup.agents import check_agent, check_found, find_agent
from misstep.runs.trust import with_agent


def make_executor(
    settings: AgentRunSettings, agent: Agent | None, tell: Callable[[str], None]
) -> AbstractAsyncContextManager[Execute]:
    """A context that runs cases, with the given agent or the one that the settings name."""
    if settings.on == "ray":
        from misstep.engine.ray.link import require_ray

        require_ray()
        if agent is None and (settings.agent.startswith("sim:") or ":" not in settings.agent):
            check_agent(settings)  # before anything is started; files are for the workers to find
        return _on_ray(settings, agent, tell)
    if settings.ray_address:
        raise UsageError("--ray-address requires --on ray", "add --on ray")
    judge = judge_for(settings, agent)  # before the agent's code is loaded
    if agent is None:
        agent = find_agent(settings, tell)
        check_found(agent)
    return _work(settings, agent, judge)


@asynccontextmanager
async def _on_ray(
    settings: AgentRunSettings, agent: Agent | None, tell: Callable[[str], None]
) -> AsyncIterator[Execute]:
    from misstep.engine.ray.worker_pool import RayWorkerPool

    # Workers don't need these settings, which might hold a password.
    make = partial(_work_there, settings.overlay({"store": "", "ray_address": ""}), agent)
    pool = RayWorkerPool(
        make,
        Throttles(),
        partial(_lost, settings),
        address=settings.ray_address,
        jobs=settings.jobs,
        tell=tell,
    )
    tell("connecting to Ray" if settings.ray_address else "starting Ray")
    async with pool:
        yield pool.execute


@asynccontextmanager
async def _work_there(
    settings: AgentRunSettings, agent: Agent | None, rate_limiters: RateLimiters
) -> AsyncIterator[Execute]:
    """What a worker does, in its own process."""
    judge = judge_for(settings, agent)
    found = find_agent(settings, rate_limiters=rate_limiters) if agent is None else agent
    async with _work(settings, found, judge) as execute_case:
        yield execute_case


@asynccontextmanager
async def _work(
    settings: LimitSettings, agent: Agent, judge_process: JudgeProcess | None
) -> AsyncIterator[Execute]:
    async with at_work(agent):
        yield partial(execute, agent, settings, judge_process=judge_process)


def _lost(settings: LimitSettings, case: Case, why: str) -> Outcome:
    return judge(case, settings, Transcript(case.id, (), "error", error=why), 0.0)


def replay(settings: AgentRunSettings, finding: str) -> tuple[Outcome, Outcome]:
    """The stored outcome of a case, `RUN/CASE`, and a new one from running it again."""
    name, slash, case = finding.partition("/")
    if not slash or not case:
        raise UsageError(f"'{finding}' does not name a case", "expected RUN/CASE, as misstep show prints it")
    run, before = view_case(settings, name, case)
    return before, replay_case(before.case, with_agent(settings, run).settings)


def replay_case(case: Case, settings: AgentRunSettings, agent: Agent | None = None) -> Outcome:
    """Run a case again with the settings of its run, and your own agent or the one that they name."""
    judge = judge_for(settings, agent)
    return asyncio.run(execute_once(find_agent(settings) if agent is None else agent, settings, case, judge))
