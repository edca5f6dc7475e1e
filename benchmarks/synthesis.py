"""Measures how fast problems are generated, by misstep and by the plain synthesiser."""

from collections.abc import Iterator
from statistics import fmean

import msgspec

from benchmarks import baseline
from benchmarks.baseline import FreshSolver, KeptSolver, Solver
from benchmarks.measure import Effort, Mark, Row, best_cpu
from misstep.core.case import Case
from misstep.core.constraint import Before
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.admission.validation import validate_case
from misstep.planning.language.reader import read
from misstep.planning.plans.order import count_orders
from misstep.planning.synthesis.paragraphs import GROUP_RATE, JOIN_RATE, MOST_PARTS, Recipe, draft_paragraph
from misstep.planning.synthesis.suite import Suite, make_case

LOW, HIGH = 3, 5


def synthesis_rows(effort: Effort) -> Iterator[Row]:
    _check_same_language()
    many, few = effort.size(1000), effort.size(60)
    encode = msgspec.json.Encoder().encode
    best = best_cpu(
        effort.repeats,
        lambda batch: _ours(many, seed=batch),
        lambda batch: [encode(case) for case in _ours(many, seed=1000 + batch)],
        lambda _: _plain(few, KeptSolver),
        lambda _: _plain(few, FreshSolver),
    )
    made, written, kept, fresh = many / best[0], many / best[1], few / best[2], few / best[3]
    plain = _plain(few, FreshSolver)
    lengths = f"{_sentences(plain):.1f} sentences a problem, misstep's have {_sentences(_ours(many, 0)):.1f}"
    yield Row("synthesis, 3–5 actions", made, "/s", f"whole cases, {many} new ones a batch", Mark("≥", 5000))
    yield Row("… encoded as JSON", written, "/s", "the same, each also written out")
    yield Row(
        "plain Z3, asked per sentence", fresh, "/s", f"{few} cases a batch, Alg. 1 as written; {lengths}"
    )
    yield Row("misstep ÷ that", made / fresh, "×", "same run, batches take turns", Mark("≥", 100))
    per_sentence = made * _sentences(_ours(many, 0)) / (fresh * _sentences(plain))
    yield Row("misstep ÷ that, per sentence", per_sentence, "×", "the same, by sentences instead of problems")
    yield Row("tuned Z3, one solver kept", kept, "/s", "the same cases, push and pop instead of a new solver")
    yield Row("misstep ÷ that", made / kept, "×", "same run, batches take turns")
    unsound = sum(not is_sound(case) for case in plain)
    yield Row(
        "plain Z3, unsound cases", unsound, "", f"{few} cases, admitted and read by misstep", Mark("≤", 0)
    )


def chance_rows(effort: Effort) -> Iterator[Row]:
    size = 20
    paragraphs = [draft_paragraph(size, Recipe(), Dice(seed)) for seed in range(effort.size(100))]
    orders = [tuple(draft.order.before) for draft in paragraphs]

    def count(_: int) -> None:
        count_orders.cache_clear()
        for order in orders:
            count_orders(order)

    seconds = best_cpu(effort.repeats, count)[0]
    how = f"mean of {len(orders)} synthesised orders, cache emptied before each batch"
    yield Row(f"exact chance level, {size} actions", seconds / len(orders) * 1000, "ms", how)


def is_sound(case: Case) -> bool:
    """Whether a case is satisfiable, mentions all actions, and its text states exactly its constraints."""
    try:
        admitted = validate_case(case) == case
    except UsageError:
        return False
    ids = {action.name: action.id for action in case.actions}
    named = set[str]()
    for number, sentence in enumerate(case.sentences):
        said = [c for c in case.constraints if isinstance(c, Before) and c.sentence == number]
        demanded = {(c.first, c.then) for c in said}
        readings = read(sentence, ids)
        meanings = [{(ids[r.first], ids[r.then]) for r in reading.relations} for reading in readings]
        if meanings != [demanded]:
            return False
        named.update(readings[0].mentioned)
    return admitted and named == set(ids)


def _ours(count: int, seed: int) -> list[Case]:
    suite = Suite(seed, LOW, HIGH)
    return [make_case(suite, index) for index in range(count)]


def _plain(count: int, solver: type[Solver]) -> list[Case]:
    return [baseline.make_case(LOW, HIGH, seed, solver) for seed in range(count)]


def _sentences(cases: list[Case]) -> float:
    return fmean(len(case.sentences) for case in cases)


def _check_same_language() -> None:
    """Check that the baseline, which must not import synthesis, uses the same rates."""
    recipe = Recipe()
    ours = (MOST_PARTS, JOIN_RATE, GROUP_RATE, recipe.group, recipe.relative, recipe.iterations)
    plain = (
        baseline.MOST_PARTS,
        baseline.JOIN_RATE,
        baseline.GROUP_RATE,
        baseline.MOST_IN_GROUP,
        baseline.RELATIVE_RATE,
        baseline.ITERATIONS,
    )
    if ours != plain:
        raise RuntimeError(f"the baseline writes another language: {plain} instead of {ours}")
