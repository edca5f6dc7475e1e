"""Measures how fast plans are judged: without reasons, with reasons, and by Z3."""

from collections.abc import Iterator

from benchmarks.measure import Effort, Mark, Row, best_cpu
from misstep.core.case import Case
from misstep.core.outcome import Call, Transcript
from misstep.core.rng import Dice
from misstep.planning.judging import solver
from misstep.planning.judging.check import check, judge
from misstep.planning.synthesis.suite import Suite, make_case

Plan = tuple[Case, Transcript, list[str]]


def judging_rows(effort: Effort) -> Iterator[Row]:
    small, large = make_plans(effort.size(2000), 3, 5), make_plans(effort.size(2000), 9, 9)
    for_z3 = large[: effort.size(60)]
    best = best_cpu(
        effort.repeats,
        lambda _: [judge(case, transcript) for case, transcript, _ in large],
        lambda _: [judge(case, transcript) for case, transcript, _ in small],
        lambda _: [check(case, transcript) for case, transcript, _ in large],
        lambda _: [solver.violated_by(case, plan) for case, _, plan in for_z3],
    )
    judged, asked = len(large) / best[0], len(for_z3) / best[3]
    disputed = sum(
        judge(case, transcript).violated != solver.violated_by(case, plan)
        for case, transcript, plan in for_z3
    )
    half = "half of them the witness, half in random order"
    yield Row("judging plans, 9 actions", judged, "/s", f"{len(large)} plans, {half}", Mark("≥", 50_000))
    yield Row("judging plans, 3–5 actions", len(small) / best[1], "/s", f"{len(small)} plans, {half}")
    yield Row(
        "… 9 actions, with reasons", len(large) / best[2], "/s", "the same plans, nearest plan included"
    )
    yield Row("Z3 on plans, 9 actions", asked, "/s", f"`violated_by` on {len(for_z3)} of the same plans")
    yield Row("misstep ÷ that", judged / asked, "×", "same run, batches take turns")
    yield Row("plans on which they differ", disputed, "", "broken constraints compared", Mark("≤", 0))


def make_plans(count: int, low: int, high: int) -> list[Plan]:
    """Complete plans for different cases, every second one correct."""
    suite, dice, plans = Suite(seed=1, low=low, high=high), Dice(1), list[Plan]()
    for index in range(count):
        case = make_case(suite, index)
        order = dice.shuffled(case.witness) if index % 2 else list(case.witness)
        tools = {action.id: action.tool for action in case.actions}
        calls = tuple([Call(tools[action], {}, "", turn) for turn, action in enumerate(order, 1)])
        plans.append((case, Transcript(case.id, calls), order))
    return plans
