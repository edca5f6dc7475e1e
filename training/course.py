"""The curriculum: problems with few actions first, then more, then mainly kinds that still fail."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from misstep.core.case import Case
from misstep.core.constraint import Family
from misstep.core.rng import Dice, derive_seed
from misstep.planning.language.parts import LanguagePart, part_of
from misstep.planning.language.requests import load_requests
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case

PLAIN = Recipe()
TRAIN = part_of(("train",))
MIXTURES: dict[str, tuple[Family, ...]] = {
    "order": ("order",),
    "time": ("time",),
    "timed": ("order", "time"),
    "data": ("data",),
    "adjacent": ("adjacent",),
    "choice": ("choice",),
    "repeat": ("repeat",),
    "budget": ("budget",),
    "dynamic": ("dynamic",),
    "order+adjacent": ("order", "adjacent"),
    "order+choice": ("order", "choice"),
    "order+data": ("order", "data"),
}


class Kind(NamedTuple):
    """A kind of problem: a mixture of families and a number of actions."""

    mixture: str
    actions: int


def kinds(most: int, others: float, most_others: int) -> dict[Kind, float]:
    """The share of each kind with at most `most` actions; `others` is the share of mixtures beyond order."""
    shares = dict[Kind, float]()
    for mixture, families in MIXTURES.items():
        top = most if mixture == "order" else min(most, most_others)
        sizes = range(max(2, least_actions(families)), top + 1)
        share = 1 - others if mixture == "order" else others / (len(MIXTURES) - 1)
        # Larger problems contain more decisions, but also cost more.
        shares |= {Kind(mixture, size): share / len(sizes) for size in sizes}
    return shares


def harder(shares: Mapping[Kind, float], failures: Mapping[Kind, float], floor: float) -> dict[Kind, float]:
    """Shares proportional to failure rates; kinds that never fail keep a small share."""
    weights = {kind: share * (floor + failures.get(kind, 0.0)) for kind, share in shares.items()}
    total = sum(weights.values())
    return {kind: weight / total for kind, weight in weights.items()}


def draw(
    kind: Kind, seed: int, part: LanguagePart = TRAIN, recipe: Recipe = PLAIN, request: str = "role-play"
) -> Case:
    families, size = MIXTURES[kind.mixture], kind.actions
    suite = Suite(seed, size, size, families=families, recipe=recipe, part=part, request=request)
    return make_case(suite, 0)


def draw_varied(kind: Kind, seed: int) -> Case:
    """A problem for training; some have redundant sentences, or more relative clauses."""
    dice = Dice(derive_seed(seed, "recipe"))
    redundancy = 0.3 if dice.chance(0.15) else 0.0
    relative = 0.4 if dice.chance(0.2) else 0.2
    request = dice.pick(list(load_requests().templates)) if dice.chance(0.2) else "role-play"
    return draw(kind, seed, TRAIN, Recipe(redundancy=redundancy, relative=relative), request)


def pick(shares: Mapping[Kind, float], dice: Dice) -> Kind:
    return _weighted(list(shares), list(shares.values()), dice)


def _weighted(items: Sequence[Kind], weights: Sequence[float], dice: Dice) -> Kind:
    place = dice.below(10**9) / 10**9 * sum(weights)
    for item, weight in zip(items, weights, strict=True):
        place -= weight
        if place < 0:
            return item
    return items[-1]
