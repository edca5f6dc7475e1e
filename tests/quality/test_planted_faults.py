"""Simulated planners do exactly what is planted in them, seen only through their calls."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from misstep.core.agent import Assignment
from misstep.core.case import Case
from misstep.core.event import CaseFinished
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.settings import Settings, Span
from misstep.errors import UsageError
from misstep.features.plan_test.run import run_agent
from misstep.planning.judging.check import check
from misstep.planning.language.reader import Relation, read
from misstep.planning.plans.order import Order
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record


def cases(count: int, low: int = 3, high: int = 6, seed: int = 31) -> Iterator[Case]:
    return (make_case(Suite(seed, low, high), index) for index in range(count))


def run(case: Case, kind: str, attempt: int = 0, **options: str) -> Verdict:
    agent = simulated_agent(kind, options)
    world = record(case)
    asyncio.run(agent.run(Assignment(case.query, case.seed + attempt), world))
    return check(case, Transcript(case.id, world.calls))


def relations(case: Case) -> list[Relation]:
    names = [action.name for action in case.actions]
    return [relation for sentence in case.sentences for relation in read(sentence, names)[0].relations]


def test_perfect_never_fails() -> None:
    assert all(run(case, "perfect").verdict == "passed" for case in cases(400, 2, 12))


def test_perfect_reads_every_template_and_exhaustive_suites() -> None:
    for template in ("role-play", "brief", "memo"):
        suite = Suite(1, 3, 5, request=template, exhaustive=True)
        assert all(run(make_case(suite, index), "perfect").verdict == "passed" for index in range(84))


def test_random_is_as_good_as_luck() -> None:
    chosen = list(cases(1500, 2, 5))
    passed = sum(run(case, "random").verdict == "passed" for case in chosen)
    expected = sum(case.chance or 0 for case in chosen)
    assert abs(passed - expected) < 4 * expected**0.5


def test_idle_loses_everything() -> None:
    for case in cases(20):
        verdict = run(case, "idle")
        assert (verdict.error, len(verdict.missing)) == ("lost", len(case.actions))


def test_greedy_never_fails_on_one_sentence_and_often_on_many() -> None:
    chosen = list(cases(400))
    single = [run(case, "greedy").verdict for case in chosen if len(case.sentences) == 1]
    many = [run(case, "greedy").verdict for case in chosen if len(case.sentences) > 3]
    assert set(single) == {"passed"}
    assert many.count("failed") > len(many) / 2


def planted(kind: str, present: Callable[[Case], bool], count: int = 400, **options: str) -> tuple[int, int]:
    """How many cases have the trigger and how many have not; a planner must fail on just the former."""
    counts = {True: 0, False: 0}
    for case in cases(count):
        trigger = present(case)
        assert (run(case, kind, **options).verdict == "failed") == trigger, case.skeleton
        counts[trigger] += 1
    assert all(counts.values())
    return counts[True], counts[False]


@pytest.mark.full(after=1)
@pytest.mark.parametrize(
    "phrase", ["prior to", "precedes", "is followed at some point by", "has to come after", "before"]
)
def test_terminal_fails_just_where_its_phrase_is(phrase: str) -> None:
    planted("terminal", lambda case: any(r.phrase == phrase for r in relations(case)), phrase=phrase)


@pytest.mark.full(after=1)
@pytest.mark.parametrize(
    "form", ["verb", "fronted preposition", "conjunction", "fronted conjunction", "relative verb"]
)
def test_structure_fails_just_where_its_form_is(form: str) -> None:
    planted("structure", lambda case: any(r.form == form for r in relations(case)), form=form)


def test_topic_fails_just_in_its_topic() -> None:
    planted("topic", lambda case: case.topic == "florist", topic="florist")


def occurs(shape: str, case: Case) -> bool:
    """The definition of each shape, spelt out over all triples."""
    ids = [action.id for action in case.actions]
    order = Order(len(ids), [(ids.index(c.first), ids.index(c.then)) for c in case.constraints])
    size = range(len(ids))
    before = order.implies
    triples = [(i, j, k) for i in size for j in size for k in size if len({i, j, k}) == 3]
    if shape == "chain":
        return any(before(i, j) and before(j, k) for i, j, k in triples)
    free = [(i, j, k) for i, j, k in triples if not before(i, j) and not before(j, i)]
    if shape == "join":
        return any(before(i, k) and before(j, k) for i, j, k in free)
    return any(before(k, i) and before(k, j) for i, j, k in free)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("shape", ["join", "fork", "chain"])
def test_constraint_fails_just_where_its_shape_is(shape: str) -> None:
    planted("constraint", lambda case: occurs(shape, case), shape=shape)


def test_probability_is_a_coin_that_depends_on_the_attempt() -> None:
    chosen = list(cases(300))
    failed = [
        [run(case, "probability", attempt, rate="0.3").verdict == "failed" for attempt in range(2)]
        for case in chosen
    ]
    share = sum(map(sum, failed)) / 600
    assert 0.22 < share < 0.38
    assert any(first != second for first, second in failed)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_coin_knows_nothing_of_the_case(size: int, tmp_path: Path) -> None:
    settings = Settings(
        agent="sim:probability",
        agent_args={"rate": "0.3"},
        actions=Span(3, 5),
        count=900,
        store=str(tmp_path / "s.db"),
    )
    outcomes = list[Outcome]()
    run_agent(
        settings, lambda event: outcomes.append(event.outcome) if isinstance(event, CaseFinished) else None
    )
    failed = [each.verdict.verdict == "failed" for each in outcomes if len(each.case.actions) == size]
    assert 0.2 < sum(failed) / len(failed) < 0.4


def test_what_it_can_t_read_it_doesn_t_guess() -> None:
    case = next(cases(1))
    world = record(case)
    with pytest.raises(ValueError, match="reads only what misstep has written"):
        asyncio.run(simulated_agent("perfect", {}).run(Assignment("Do as you like.", 0), world))
    asyncio.run(simulated_agent("random", {}).run(Assignment("Do as you like.", 0), world))
    assert len(world.calls) == len(case.actions)


def test_strength_weakens_a_fault() -> None:
    chosen = [case for case in cases(600) if any(r.form == "verb" for r in relations(case))]
    failed = sum(run(case, "structure", form="verb", strength="0.5").verdict == "failed" for case in chosen)
    assert 0.4 * len(chosen) < failed < 0.9 * len(chosen)
    assert not any(run(case, "structure", form="verb", strength="0").verdict == "failed" for case in chosen)


def test_same_seed_same_calls() -> None:
    for case in cases(20):
        for kind in ("random", "probability"):
            assert run(case, kind) == run(case, kind)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("perfct", {}, "unknown agent 'sim:perfct'"),
        ("perfct", {}, "Did you mean 'sim:perfect'?"),
        ("perfect", {"strength": "1"}, "sim:perfect has no parameter 'strength'\n  it has no parameters"),
        ("terminal", {"phrse": "x"}, "Did you mean 'phrase'?"),
        ("terminal", {"phrase": "prior too"}, "Did you mean 'prior to'?"),
        ("terminal", {"strength": "2"}, "`float` <= 1.0"),
        ("terminal", {"strength": "much"}, "Expected `float`"),
        ("topic", {"topic": "bakker"}, "Did you mean 'baker'?"),
        ("structure", {"form": "verbs"}, "Did you mean 'verb'?"),
        ("constraint", {"shape": "knot"}, "knot"),
    ],
)
def test_bad_parameters_are_explained(kind: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        simulated_agent(kind, options)
    assert message in str(error.value)
