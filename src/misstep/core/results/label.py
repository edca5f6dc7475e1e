"""Labels that people give to a run's discoveries without knowing its verdicts, and how far people agree."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil, sqrt

import msgspec

from misstep.core.results.trial import Trial
from misstep.core.rng import Dice, derive_seed
from misstep.core.stats import Z_95, wilson

HALF = 0.5  # added to each cell for the interval, which would have no width if the two never differ


class AgreementTable(msgspec.Struct, frozen=True):
    """How often two people said yes: both of them, only the first, only the second, neither."""

    both: float
    first_only: float
    second_only: float
    neither: float

    @property
    def total(self) -> float:
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def firsts(self) -> float:
        """The share of yes among the first person's labels."""
        return (self.both + self.first_only) / self.total

    @property
    def seconds(self) -> float:
        return (self.both + self.second_only) / self.total

    @property
    def chance(self) -> float:
        return self.firsts * self.seconds + (1 - self.firsts) * (1 - self.seconds)


def kappa(table: AgreementTable) -> float | None:
    """Cohen's kappa; None if both gave one and the same label throughout, or there are no labels."""
    if not table.total or table.chance == 1:
        return None
    return ((table.both + table.neither) / table.total - table.chance) / (1 - table.chance)


def kappa_interval(table: AgreementTable) -> tuple[float, float]:
    """The 95 % interval of kappa, from the large-sample variance with 0.5 added to each cell.

    In simulations with ten or more items it covers the true value in 94 to 99 % of cases; without the
    correction, in as few as 40 % when two people nearly always agree.
    """
    cells = (table.both, table.first_only, table.second_only, table.neither)
    fuller = AgreementTable(*[cell + HALF for cell in cells])
    middle, seen = kappa(fuller), kappa(table)
    assert middle is not None
    spread = Z_95 * sqrt(_variance(fuller, middle))
    known = [] if seen is None else [seen]
    return (max(-1.0, min(middle - spread, *known, 1.0)), min(1.0, max(middle + spread, *known, -1.0)))


def _variance(table: AgreementTable, value: float) -> float:
    """The variance of kappa for a 2x2 table, after Fleiss, Cohen and Everitt (1969)."""
    first, second, apart = table.firsts, table.seconds, 1 - value
    same = table.both * (1 - (first + second) * apart) ** 2
    same += table.neither * (1 - (2 - first - second) * apart) ** 2
    differing = table.first_only * (second + 1 - first) ** 2 + table.second_only * (first + 1 - second) ** 2
    squares = (same + apart**2 * differing) / table.total - (value - table.chance * apart) ** 2
    return max(0.0, squares) / (table.total * (1 - table.chance) ** 2)


PER_TOOL = 10
FEWEST_OTHERS = 2  # passed items drawn per tool


class Item(msgspec.Struct, frozen=True):
    """Requests with their results, to be labelled.

    People who label it see the calls, but not that they were made to test `tool`, nor whether the run judged
    them erroneous (`discovered`).
    """

    id: str
    tool: str
    trials: tuple[Trial, ...]
    discovered: bool


class Label(msgspec.Struct, frozen=True):
    """A person's label for an item, and when it was given, in seconds since 1970."""

    item: str
    labeller: str
    erroneous: bool
    at: float = 0.0


class Rate(msgspec.Struct, frozen=True):
    """A share with its 95 % interval; the share is None if `total` is 0."""

    count: int
    total: int
    share: float | None
    interval: tuple[float, float]


class LabelScore(msgspec.Struct, frozen=True):
    """What one person's labels say about the run's verdicts.

    `false_discoveries` is the share of discovered items that are not erroneous; `missed` is the share of
    passed items that are erroneous.
    """

    false_discoveries: Rate
    missed: Rate


class Opinion(msgspec.Struct, frozen=True):
    """All labels of one person; `left` items have no label yet."""

    labeller: str
    labelled: int
    left: int
    score: LabelScore
    tools: dict[str, LabelScore]


