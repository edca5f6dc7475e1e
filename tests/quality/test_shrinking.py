"""On planted faults shrinking ends at the known minimum: whatever else is left out, the agent gets it right."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations
from statistics import median
from typing import TypeVar

import msgspec
import pytest

from misstep.core.agent import Assignment
from misstep.core.case import Action, Case, World
from misstep.core.constraint import FAMILIES, Before, Constraint, Family
from misstep.core.outcome import Outcome, Transcript
from misstep.core.results.diagnosis import Reduction
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiries, Inquiry
from misstep.planning.admission.validation import validate_case
from misstep.planning.judging.check import check
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.reader import Relation, read
from misstep.planning.language.requests import write_request, write_rules
from misstep.planning.shrinking.shrinker import shrink
from misstep.planning.simulated.planners import FORMS, simulated_agent
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record

Item = TypeVar("Item")
MANY = 6  # failures of each kind that are shrunk


class Subject:
    """An agent with a planted fault, and how often it has been run."""

    def __init__(self, kind: str, **options: str) -> None:
        self.agent = simulated_agent(kind, options)

    def run(self, case: Case) -> Outcome:
        world = record(case)
        asyncio.run(self.agent.run(Assignment(case.query, derive_seed(case.seed, "agent")), world))
        transcript = Transcript(case.id, world.calls)
        return Outcome(case, transcript, check(case, transcript))

    def fails(self, case: Case, kind: str | None) -> bool:
        verdict = self.run(case).verdict
        return verdict.verdict == "failed" and verdict.error == kind

    def failures(self, suite: Suite, count: int = MANY) -> list[Outcome]:
        outcomes = (self.run(make_case(suite, index)) for index in range(2000))
        failed = (outcome for outcome in outcomes if outcome.verdict.verdict == "failed")
        return [outcome for outcome, _ in zip(failed, range(count), strict=False)]

    def shrink(self, outcome: Outcome) -> Reduction:
        return follow(shrink(outcome), self.run)


def follow(inquiry: Inquiry[Reduction], run: Callable[[Case], Outcome]) -> Reduction:
    try:
        asked = next(inquiry)
        while True:
            asked = inquiry.send([run(case) for case in asked])
    except StopIteration as end:
        return end.value


PLAIN = Suite(31, 4, 7)


def relations(case: Case) -> list[Relation]:
    names = [action.name for action in case.actions]
    return [relation for sentence in case.sentences for relation in read(sentence, names)[0].relations]


def subsets(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


# --- every sub-problem of a problem about order, said anew in the same words -------------------------------


def backward_phrases() -> set[str]:
    lexicon = load_lexicon()
    linkers = (*lexicon.prepositions.after, *lexicon.conjunctions.after)
    return {verb.one for verb in lexicon.verbs.after} | {linker.text for linker in linkers}


BACKWARD = backward_phrases()


def say_again(relation: Relation) -> str:
    """A relation alone, in its own form and with its own phrase; what was a relative clause stands by itself."""
    backward = relation.phrase in BACKWARD
    subject, object_ = (relation.then, relation.first) if backward else (relation.first, relation.then)
    phrase = relation.phrase
    match relation.form.removeprefix("relative "):
        case "verb":
            return f"The {subject} {phrase} the {object_}."
        case "preposition":
            return f"The {subject} takes place {phrase} the {object_}."
        case "fronted preposition":
            return f"{phrase.capitalize()} the {object_}, the {subject} takes place."
        case "conjunction":
            return f"The {subject} takes place {phrase} the {object_} takes place."
        case form:
            assert form == "fronted conjunction"
            return f"{phrase.capitalize()} the {object_} takes place, the {subject} takes place."


def sub_problem(case: Case, names: Sequence[str], kept: Sequence[Relation]) -> Case:
    """Only these activities and these relations; what nothing is said of is free."""
    actions = [action for action in case.actions if action.name in names]
    ids = {action.name: f"a{number}" for number, action in enumerate(actions, 1)}
    told = {name for relation in kept for name in (relation.first, relation.then)}
    free = [f"The {name} may take place at any time." for name in names if name not in told]
    sentences = (*map(say_again, kept), *free)
    constraints = [Before(ids[r.first], ids[r.then], i) for i, r in enumerate(kept)]
    return validate_case(
        msgspec.structs.replace(
            case,
            query=write_request("role-play", load_topics()[case.topic], sentences),
            actions=tuple(Action(ids[a.name], a.name, a.tool, a.description) for a in actions),
            constraints=tuple(constraints),
            sentences=sentences,
            skeleton="",
            witness=(),
        )
    )


def sub_problems(case: Case) -> Iterator[Case]:
    said = relations(case)
    names = [action.name for action in case.actions]
    for activities in subsets(names):
        within = [r for r in said if {r.first, r.then} <= {*activities}]
        for kept in subsets(within):
            if activities and (len(activities) < len(names) or len(kept) < len(said)):
                yield sub_problem(case, activities, kept)


def check_minimal(subject: Subject, reduction: Reduction) -> None:
    """Nothing can be left out, by an enumeration that knows nothing of the steps of the shrinker."""
    assert reduction.outcome
    smaller = list(sub_problems(reduction.case))
    assert smaller or len(reduction.case.actions) == 1
    assert not any(subject.fails(case, reduction.kind) for case in smaller), reduction.case.sentences


def check_kept(subject: Subject, before: Outcome, reduction: Reduction) -> None:
    """It still fails in the same way, it is not larger, it can be read and satisfied."""
    case = reduction.case
    assert reduction.outcome
    assert reduction.minimal
    assert reduction.outcome.verdict.error == reduction.kind == before.verdict.error
    assert subject.fails(case, reduction.kind)
    assert validate_case(case) == case
    assert simulated_passes(case)
    small, large = reduction.after, reduction.before
    assert small.actions <= large.actions
    assert small.constraints <= large.constraints
    assert small.words <= large.words or small.actions < large.actions
    names = [action.name for action in case.actions]
    assert all(len(read(sentence, names)) == 1 for sentence in case.sentences)


def simulated_passes(case: Case) -> bool:
    return Subject("perfect").run(case).verdict.verdict == "passed"


def shrink_all(subject: Subject, suite: Suite = PLAIN) -> list[Reduction]:
    outcomes = subject.failures(suite)
    assert len(outcomes) == MANY
    reductions = [subject.shrink(outcome) for outcome in outcomes]
    for outcome, reduction in zip(outcomes, reductions, strict=True):
        check_kept(subject, outcome, reduction)
    return reductions


def sizes(reductions: Sequence[Reduction]) -> set[tuple[int, int]]:
    return {(each.after.actions, each.after.constraints) for each in reductions}


@pytest.mark.parametrize("phrase", ["prior to", "precedes", "has to come after", "before", "later than"])
def test_a_phrase_is_left_with_two_actions_and_one_sentence(phrase: str) -> None:
    subject = Subject("terminal", phrase=phrase)
    for reduction in shrink_all(subject):
        assert (reduction.after.actions, reduction.after.sentences, reduction.after.constraints) == (2, 1, 1)
        (relation,) = relations(reduction.case)
        assert relation.phrase == phrase
        assert relation.form in ("verb", "preposition", "conjunction")
        check_minimal(subject, reduction)


@pytest.mark.full(after=2)
@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_left_in_the_plainest_words(form: str) -> None:
    subject = Subject("structure", form=form)
    for reduction in shrink_all(subject):
        least = (3, 2) if form.startswith("relative") else (2, 1)
        assert (reduction.after.actions, reduction.after.constraints) == least
        assert reduction.after.sentences == 1
        assert form in [relation.form for relation in relations(reduction.case)]
        plainest = {"precedes", "follows", "before", "after"}
        assert {relation.phrase for relation in relations(reduction.case)} <= plainest
        check_minimal(subject, reduction)


def test_a_topic_is_left_with_two_of_its_actions() -> None:
    subject = Subject("topic", topic="florist")
    for reduction in shrink_all(subject, msgspec.structs.replace(PLAIN, topics=("florist",))):
        assert (reduction.after.actions, reduction.after.sentences, reduction.after.constraints) == (2, 1, 1)
        assert reduction.case.topic == "florist"
        (relation,) = relations(reduction.case)
        assert (relation.form, relation.phrase) in [("verb", "precedes"), ("verb", "follows")]
        check_minimal(subject, reduction)


@pytest.mark.parametrize("shape", ["chain", "join", "fork"])
def test_a_shape_is_left_with_three_actions_and_two_constraints(shape: str) -> None:
    subject = Subject("constraint", shape=shape)
    reductions = shrink_all(subject)
    assert sizes(reductions) == {(3, 2)}
    for reduction in reductions:
        assert {relation.phrase for relation in relations(reduction.case)} <= {"precedes", "follows"}
        check_minimal(subject, reduction)


def test_who_does_nothing_loses_a_single_action() -> None:
    subject = Subject("idle")
    reductions = shrink_all(subject)
    assert sizes(reductions) == {(1, 0)}
    assert {reduction.kind for reduction in reductions} == {"lost"}


def test_who_reads_sentence_by_sentence_needs_two() -> None:
    subject = Subject("greedy")
    reductions = shrink_all(subject)
    assert {each.after.sentences for each in reductions} == {2}
    for reduction in reductions:
        check_minimal(subject, reduction)


def test_who_is_deaf_to_order_fails_on_one_relation() -> None:
    subject = Subject("deaf")
    reductions = shrink_all(subject)
    assert sizes(reductions) == {(2, 1)}
    for reduction in reductions:
        check_minimal(subject, reduction)


def test_the_enumeration_sees_what_could_be_left_out() -> None:
    """Or it would prove nothing: the failures that shrinking begins with have smaller ones within them."""
    for subject in (Subject("terminal", phrase="prior to"), Subject("constraint", shape="join")):
        for outcome in subject.failures(Suite(31, 4, 4)):
            assert any(subject.fails(case, "order") for case in sub_problems(outcome.case))


# --- every sub-problem of a problem of any families ---------------------------------------------------------


def named(constraint: Constraint) -> set[str]:
    """The actions of a constraint, which are all that looks like an id."""
    values = [
        v for k, v in msgspec.to_builtins(constraint).items() if k not in ("kind", "finding", "parameter")
    ]
    flat = [each for value in values for each in (value if isinstance(value, list | tuple) else [value])]
    return {each for each in flat if isinstance(each, str) and each.startswith("a") and each[1:].isdigit()}


def rest_of_world(world: World, ids: set[str], constraints: Sequence[Constraint]) -> World:
    """What the world still holds; without a window there is no day, without a sum nothing has a price."""
    kinds = {type(constraint).__name__ for constraint in constraints}
    told = {name: getattr(world, name) for name in world.__struct_fields__}
    for name in ("durations", "values", "findings", "costs", "failures", "announcements"):
        told[name] = {action: kept for action, kept in told[name].items() if action in ids}
    if "Window" not in kinds:
        told.update(day=None, durations={}, attempts=1)
    if "Spend" not in kinds:
        told["costs"] = {}
    asked = {c.asks for c in constraints if hasattr(c, "asks")}
    told["findings"] = {action: kept for action, kept in told["findings"].items() if action in asked}
    handed = {(c.giver, c.parameter) for c in constraints if hasattr(c, "giver")}
    told["values"] = {
        giver: {name: series for name, series in values.items() if (giver, name) in handed}
        for giver, values in told["values"].items()
        if any(giver == each for each, _ in handed)
    }
    replaced = {c.action for c in constraints if hasattr(c, "by")}
    told["broken"] = tuple(action for action in world.broken if action in replaced)
    voices = {c.announced for c in constraints if isinstance(c, Before)}
    told["announcements"] = {a: text for a, text in told["announcements"].items() if a in voices}
    told["retries"] = world.retries if told["failures"] else 0
    return World(**told)


def family_sub_problems(case: Case) -> Iterator[Case]:
    """All subsets of actions, of what is demanded of them, and of tools that don't work; others are just due."""
    world = case.world
    for ids in subsets([action.id for action in case.actions]):
        within = [c for c in case.constraints if named(c) <= {*ids}]
        for kept in subsets(within):
            for failing in subsets(sorted({*world.failures} & {*ids})):
                left = {action: world.failures[action] for action in failing}
                fewer = (ids, kept, left) != (
                    tuple(a.id for a in case.actions),
                    case.constraints,
                    world.failures,
                )
                if ids and fewer:
                    yield family_sub_problem(
                        case, {*ids}, kept, msgspec.structs.replace(world, failures=left)
                    )


