"""Labels held against verdicts, and against each other."""

import random

import pytest

from misstep.core.results.label import (
    AgreementTable,
    Item,
    Label,
    draw_items,
    kappa,
    kappa_interval,
    report_on,
)
from misstep.core.stats import wilson


def items(tool: str, discovered: int, passed: int) -> list[Item]:
    flags = [True] * discovered + [False] * passed
    return [Item(f"{tool}{number}", tool, (), flag) for number, flag in enumerate(flags)]


@pytest.mark.parametrize(
    ("found", "passed", "per_tool", "drawn"),
    [
        (30, 30, 10, (10, 5)),
        (3, 30, 10, (3, 2)),
        (0, 30, 10, (0, 2)),
        (7, 30, 10, (7, 4)),
        (30, 1, 10, (10, 1)),
        (30, 0, 1, (1, 0)),
    ],
)
def test_discoveries_are_drawn_among_half_as_many_that_passed(
    found: int, passed: int, per_tool: int, drawn: tuple[int, int]
) -> None:
    chosen = draw_items(items("a", found, passed) + items("b", found, passed), 7, per_tool)
    for tool in "ab":
        own = [item.discovered for item in chosen if item.tool == tool]
        assert (own.count(True), own.count(False)) == drawn
    assert len(set(chosen)) == len(chosen)


def test_ten_of_each_tool_are_drawn_as_in_the_paper() -> None:
    chosen = draw_items(items("a", 30, 0) + items("b", 4, 0), 7)
    assert [[item.tool for item in chosen].count(tool) for tool in "ab"] == [10, 4]


def test_the_draw_depends_on_the_seed_alone() -> None:
    known = items("a", 40, 40) + items("b", 40, 40)
    mixed = random.Random(0).sample(known, len(known))
    assert draw_items(known, 1) == draw_items(mixed, 1) != draw_items(known, 2)


def test_a_larger_draw_includes_a_smaller_one() -> None:
    known = items("a", 40, 40)
    assert set(draw_items(known, 1, 5)) < set(draw_items(known, 1, 10))


def test_the_order_says_nothing_about_verdicts() -> None:
    ends = [item.discovered for seed in range(300) for item in draw_items(items("a", 10, 5), seed)[:1]]
    assert 0.55 < sum(ends) / len(ends) < 0.78  # two of three, as among all


def test_rates_are_counted_per_tool_and_in_all() -> None:
    known = items("a", 3, 2) + items("b", 2, 0)
    said = {"a0": True, "a1": False, "a2": False, "a3": True, "a4": False, "b0": True, "zzz": True}
    (opinion,) = report_on("r", known, [Label(item, "ann", value) for item, value in said.items()]).opinions
    assert (opinion.labelled, opinion.left) == (6, 1)
    a, b = opinion.tools["a"], opinion.tools["b"]
    assert (a.false_discoveries.count, a.false_discoveries.total) == (2, 3)
    assert (a.missed.count, a.missed.total, a.missed.share) == (1, 2, 0.5)
    assert (b.false_discoveries.count, b.false_discoveries.total, b.missed.share) == (0, 1, None)
    assert opinion.score.false_discoveries.interval == wilson(2, 4)
    assert opinion.score.false_discoveries.share == 0.5


def test_disagreements_are_named() -> None:
    known = items("a", 4, 1)
    ann = [Label(item.id, "ann", True) for item in known[:4]]
    bob = [Label(item.id, "bob", item.id != "a2") for item in known[1:]]
    report = report_on("r", known, [*bob, *ann])
    assert [opinion.labeller for opinion in report.opinions] == ["ann", "bob"]
    (agreement,) = report.agreements
    assert (agreement.first, agreement.second) == ("ann", "bob")
    assert (agreement.equal.count, agreement.equal.total) == (2, 3)
    (one,) = agreement.disagreements
    assert (one.item, one.first, one.second) == ("a2", True, False)


def test_three_labellers_are_compared_in_pairs() -> None:
    labels = [Label("a0", name, name != "cyd") for name in ("cyd", "ann", "bob")]
    pairs = [(each.first, each.second) for each in report_on("r", items("a", 1, 0), labels).agreements]
    assert pairs == [("ann", "bob"), ("ann", "cyd"), ("bob", "cyd")]


def test_kappa_is_that_of_the_books() -> None:
    assert kappa(AgreementTable(20, 5, 10, 15)) == pytest.approx(0.4)  # Cohen's own kind of example
    assert kappa(AgreementTable(45, 15, 25, 15)) == pytest.approx(0.1304, abs=1e-4)
    assert kappa(AgreementTable(5, 0, 0, 5)) == 1
    assert kappa(AgreementTable(0, 5, 5, 0)) == -1


@pytest.mark.parametrize(
    "table", [AgreementTable(0, 0, 0, 0), AgreementTable(9, 0, 0, 0), AgreementTable(0, 0, 0, 9)]
)
def test_where_nothing_varies_there_is_no_kappa(table: AgreementTable) -> None:
    assert kappa(table) is None
    low, high = kappa_interval(table)
    assert -1 <= low < 0 < high <= 1


def test_an_interval_is_no_point_where_all_agree() -> None:
    low, high = kappa_interval(AgreementTable(6, 0, 0, 4))
    assert high == 1
    assert 0.3 < low < 0.7


def test_the_interval_holds_the_true_kappa_about_95_times_of_100() -> None:
    dice, true, yes, rounds = random.Random(3), 0.6, 0.7, 1500
    apart = yes * (1 - yes)
    chances = [
        yes * yes + apart * true,
        apart * (1 - true),
        apart * (1 - true),
        (1 - yes) ** 2 + apart * true,
    ]
    held = 0
    for _ in range(rounds):
        drawn = dice.choices(range(4), chances, k=30)
        low, high = kappa_interval(AgreementTable(*[drawn.count(cell) for cell in range(4)]))
        held += low <= true <= high
    assert 0.93 <= held / rounds <= 0.98
