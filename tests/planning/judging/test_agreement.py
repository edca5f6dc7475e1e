"""The fast path, the reference and Z3, each written on its own, agree on cases and calls of all kinds."""

from collections import Counter
from random import Random

import msgspec
import pytest

from misstep.core.case import Case, plain_order
from misstep.core.constraint import Constraint, Given, Handover
from misstep.core.outcome import Transcript, Verdict
from misstep.planning.judging import solver
from misstep.planning.judging.breaches import View, judge_plain, retrace
from misstep.planning.judging.check import judge, judge_history, replay
from misstep.planning.judging.verification import verify
from misstep.planning.world.simulator import History
from tests.planning.conftest import CaseMaker
from tests.planning.judging import semantics
from tests.planning.judging.random_cases import random_case, random_transcript

KINDS = 12


def draw(count: int, seed: int) -> list[tuple[Case, Transcript]]:
    random = Random(seed)
    drawn = list[tuple[Case, Transcript]]()
    while len(drawn) < count:
        case = random_case(random)
        drawn += [(case, random_transcript(case, random)) for _ in range(3)]
    return drawn


def by_definition(case: Case, history: History) -> Verdict:
    """The verdict, put together from what constraints mean."""
    violated = tuple(
        index for index, c in enumerate(case.constraints) if not semantics.holds(c, history, case)
    )
    missing = semantics.lost(case, history)
    if history.acts:
        return Verdict(case.id, "failed", "act", history.acts[0].step, violated, missing=missing)
    if missing:
        return Verdict(case.id, "failed", "lost", violated=violated, missing=missing)
    if history.parameters:
        first = msgspec.structs.replace(history, parameters=history.parameters[:1])
        core = tuple(
            index
            for index, c in enumerate(case.constraints)
            if isinstance(c, Handover | Given) and not semantics.holds(c, first, case)
        )
        return Verdict(case.id, "failed", "parameter", history.parameters[0].step, violated, core)
    if violated:
        steps = [semantics.broken_at(case.constraints[index], history, case) or 0 for index in violated]
        broken = violated[steps.index(min(steps))]
        return Verdict(case.id, "failed", "order", min(steps), violated, (broken,))
    return Verdict(case.id, "passed")


@pytest.mark.full(after=1)
@pytest.mark.parametrize("part", range(4))
def test_the_fast_path_judges_as_the_constraints_mean(part: int) -> None:
    errors, kept, broken = Counter[str | None](), Counter[type[Constraint]](), Counter[type[Constraint]]()
    for case, transcript in draw(3000, part):
        parallel = "forbid" if len(transcript.calls) % 5 == 0 else "ordered"
        history = replay(case, transcript.calls, parallel)
        verdict, meant = judge(case, transcript, parallel), by_definition(case, history)
        assert (verdict.verdict, verdict.error, verdict.step) == (meant.verdict, meant.error, meant.step)
        assert (verdict.violated, verdict.core, verdict.missing) == (
            meant.violated,
            meant.core,
            meant.missing,
        )
        assert View(case, history).due == semantics.due(case, history)
        errors[verdict.error] += 1
        for index, constraint in enumerate(case.constraints):
            (broken if index in verdict.violated else kept)[type(constraint)] += 1
    assert min(errors[error] for error in (None, "act", "lost", "parameter", "order")) > 50
    assert len(kept) == len(broken) == KINDS
    assert min(kept.values()) > 50
    assert min(broken.values()) > 5


@pytest.mark.full
@pytest.mark.usefixtures("hurried_z3")
def test_z3_sees_the_same_constraints_broken() -> None:
    """On incomplete attempts as well; what has passed is complete to Z3, and can be done at all."""
    verdicts, broken = Counter[str](), Counter[type[Constraint]]()
    for number, (case, transcript) in enumerate(draw(360, 50)):
        verdict = judge(case, transcript)
        verify(case, transcript, verdict)
        verdicts[verdict.verdict] += 1
        broken.update(type(case.constraints[index]) for index in verdict.violated)
        if number % 4 == 0:
            history = replay(case, transcript.calls)
            conflict = solver.conflict(case, history)
            assert len(conflict) <= 1
            assert set(conflict) <= set(verdict.violated)
            assert bool(conflict) == bool(verdict.violated)
            unslipped = msgspec.structs.replace(history, parameters=())  # a slip excuses what it prevented
            whole = not verdict.violated and not semantics.lost(case, unslipped)
            assert solver.accepts(case, history) == whole
    assert min(verdicts.values()) > 50
    assert len(broken) >= KINDS - 1


def test_plain_cases_are_judged_alike_on_either_way(make_cases: CaseMaker) -> None:
    random = Random(3)
    for case in make_cases(1500, 2, 7, seed=5):
        order = plain_order(case)
        assert order is not None
        for parallel in ("ordered", "forbid"):
            transcript = random_transcript(case, random)
            ended = random.choice(["answered"] * 8 + ["timeout", "iterations", "error"])
            transcript = msgspec.structs.replace(transcript, ended=ended)
            trace = retrace(case, transcript.calls, parallel == "forbid")
            history = replay(case, transcript.calls, parallel)
            assert judge_plain(case, order, transcript, trace) == judge_history(case, transcript, history)
            assert trace.history.deeds == history.deeds
