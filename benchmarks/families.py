"""Measures how fast problems beyond order are generated and judged: timed ones, and all families."""

from collections.abc import Iterator

from benchmarks.measure import Effort, Mark, Row, best_cpu
from misstep.core.case import Case
from misstep.core.constraint import FAMILIES, Family
from misstep.core.outcome import Call, Transcript
from misstep.core.rng import Dice
from misstep.planning.judging import solver
from misstep.planning.judging.check import check, judge, replay
from misstep.planning.synthesis.suite import Suite, make_case

TIMED: tuple[Family, ...] = ("order", "time")

Plan = tuple[Case, Transcript]


def family_rows(effort: Effort) -> Iterator[Row]:
    yield from _synthesis_rows(effort)
    yield from _judging_rows(effort)


def _synthesis_rows(effort: Effort) -> Iterator[Row]:
    timed, mixed = effort.size(200), effort.size(60)
    best = best_cpu(
        effort.repeats,
        lambda batch: _make(TIMED, 5, timed, seed=batch),
        lambda batch: _make(FAMILIES, 7, mixed, seed=batch),
    )
    solved = "each with a schedule and a strategy that finds one"
    yield Row(
        "synthesis, timed, 5 actions", timed / best[0], "/s", f"{timed} a batch, {solved}", Mark("≥", 500)
    )
    yield Row("… all eight families, 7 actions", mixed / best[1], "/s", f"{mixed} a batch, likewise")


def _judging_rows(effort: Effort) -> Iterator[Row]:
    timed, mixed = _plans(TIMED, 5, effort.size(1000)), _plans(FAMILIES, 7, effort.size(300))
    for_z3 = timed[: effort.size(60)]
    best = best_cpu(
        effort.repeats,
        lambda _: [judge(*plan) for plan in timed],
        lambda _: [check(*plan) for plan in timed],
        lambda _: [judge(*plan) for plan in mixed],
        lambda _: [solver.violated_by(case, replay(case, plan.calls)) for case, plan in for_z3],
    )
    judged, asked = len(timed) / best[0], len(for_z3) / best[3]
    half = "half of them right, half with two calls swapped"
    yield Row(
        "judging plans, timed, 5 actions", judged, "/s", f"{len(timed)} plans, {half}", Mark("≥", 20_000)
    )
    yield Row("… with reasons", len(timed) / best[1], "/s", "the same plans, nearest plan included")
    yield Row("… all eight families, 7 actions", len(mixed) / best[2], "/s", f"{len(mixed)} plans, likewise")
    yield Row("Z3 on timed plans", asked, "/s", f"`violated_by` on {len(for_z3)} of the same plans")
    yield Row("misstep ÷ that", judged / asked, "×", "same run, batches take turns")
    disputed = sum(
        judge(case, plan).violated != solver.violated_by(case, replay(case, plan.calls))
        for case, plan in for_z3
    )
    yield Row("plans on which they differ", disputed, "", "broken constraints compared", Mark("≤", 0))


def _make(families: tuple[Family, ...], size: int, count: int, seed: int) -> list[Case]:
    suite = Suite(seed, size, size, families=families)
    return [make_case(suite, index) for index in range(count)]


def _plans(families: tuple[Family, ...], size: int, count: int) -> list[Plan]:
    """The calls of the solution; in every second plan, two of them are swapped."""
    dice, plans = Dice(1), list[Plan]()
    for index, case in enumerate(_make(families, size, count, seed=1)):
        calls = [Call(call.tool, call.arguments, "", turn) for turn, call in enumerate(case.solution, 1)]
        if index % 2:
            one, other = dice.sample(range(len(calls)), 2)
            calls[one], calls[other] = calls[other], calls[one]
        plans.append((case, Transcript(case.id, tuple(calls))))
    return plans
