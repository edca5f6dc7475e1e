"""Problems of every kind for tests of what makes them smaller."""

from collections.abc import Iterator
from functools import cache

import msgspec

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.constraint import FAMILIES, Family
from misstep.planning.shrinking.reductions import STAGES, smaller
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import BOUND_TO_OURS, Suite, make_case
from misstep.planning.variation.anatomy import Anatomy, assemble, take_apart

MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES),
    ("order", "time"),
    ("order", "time", "data", "dynamic"),
    ("order", "choice", "budget", "repeat", "adjacent"),
    FAMILIES,
]
RECIPES = (Recipe(), Recipe(relative=0.6, group=4), Recipe(redundancy=0.5))


def tool(name: str, *texts: str) -> Tool:
    properties = {text: {"type": "string"} for text in texts}
    schema = {"type": "object", "properties": properties, "required": list(texts)}
    return Tool(name, f"What {name} does.", schema)


OWN = tuple(
    tool(f"tool_{letter}", *("city", "name")[: number % 3]) for number, letter in enumerate("abcdefgh")
)


@cache
def mixed_cases(families: tuple[Family, ...], count: int) -> tuple[Case, ...]:
    """So many of each recipe, now and then with tools that nobody needs."""
    return tuple(
        make_case(
            Suite(5, least_actions(families), 7, families=families, recipe=recipe, distractors=2 * place % 3),
            index,
        )
        for place, recipe in enumerate(RECIPES)
        for index in range(count)
    )


class Step(msgspec.Struct, frozen=True):
    """A problem, a step of one stage from it, and the case that it makes, if that has a solution."""

    case: Case
    anatomy: Anatomy
    stage: str
    step: Anatomy
    made: Case | None


def reductions(anatomy: Anatomy) -> Iterator[Anatomy]:
    """Problems one step smaller or plainer than this one; some may have no solution."""
    return (step for stage in STAGES for step in smaller(anatomy, stage))


@cache
def steps_from(families: tuple[Family, ...]) -> tuple[Step, ...]:
    """All the steps from some problems."""
    return tuple(
        Step(case, anatomy, stage.__name__, step, assemble(step))
        for case in mixed_cases(families, 1)
        for anatomy in [take_apart(case)]
        for stage in STAGES
        for step in stage(anatomy)
        if step is not None
    )


def own_tool_cases(count: int) -> Iterator[Case]:
    families = tuple(family for family in FAMILIES if family not in BOUND_TO_OURS)
    suite = Suite(5, least_actions(families), 6, families=families, tools=OWN, distractors=1)
    return (make_case(suite, index) for index in range(count))