def family_sub_problem(case: Case, ids: set[str], kept: Sequence[Constraint], world: World) -> Case:
    told = {action for constraint in kept for action in named(constraint)}
    due = [f"The {a.name} has to be carried out." for a in case.actions if a.id in ids - told]
    said = [case.sentences[c.sentence] for c in kept if c.sentence is not None]
    constraints = tuple(
        msgspec.structs.replace(
            c, sentence=None if c.sentence is None else said.index(case.sentences[c.sentence])
        )
        for c in kept
    )
    world = rest_of_world(world, ids, constraints)
    sentences = (*said, *due)
    rules = write_rules(constraints, world, 0)
    return msgspec.structs.replace(
        case,
        query=write_request("role-play", load_topics()[case.topic], sentences, rules),
        actions=tuple(action for action in case.actions if action.id in ids),
        constraints=constraints,
        sentences=sentences,
        world=world,
        skeleton="",
        witness=(),
        solution=(),
    )


def check_family_minimal(subject: Subject, reduction: Reduction) -> None:
    """Every sub-problem that somebody who is never wrong solves is solved by the one with the fault."""
    said = [c.sentence for c in reduction.case.constraints if c.sentence is not None]
    assert len(set(said)) == len(said), "each demand has a sentence of its own"
    smaller = [case for case in family_sub_problems(reduction.case) if simulated_passes(case)]
    assert smaller
    assert not any(subject.fails(case, reduction.kind) for case in smaller), reduction.case.sentences