class Disagreement(msgspec.Struct, frozen=True):
    """An item that two people label differently: whether the first finds it erroneous, and the second."""

    item: str
    tool: str
    first: bool
    second: bool


class Agreement(msgspec.Struct, frozen=True):
    """How far two people agree on what both have labelled; Cohen's kappa corrects for chance."""

    first: str
    second: str
    equal: Rate
    kappa: float | None
    interval: tuple[float, float]
    disagreements: tuple[Disagreement, ...]


class LabelReport(msgspec.Struct, frozen=True):
    """The evaluation of all labels of a run; the run calls `discovered` of the `items` erroneous."""

    run: str
    items: int
    discovered: int
    opinions: tuple[Opinion, ...]
    agreements: tuple[Agreement, ...]


def draw_items(items: Sequence[Item], seed: int, per_tool: int = PER_TOOL) -> list[Item]:
    """Draw up to `per_tool` discoveries of each tool, mixed with half as many passed items (at least two).

    The draw is the same for everybody, in an order that reveals neither tools nor verdicts. A larger
    `per_tool` keeps the items that a smaller one draws.
    """
    drawn = list[Item]()
    for tool in dict.fromkeys(item.tool for item in items):
        own = [item for item in items if item.tool == tool]
        found = _draw(own, True, seed, per_tool)
        drawn += found + _draw(own, False, seed, max(FEWEST_OTHERS, ceil(len(found) / 2)))
    return sorted(drawn, key=lambda item: derive_seed(seed, "order", item.id))


def _draw(items: Sequence[Item], discovered: bool, seed: int, most: int) -> list[Item]:
    pool = sorted((item for item in items if item.discovered is discovered), key=lambda item: item.id)
    if not pool:
        return []
    dice = Dice(derive_seed(seed, "label", str(discovered), pool[0].tool))
    return dice.sample(pool, min(most, len(pool)))


def report_on(run: str, items: Sequence[Item], labels: Sequence[Label]) -> LabelReport:
    """Evaluate the labels of these items; labels of other items are ignored."""
    known = {item.id for item in items}
    said: dict[str, dict[str, bool]] = {}
    for label in sorted(labels, key=lambda label: label.labeller):
        if label.item in known:
            said.setdefault(label.labeller, {})[label.item] = label.erroneous
    opinions = list[Opinion]()
    for name, own in said.items():
        tools = sorted({item.tool for item in items})
        by_tool = {tool: _score([item for item in items if item.tool == tool], own) for tool in tools}
        opinions.append(Opinion(name, len(own), len(items) - len(own), _score(items, own), by_tool))
    agreements = tuple(_agreement(pair, items, said) for pair in combinations(said, 2))
    discovered = sum(item.discovered for item in items)
    return LabelReport(run, len(items), discovered, tuple(opinions), agreements)


def _score(items: Sequence[Item], said: Mapping[str, bool]) -> LabelScore:
    found = [said[item.id] for item in items if item.discovered and item.id in said]
    passed = [said[item.id] for item in items if not item.discovered and item.id in said]
    return LabelScore(_rate(found.count(False), len(found)), _rate(passed.count(True), len(passed)))


def _rate(count: int, total: int) -> Rate:
    return Rate(count, total, count / total if total else None, wilson(count, total))


def _agreement(
    pair: tuple[str, str], items: Sequence[Item], said: Mapping[str, Mapping[str, bool]]
) -> Agreement:
    first, second = (said[name] for name in pair)
    shared = [
        Disagreement(item.id, item.tool, first[item.id], second[item.id])
        for item in items
        if item.id in first and item.id in second
    ]
    answers = [(each.first, each.second) for each in shared]
    table = AgreementTable(*[answers.count(cell) for cell in _CELLS])
    differing = tuple(each for each in shared if each.first != each.second)
    equal = _rate(len(shared) - len(differing), len(shared))
    return Agreement(*pair, equal, kappa(table), kappa_interval(table), differing)


_CELLS = ((True, True), (True, False), (False, True), (False, False))
