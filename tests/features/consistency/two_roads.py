"""The model of `roads`, which can think of two ways to ask."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from misstep.core.outcome import Usage
from misstep.core.results.consistency import ConsistencyRun, PromptSet
from misstep.core.settings import Settings
from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.scripted_roles import Answer, Plan, always, plays, settings_for
from tests.fuzzing.consistency.roads import GOOD, INFILLS, SOURCE, TEMPLATE, as_said
from tests.scripted import Fault, Script

SECOND = "Is it far from [here] to [there]?"
OTHERS = {"here": ["Nice", "Nice, France"], "there": ["Metz", "Metz, France"]}
PER_SET = 23  # requests to the model for one set, from its infills to its scores

TWO: dict[Stage, Answer] = {
    **GOOD,
    "templates": always({"templates": [TEMPLATE, SECOND]}),
    "infills": lambda prompt: {"infills": INFILLS if TEMPLATE in prompt else OTHERS},
}


def two_roads(
    plan: Plan = as_said, faults: Sequence[Fault | None] = (), **stages: Callable[[str], object]
) -> Script:
    """A script for two sets of four requests; `stages` replace answers of its own."""
    return plays({**TWO, **stages}, plan, faults=faults)  # type: ignore[dict-item]


def settings_in(folder: Path, base_url: str, **more: Any) -> Settings:
    """Settings for one set of four requests about tools that are written there."""
    (folder / "roads.py").write_text(SOURCE)
    usual = {"store": str(folder / "store.db"), "count": 1, "variants": 4, "timeout": 20.0, "jobs": 1}
    return settings_for(base_url, **{**usual, "sandbox": "none", **more})


def without_seconds(sets: Sequence[PromptSet]) -> list[PromptSet]:
    """The sets without what differs although the same has happened; an answer out of a cache costs nothing."""
    return [
        replace(each, trials=tuple(replace(trial, seconds=0.0, usage=Usage()) for trial in each.trials))
        for each in sets
    ]


def verdicts(report: ConsistencyRun) -> list[str]:
    return [each.verdict for each in report.sets]