# What is left for somebody who hears nothing of a family: actions and constraints.
LEFT: dict[Family, set[tuple[int, int]]] = {
    "time": {(1, 1), (2, 1)},
    "data": {(2, 1)},
    "adjacent": {(2, 1), (3, 1)},
    "choice": {(2, 1), (3, 1)},  # one of two, or a report with a branch for either case
    "repeat": {(1, 1), (3, 1)},  # so many times, or at most one before it
    "budget": {(2, 2), (4, 3)},  # one choice too expensive, or two together
    "dynamic": {(1, 0), (2, 1), (3, 1)},
}


@pytest.mark.full(after=2)
@pytest.mark.parametrize("family", LEFT)
def test_who_is_deaf_to_a_family_fails_on_the_least_of_it(family: Family) -> None:
    subject = Subject("deaf", family=family)
    suite = Suite(3, max(4, least_actions((family,))), 7, families=(family,))
    reductions = shrink_all(subject, suite)
    assert sizes(reductions) <= LEFT[family]
    for reduction in reductions:
        check_family_minimal(subject, reduction)


def test_tools_that_nobody_needs_go_too() -> None:
    subject = Subject("terminal", phrase="prior to")
    for reduction in shrink_all(subject, msgspec.structs.replace(PLAIN, distractors=3)):
        assert not reduction.case.distractors
        check_minimal(subject, reduction)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("family", ["data", "adjacent", "repeat", "budget"])
