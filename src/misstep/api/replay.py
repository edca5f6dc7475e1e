"""A case, run once more."""

import asyncio

from misstep.api.agents import find_agent
from misstep.api.execution import execute_once
from misstep.api.judging import judge_for
from misstep.api.runs import view_case
from misstep.api.trust import with_agent
from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.errors import UsageError


def replay(settings: Settings, finding: str) -> tuple[Outcome, Outcome]:
    """What happened to a case, `RUN/CASE`, and what happens when it is run once more."""
    name, slash, case = finding.partition("/")
    if not slash or not case:
        raise UsageError(f"'{finding}' names no case", "expected RUN/CASE, as misstep show prints it")
    run, before = view_case(settings, name, case)
    return before, replay_case(before.case, with_agent(settings, run).settings)


def replay_case(case: Case, settings: Settings, agent: Agent | None = None) -> Outcome:
    """Run a case once more under the settings of its run, with an agent of your own or the one they name."""
    judge = judge_for(settings, agent)
    return asyncio.run(execute_once(find_agent(settings) if agent is None else agent, settings, case, judge))
