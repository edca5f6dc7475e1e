"""A task of a benchmark, put to the same agent once more."""

from itertools import chain

from misstep.api.allowance import Allowance
from misstep.api.benchmarking.agents import contestant
from misstep.api.benchmarking.attempting import Attempts
from misstep.api.benchmarking.disciplines import find_discipline
from misstep.api.benchmarking.env_pool import EnvPool
from misstep.api.benchmarking.running import benchmark_of, find_task
from misstep.api.masking import masked
from misstep.api.models import Tell
from misstep.api.trust import with_agent
from misstep.core.benchmark import TaskReport
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.errors import UsageError


def replay_task(
    settings: Settings, run: str, name: str, tell: Tell = lambda _: None
) -> tuple[TaskReport, TaskReport]:
    """What came of a task of a run, and what comes of it when it is put to the agent once more."""
    stored, before = find_task(settings, run, name)
    own = with_agent(settings, stored).settings
    discipline = find_discipline(benchmark_of(stored), own)
    tasks = chain(discipline.tasks[before.place : before.place + 1], discipline.tasks)  # the likely one first
    task = next((task for task in tasks if task.id == before.name), None)
    if task is None:
        raise UsageError(f"there is no task '{before.name}' now", f"run {stored.id} is of another version")
    allowance, made = Allowance(Budget(), Spent()), list[TaskReport]()
    with EnvPool(discipline, stored.purpose.tools, own) as stands:
        attempts = Attempts(stands, own, allowance, lambda: contestant(own, tell), [(before.place, task)])
        attempts.work(made.append)
    for where, why in attempts.lost.items():
        raise UsageError(why, where=where)
    return before, masked(made[0])