def test_the_same_where_every_family_has_its_say(family: Family) -> None:
    subject = Subject("deaf", family=family)
    outcomes = subject.failures(Suite(4, 6, 7, families=FAMILIES), 4)
    for outcome in outcomes:
        reduction = subject.shrink(outcome)
        check_kept(subject, outcome, reduction)
        assert reduction.after.actions <= 3
        assert reduction.after.constraints <= 4
        check_family_minimal(subject, reduction)


# --- flaky agents -------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("subject", "least"),
    [
        (Subject("probability", rate="0.3"), (2, 1)),
        (Subject("probability", rate="0.6"), (2, 1)),
        (Subject("terminal", phrase="prior to", strength="0.5"), (2, 1)),
        (Subject("structure", form="verb", strength="0.4"), (2, 1)),
        (Subject("constraint", shape="join", strength="0.5"), (3, 2)),
    ],
    ids=["coin 0.3", "coin 0.6", "terminal", "structure", "constraint"],
)
def test_agents_that_fail_now_and_then(subject: Subject, least: tuple[int, int]) -> None:
    """Nearly always the minimum, and never something that fails for no reason."""
    reductions = [subject.shrink(outcome) for outcome in subject.failures(PLAIN, 14)]
    found = [each for each in reductions if each.outcome]
    assert len(found) >= 13
    assert all(each.failed / each.tried > 0.1 for each in found)
    assert sum((each.after.actions, each.after.constraints) == least for each in found) >= 12
    assert all(each.agent_runs <= 500 for each in found)


def test_few_runs_are_enough() -> None:
    """Of agents that always fail the same way; large problems take hardly more than small ones."""
    subject = Subject("terminal", phrase="prior to")
    for suite in (PLAIN, Suite(5, 12, 16)):
        runs = [subject.shrink(each).agent_runs for each in subject.failures(suite)]
        assert max(runs) <= 30, runs
        assert median(runs) <= 15, runs


# --- the same again -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "subject",
    [Subject("constraint", shape="join"), Subject("terminal", strength="0.5")],
    ids=["steady", "flaky"],
)
def test_stopped_at_any_moment_and_gone_on_with_it_ends_the_same(subject: Subject) -> None:
    (outcome,) = subject.failures(PLAIN, 1)
    whole = subject.shrink(outcome)
    assert subject.shrink(outcome) == whole
    kept = dict[str, Outcome]()
    rounds = 0
    while True:
        campaign = Inquiries([shrink(outcome)], lambda case: kept.get(case.id))
        for _ in range(7):  # outcomes before it is killed again
            for case in campaign.ask(1):
                kept[case.id] = subject.run(case)
                campaign.tell(kept[case.id])
        rounds += 1
        if campaign.found:
            break
    assert campaign.found == [whole]
    assert rounds > 1
    assert len(kept) == whole.agent_runs
