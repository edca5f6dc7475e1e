"""Agents that take part in a benchmark."""

from misstep.api.agent_session import agent_settings
from misstep.api.agents import PARADIGMS, check_agent, find_agent
from misstep.api.benchmarking.arena import Discipline
from misstep.api.models import Tell
from misstep.benchmarks.simulated import MANNERS, Simulated
from misstep.core.agent import Agent
from misstep.core.benchmark import Task
from misstep.core.rate_limiter import RateLimiters
from misstep.core.settings import Settings
from misstep.errors import UsageError, did_you_mean

SHOWING = 300  # tasks; a kind of task comes up often enough among them to show what it takes


def contestant(settings: Settings, tell: Tell = lambda _: None, gates: RateLimiters | None = None) -> Agent:
    """The agent that the settings name."""
    _refuse_unknown(settings.agent)
    for manner in MANNERS:
        if settings.agent == f"sim:{manner}":
            return Simulated(manner)
    return find_agent(agent_settings(settings), tell, gates)


def informed(agent: Agent, task: Task, discipline: Discipline) -> Agent:
    """The agent as it is put to a task: simulated ones are told how it is done."""
    return agent.knowing(lambda: discipline.solve(task)) if isinstance(agent, Simulated) else agent


def check_contestant(settings: Settings) -> None:
    """Refuse an agent that can't be found, or can't begin."""
    _refuse_unknown(settings.agent)
    if settings.agent.startswith("sim:"):
        for name in settings.agent_args:
            raise UsageError(f"{settings.agent} has no parameter '{name}'", "it takes no parameters")
    elif settings.agent in PARADIGMS:
        find_agent(agent_settings(settings))  # which needs its key from the first task on
    else:
        check_agent(agent_settings(settings))


def tools_needed(settings: Settings, discipline: Discipline) -> list[str]:
    """The tools without which a simulated agent can't do what it does, as the first tasks show them."""
    if settings.agent not in ("sim:right", "sim:damage"):
        return []
    steps = [step for task in discipline.tasks[:SHOWING] for step in discipline.solve(task).steps]
    return list(dict.fromkeys(step.tool for step in steps))


def _refuse_unknown(name: str) -> None:
    """Planners have nothing to do here, so that others are known than elsewhere."""
    kind, _, own = name.partition(":")
    known = [*(f"sim:{manner}" for manner in MANNERS), *PARADIGMS]
    if name in known or (own and kind != "sim"):
        return
    listed = [f"known on benchmarks: {', '.join(known)}"]
    listed.append("or your own: file.py:name, package.module:name, mcp:COMMAND")
    if not name:
        raise UsageError("no agent was named", "give one with --agent", *listed)
    raise UsageError(f"unknown agent '{name}'", did_you_mean(name, known), *listed)
