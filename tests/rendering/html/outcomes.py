"""Outcomes of simulated agents, as a run keeps them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from misstep.core.constraint import Family
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.store.runs import Store


@cache
def played(agent: str, count: int, families: tuple[Family, ...] = ("order",), low: int = 4) -> list[Outcome]:
    actions = Span(low, low + 2)
    with TemporaryDirectory() as folder:
        store = str(Path(folder, "store.db"))
        settings = Settings(agent=agent, count=count, actions=actions, family=families, store=store)
        run = run_agent(settings).run
        with Store(store) as kept:
            return list(kept.outcomes(run))
