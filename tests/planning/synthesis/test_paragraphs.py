"""The contract of synthesis: what every problem keeps to, held against an independent reader."""

import re
from collections import Counter
from itertools import permutations
from math import factorial
from pathlib import Path

import msgspec
import pytest

from misstep.core.case import Case
from misstep.planning.language.reader import read
from misstep.planning.language.syntax import all_shapes, shapes_in
from misstep.planning.synthesis.suite import Suite, make_case
from tests.planning.conftest import CaseMaker, printed_by

RECIPES: list[dict[str, float]] = [
    {},
    {"relative": 0.6, "group": 4},
    {"redundancy": 0.5},
    {"sentences": 2, "group": 1},
    {"relative": 0.0, "sentences": 20},
    {"iterations": 1, "redundancy": 1.0, "group": 2},
]
SIZES = [(2, 2, 200), (3, 5, 2000), (6, 9, 500), (14, 20, 60)]


def pairs(case: Case) -> set[tuple[str, str, int | None]]:
    return {(c.first, c.then, c.sentence) for c in case.constraints}


def closure(relations: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Transitive closure the plain way."""
    closed = set(relations)
    while True:
        more = {(a, d) for a, b in closed for c, d in closed if b == c} - closed
        if not more:
            return closed
        closed |= more


@pytest.mark.full(after=3)
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize(("low", "high", "count"), SIZES, ids=str)
def test_text_and_constraints_mean_the_same(
    make_cases: CaseMaker, recipe: dict[str, float], low: int, high: int, count: int
) -> None:
    """The reader, which knows only words and names, finds one meaning in each sentence: the constraints."""
    if recipe.get("sentences", 20) * 6 < high:
        recipe = {**recipe, "sentences": 4}
    for case in make_cases(count, low, high, seed=11, **recipe):
        ids = {action.name: action.id for action in case.actions}
        found = set()
        for number, sentence in enumerate(case.sentences):
            readings = read(sentence, ids)
            assert len(readings) == 1, f"{len(readings)} readings: {sentence}"
            found |= {(ids[relation.first], ids[relation.then], number) for relation in readings[0].relations}
        assert found == pairs(case)


@pytest.mark.parametrize("recipe", RECIPES[:4], ids=str)
def test_no_trivia(make_cases: CaseMaker, recipe: dict[str, float]) -> None:
    for case in make_cases(1500, seed=5, **recipe):
        assert all(c.first != c.then for c in case.constraints)
        known: set[tuple[str, str]] = set()
        for number, sentence in enumerate(case.sentences):
            said = {(c.first, c.then) for c in case.constraints if c.sentence == number}
            assert (said <= closure(known)) == (number in case.redundant), sentence
            known |= said


def test_redundancy_is_off_by_default_and_on_demand(make_cases: CaseMaker) -> None:
    assert not any(case.redundant for case in make_cases(300))
    assert sum(bool(case.redundant) for case in make_cases(300, redundancy=0.5)) > 100


@pytest.mark.parametrize(("low", "high", "count"), SIZES, ids=str)
def test_every_action_is_mentioned(make_cases: CaseMaker, low: int, high: int, count: int) -> None:
    for case in make_cases(count, low, high, seed=2):
        assert low <= len(case.actions) <= high
        text = " ".join(case.sentences).lower()
        assert all(f"the {action.name}" in text for action in case.actions)


def test_the_witness_is_right_and_chance_is_exact(make_cases: CaseMaker) -> None:
    """Every order of up to seven actions tried one by one."""
    for case in [*make_cases(400, 2, 6, seed=3), *make_cases(10, 7, 7, seed=4)]:
        demanded = {(c.first, c.then) for c in case.constraints}
        good = {
            order
            for order in permutations(action.id for action in case.actions)
            if all(order.index(first) < order.index(then) for first, then in demanded)
        }
        assert case.witness in good
        assert case.chance == len(good) / factorial(len(case.actions))


def test_the_listing_order_is_no_better_than_luck(make_cases: CaseMaker) -> None:
    """An agent that takes the tools as listed, or by first mention, must gain nothing by it."""
    cases = list(make_cases(4000, seed=9))
    right = sum(all(int(c.first[1:]) < int(c.then[1:]) for c in case.constraints) for case in cases)
    expected = sum(case.chance or 0 for case in cases)
    assert abs(right - expected) < 4 * expected**0.5


def test_english(make_cases: CaseMaker) -> None:
    for case in make_cases(3000, 3, 8, seed=8, relative=0.4):
        for sentence in case.sentences:
            assert re.fullmatch(r"[A-Z][a-z ,;]+\.", sentence), sentence
            assert not re.search(r"  | ,|,,|;;| ;|,;|,\.|(\b\w+\b) \1\b", sentence), sentence
        assert case.query.count("\n\n") == 2
        assert f"\n\n{' '.join(case.sentences)}\n\n" in case.query


def test_no_phrase_comes_twice_while_another_is_left(make_cases: CaseMaker) -> None:
    from misstep.planning.language.lexicon import load_lexicon

    phrases = [form for verb in load_lexicon().verbs.before for form in {verb.one, verb.many}]
    for case in make_cases(500, seed=6):
        text = re.sub(r"[^a-z ]", "", " ".join(case.sentences).lower())
        for phrase in ("is followed at some point by", "must precede", "needs to come before"):
            assert phrase in phrases
            assert text.count(f" {phrase} ") <= 1


@pytest.mark.full
def test_rules_that_keep_a_sentence_from_being_read_otherwise(make_cases: CaseMaker) -> None:
    """What the reader can't see in the words, seen in the skeletons."""
    several = r"a\d+\+a\d+[a0-9+]*"
    three = r"a\d+\+a\d+\+a\d+[a0-9+]*"
    joins = r", (?:and|but|yet|while|whereas) "
    for case in make_cases(4000, 3, 9, seed=10, relative=0.6, group=4):
        for part in re.split(rf"; |\. |\.$|{joins}", case.skeleton):
            # "before B and C happen" can be heard as before both have happened
            assert not re.search(rf"SC< {several}(\[[^]]*\]+)? VP0", part)
            # "after A, B and C happen" begins like "after A"
            assert not re.search(rf"SC> {three}(\[[^]]*\]+)? VP0", part)
            # no list beside an opening phrase
            assert not (part.startswith("P") and re.search(three, part)), part
            # "both A and B, both of which"
            assert not re.match(r"P[<>] .*, a\d+\+a\d+\[", re.sub(r"\[[^]]*\]+,", ",", part)), part
            # one "which" inside another hangs on a group of several
            assert all("+" in group for group in re.findall(r"\[which [^][]* ([a0-9+]+)\[", part))
        # "while" before something that happens can be heard as "during"
        assert not re.search(r", while [a0-9+]+(\[[^]]*\]+)? VP0", case.skeleton)
        # one comma is enough to join a sentence
        assert all(len(re.findall(joins, sentence)) <= 1 for sentence in case.skeleton.split(". "))


@pytest.mark.full
def test_every_shape_of_the_grammar_is_used(make_cases: CaseMaker) -> None:
    used = Counter(
        shape for case in make_cases(6000, 6, 8, seed=1, relative=0.8) for shape in shapes_in(case.skeleton)
    )
    assert set(used) == set(all_shapes())


def test_all_joins_and_group_sizes_are_used(make_cases: CaseMaker) -> None:
    skeletons = " ".join(case.skeleton for case in make_cases(3000, 4, 8, seed=1, relative=0.6))
    for join in ("; ", ", and ", ", but ", ", yet ", ", while ", ", whereas "):
        assert join in skeletons
    assert re.search(r"a\d+\+a\d+\+a\d+", skeletons)
    assert re.search(r"\[which [^\]]*\[which ", skeletons)


def test_parameters_are_kept(make_cases: CaseMaker) -> None:
    for redundancy in (0.0, 1.0):
        for case in make_cases(300, 4, 9, sentences=3, redundancy=redundancy):
            assert len(case.sentences) <= 3
    for case in make_cases(1000, 3, 8, iterations=1):
        text = " ".join(case.sentences).lower()
        assert all(action.name in text for action in case.actions)
    for case in make_cases(300, 4, 9, group=1):
        assert "+" not in case.skeleton
    for case in make_cases(300, 4, 9, relative=0.0):
        assert "which" not in case.skeleton
    for case in make_cases(300, 4, 9, relative=1.0, group=1):
        assert "which" in case.skeleton


def test_topics_are_kept() -> None:
    suite = Suite(0, 3, 5, topics=("baker", "florist"))
    assert {make_case(suite, index).topic for index in range(50)} == {"baker", "florist"}
    assert len({make_case(Suite(0, 3, 5), index).topic for index in range(1000)}) == 50


def test_ids_tell_contents_apart(make_cases: CaseMaker) -> None:
    cases = list(make_cases(2000))
    assert len({case.id for case in cases}) == 2000
    other = msgspec.structs.replace(cases[0], query=cases[0].query + " ")
    assert other.identified().id != cases[0].id
    assert cases[0].identified() == cases[0]


def test_a_case_can_be_had_alone(make_cases: CaseMaker) -> None:
    for case in make_cases(20, seed=77):
        (alone,) = make_cases(1, seed=case.seed)
        assert alone == case


SCRIPT = """
import hashlib, msgspec
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.synthesis.paragraphs import Recipe
digest = hashlib.sha256()
for low, high, exhaustive in ((3, 5, False), (2, 20, False), (2, 4, True)):
    suite = Suite(2024, low, high, exhaustive=exhaustive, recipe=Recipe(redundancy=0.2, relative=0.4))
    for index in range(200):
        digest.update(msgspec.json.encode(make_case(suite, index)))
print(digest.hexdigest())
"""


def test_same_bytes_in_every_process() -> None:
    """Pinned, so that a change of the bytes is a decision; hash randomisation must not matter."""
    digests = printed_by(SCRIPT)
    assert digests == {(Path(__file__).parent / "golden.sha256").read_text().strip()}
