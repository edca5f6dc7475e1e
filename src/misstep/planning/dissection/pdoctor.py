"""Determines the cause of a failure with PDoctor's Algorithm 2."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import Literal, TypeAlias

import msgspec

from misstep.core.case import Case
from misstep.core.results.diagnosis import Cause, Diagnosis
from misstep.core.rng import Dice, derive_seed
from misstep.core.run import Inquiry
from misstep.planning.dissection.experiments import attempt
from misstep.planning.variation.anatomy import Anatomy, again, assemble, take_apart
from misstep.planning.variation.mutations import change_topic, rephrase, substitute_words

RERUNS = 3

Stage = Literal["reruns", "runs with other words", "runs on another topic", "runs in other sentences"]


PlannedRun: TypeAlias = tuple[Stage, Case]


def dissect(case: Case, mutations: int, seed: int) -> Inquiry[Diagnosis]:
    """Run Alg. 2 with K = `mutations`, and name the cause of the failure of `case`.

    A run without a verdict is repeated a few times; if that doesn't help, nothing is determined.
    """
    return _carry_out(case, algorithm(case, take_apart(case), mutations, seed))


def most_runs(mutations: int) -> int:
    """The maximum number of runs of Alg. 2, if each gets a verdict."""
    return RERUNS + 2 * mutations + 1


def algorithm(case: Case, anatomy: Anatomy, mutations: int, seed: int) -> Generator[PlannedRun, bool, Cause]:
    """Alg. 2 itself: yields trials and is sent whether each passed.

    It follows the paper exactly, including the last loop: whether the first query with equivalent constraints
    passes or fails, the algorithm returns, so a second one is never tried. A kind of mutation that is
    impossible, such as another topic for the user's own tools, is skipped; if that is the last one, nothing
    is determined.
    """
    for number in range(RERUNS):
        if (yield "reruns", again(case, number)):
            return "probability"
    for mutant in _mutants(anatomy, _substitute_all, mutations, derive_seed(seed, "terminal")):
        if (yield "runs with other words", mutant):
            return "terminal"
    for mutant in _mutants(anatomy, change_topic, mutations, derive_seed(seed, "topic")):
        if (yield "runs on another topic", mutant):
            return "topic"
    for mutant in _mutants(anatomy, rephrase, mutations, derive_seed(seed, "query")):
        if (yield "runs in other sentences", mutant):
            return "structure"
        return "constraint"
    return "undetermined"


def _carry_out(case: Case, steps: Generator[PlannedRun, bool, Cause]) -> Inquiry[Diagnosis]:
    runs = 0
    tried, failed = Counter[Stage](), Counter[Stage]()
    stage, variant = next(steps)
    while True:
        done = yield from attempt(variant)
        runs += done.runs
        if done.failed is None:
            return Diagnosis(case.id, "undetermined", None, "", (), done.complaint, runs)
        tried[stage] += 1
        failed[stage] += done.failed
        try:
            stage, variant = steps.send(not done.failed)
        except StopIteration as end:
            counts = [f"{failed[stage]} of {count} {stage}" for stage, count in tried.items()]
            guilty = f"topic {case.topic}" if end.value == "topic" else ""
            return Diagnosis(case.id, end.value, None, guilty, (), f"failed {', '.join(counts)}", runs)


def _mutants(
    anatomy: Anatomy, mutate: Callable[[Anatomy, Dice], Anatomy | None], count: int, seed: int
) -> Iterator[Case]:
    for number in range(count):
        own = derive_seed(seed, number)
        mutant = mutate(anatomy, Dice(own))
        case = assemble(msgspec.structs.replace(mutant, seed=own)) if mutant else None
        if case:
            yield case


def _substitute_all(anatomy: Anatomy, dice: Dice) -> Anatomy | None:
    """Substitute all words, or as many as have substitutes."""
    words = sorted({word.one for drawn in anatomy.words for word in drawn})
    tries = (substitute_words(anatomy, dice.sample(words, size), dice) for size in range(len(words), 0, -1))
    return next((found for found in tries if found), None)
