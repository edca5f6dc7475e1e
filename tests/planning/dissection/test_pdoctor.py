"""Alg. 2, branch by branch, with the runs that each takes."""

import pytest

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.outcome import Judgement
from misstep.core.results.diagnosis import Diagnosis
from misstep.planning.dissection.pdoctor import dissect, most_runs
from misstep.planning.language.semantics import Relation
from misstep.planning.plans.order import order_of
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import take_apart
from tests.planning.dissection.conftest import Rule, hold, some_case

K = 5


def dissected(case: Case, rule: Rule) -> tuple[Diagnosis, list[Case]]:
    return hold(dissect(case, K, seed=3), rule)


def passes_at(*numbers: int) -> Rule:
    """Fails every run but those with these numbers, from 1."""
    runs = iter(range(1, 1000))
    return lambda _: "passed" if next(runs) in numbers else "failed"


def closure(case: Case) -> tuple[list[int], list[int]]:
    pairs: list[Relation] = [(c.first, c.then) for c in case.constraints]
    order = order_of([action.id for action in case.actions], pairs)
    return order.after, order.before


def phrases(case: Case) -> list[str]:
    return [word.one for words in take_apart(case).words for word in words]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_rerun_that_passes_makes_it_probability(number: int) -> None:
    case = some_case()
    found, asked = dissected(case, passes_at(number))
    assert (found.cause, found.agent_runs, len(asked)) == ("probability", number, number)
    assert found.evidence == f"failed {number - 1} of {number} reruns"
    assert {each.query for each in asked} == {case.query}


@pytest.mark.parametrize("number", [1, K])
def test_other_words_that_pass_make_it_terminal(number: int) -> None:
    case = some_case()
    found, asked = dissected(case, passes_at(3 + number))
    assert (found.cause, found.agent_runs) == ("terminal", 3 + number)
    assert found.evidence == f"failed 3 of 3 reruns, {number - 1} of {number} runs with other words"
    for mutant in asked[3:]:
        assert (mutant.topic, mutant.skeleton, mutant.constraints) == (
            case.topic,
            case.skeleton,
            case.constraints,
        )
        assert all(one != other for one, other in zip(phrases(mutant), phrases(case), strict=True))


@pytest.mark.parametrize("number", [1, K])
def test_another_topic_that_passes_makes_it_topic(number: int) -> None:
    case = some_case()
    found, asked = dissected(case, passes_at(3 + K + number))
    assert (found.cause, found.guilty, found.agent_runs) == ("topic", f"topic {case.topic}", 3 + K + number)
    for mutant in asked[3 + K :]:
        assert mutant.topic != case.topic
        assert (mutant.skeleton, phrases(mutant)) == (case.skeleton, phrases(case))


@pytest.mark.parametrize(("number", "cause"), [(3 + 2 * K + 1, "structure"), (0, "constraint")])
def test_the_first_query_with_the_same_constraints_decides(number: int, cause: str) -> None:
    """As printed, the last loop returns in its first round, whichever way it goes."""
    case = some_case()
    found, asked = dissected(case, passes_at(number))
    assert (found.cause, found.agent_runs) == (cause, 3 + 2 * K + 1)
    assert found.agent_runs == most_runs(K)
    query = asked[-1]
    assert query.skeleton != case.skeleton
    assert (query.topic, closure(query)) == (case.topic, closure(case))


def test_nothing_is_asked_twice_and_the_same_is_asked_again() -> None:
    case = some_case(1)
    _, asked = dissected(case, passes_at())
    assert len({each.id for each in asked}) == len({each.seed for each in asked}) == len(asked)
    assert dissected(case, passes_at())[1] == asked


def test_it_gives_no_confidence() -> None:
    found, _ = dissected(some_case(), passes_at(1))
    assert (found.confidence, found.posterior) == (None, {})


def test_tools_of_one_s_own_have_no_topic_to_change() -> None:
    tools = tuple(
        Tool(name, f"Does {name}.", {"type": "object"}) for name in ("scan", "sort", "send", "file")
    )
    case = make_case(Suite(2, 4, 4, tools=tools), 0)
    found, asked = dissected(case, passes_at())
    assert (found.cause, len(asked)) == ("constraint", 3 + K + 1)


def test_a_run_without_a_verdict_is_tried_again() -> None:
    judgements: list[Judgement] = ["errored", "inconclusive", "passed"]
    found, asked = dissected(some_case(), lambda _: judgements.pop(0))
    assert (found.cause, found.agent_runs) == ("probability", 3)
    assert found.evidence == "failed 0 of 1 reruns"
    assert len({each.id for each in asked}) == 3


def test_without_any_verdict_nothing_is_determined() -> None:
    found, asked = dissected(some_case(), lambda _: "errored")
    assert (found.cause, found.agent_runs, len(asked)) == ("undetermined", 3, 3)
    assert found.evidence == "errored three times running: For a reason."
