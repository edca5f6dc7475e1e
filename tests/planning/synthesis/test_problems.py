"""Problems of every family and of mixtures: sound, readable, solvable by what is told."""

import os
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.constraint import FAMILIES, Before, Constraint, Family, family_of
from misstep.core.outcome import Call, Transcript
from misstep.errors import UsageError
from misstep.planning.admission.validation import validate_case
from misstep.planning.judging.check import judge
from misstep.planning.language.hearing import read_rules
from misstep.planning.language.reader import read
from misstep.planning.plans.search import survey
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case
from tests.planning.conftest import printed_by
from tests.tiers import examples

MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES if family != "order"),
    ("order", "time"),
    ("order", "data", "choice"),
    ("order", "adjacent", "repeat"),
    ("time", "data", "dynamic"),
    ("order", "budget", "dynamic"),
    FAMILIES,
]
EACH = 60


def suite(families: tuple[Family, ...], seed: int = 0, **more: object) -> Suite:
    return Suite(seed, least_actions(families), 8, families=families, **more)  # type: ignore[arg-type]


def mixed(families: tuple[Family, ...], count: int = EACH) -> list[Case]:
    return [make_case(suite(families), index) for index in range(count)]


@pytest.mark.both
@pytest.mark.parametrize("families", MIXTURES)
def test_every_family_has_its_say(families: tuple[Family, ...]) -> None:
    for case in mixed(families, examples(EACH)):
        said = {family_of(constraint) for constraint in case.constraints}
        if case.world.failures:
            said.add("dynamic")
        assert said >= {*families}
        assert said <= {*families, "choice" if "budget" in families else None}


@pytest.mark.both
@pytest.mark.parametrize("families", MIXTURES)
def test_text_and_constraints_mean_the_same(families: tuple[Family, ...]) -> None:
    for case in mixed(families, examples(EACH)):
        ids = {action.name: action.id for action in case.actions}
        named = set[str]()
        for number, sentence in enumerate(case.sentences):
            (reading,) = read(sentence, ids)
            named.update(reading.mentioned)
            heard: list[Constraint] = [Before(r.first, r.then) for r in reading.relations]
            heard += reading.demands
            assert by_id(heard, ids) == plain(c for c in case.constraints if c.sentence == number)
        assert named == ids.keys()
        for voice, sentence in case.world.announcements.items():
            (reading,) = read(sentence, ids)
            announced = [Before(r.first, r.then, announced=voice) for r in reading.relations]
            told = [c for c in case.constraints if isinstance(c, Before) and c.announced == voice]
            assert by_id(announced, ids) == plain(told)
        voices = {c.announced for c in case.constraints if isinstance(c, Before) and c.sentence is None}
        assert voices == case.world.announcements.keys()


def by_id(constraints: list[Constraint], ids: dict[str, str]) -> set[bytes]:
    """Constraints in a form that can be compared, with ids in the place of names."""

    def named(value: object) -> object:
        if isinstance(value, dict):
            return {key: named(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [named(part) for part in value]
        return ids.get(value, value) if isinstance(value, str) else value

    return {msgspec.json.encode(named(msgspec.to_builtins(c)), order="sorted") for c in constraints}


def plain(constraints: object) -> set[bytes]:
    unsaid = [msgspec.structs.replace(c, sentence=None) for c in constraints]  # type: ignore[attr-defined]
    return by_id(unsaid, {})


@pytest.mark.parametrize("families", MIXTURES)
def test_what_an_agent_has_to_know_is_told(families: tuple[Family, ...]) -> None:
    for case in mixed(families, 20):
        rules = read_rules(case.query)
        told = (rules.day, rules.attempts, rules.retries)
        assert told == (case.world.day, case.world.attempts, case.world.retries)
        assert case.sentences[0] in case.query


@pytest.mark.both
@pytest.mark.parametrize("families", MIXTURES)
def test_the_solution_is_right_and_the_wall_lets_the_case_in(families: tuple[Family, ...]) -> None:
    for case in mixed(families, examples(EACH)):
        calls = tuple(Call(call.tool, call.arguments) for call in case.solution)
        assert judge(case, Transcript(case.id, calls)).verdict == "passed"
        assert validate_case(case) == case
        assert 0 < (case.chance or 0) <= 1


@pytest.mark.full(after=4)
@pytest.mark.parametrize("families", MIXTURES)
def test_same_seed_same_case(families: tuple[Family, ...]) -> None:
    assert mixed(families, 5) == mixed(families, 5)
    assert len({case.id for case in mixed(families, 20)}) == 20


def test_attempts_are_those_asked_for_and_some_problems_need_more_than_one() -> None:
    needed = 0
    for index in range(200):
        case = make_case(suite(("order", "time"), recipe=Recipe(attempts=2)), index)
        assert case.world.attempts == 2
        starts_over = sum(call.tool == "start_over" for call in case.solution)
        assert starts_over <= 1
        needed += starts_over
    assert needed > 5
    once = suite(("order", "time"), recipe=Recipe(attempts=1))
    for index in range(50):
        case = make_case(once, index)
        assert len(case.solution) == len(case.actions)
        assert "start_over" not in case.query


@pytest.mark.full
def test_the_fewest_actions_suffice_for_every_mixture() -> None:
    for size in range(1, len(FAMILIES) + 1):
        for families in combinations(FAMILIES, size):
            least = least_actions(families)
            for index in range(3):
                make_case(Suite(5, least, least, families=families), index)
            with pytest.raises(UsageError, match="out of range"):
                Suite(5, least - 1, least, families=families).validate()


def test_distractors_are_tools_that_the_request_does_not_name() -> None:
    for index in range(30):
        case = make_case(suite(("order",), distractors=4), index)
        assert len(case.distractors) == 4
        assert not any(action.name in case.query for action in case.distractors)
        assert len({a.tool for a in (*case.actions, *case.distractors)}) == len(case.actions) + 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": ("order", "time"), "high": 11}, "actions 3-11 is out of range"),
        ({"families": ("choice",), "low": 2}, "actions 2-5 is out of range"),
        ({"distractors": 12, "high": 9}, "actions 3-9 is out of range"),
        (
            {"families": ("order", "time", "data"), "recipe": Recipe(sentences=2)},
            "too few for order, time, data",
        ),
        ({"families": ("time",), "exhaustive": True}, "--exhaustive covers orders only"),
    ],
)
def test_what_can_t_be_made_is_refused(changes: dict[str, object], message: str) -> None:
    asked = msgspec.structs.replace(Suite(0, 3, 5), **changes)
    with pytest.raises(UsageError, match=message):
        asked.validate()


@pytest.mark.full(after=3)
@pytest.mark.parametrize("families", [m for m in MIXTURES if len(m) < 6])
def test_there_are_no_more_sentences_than_allowed(families: tuple[Family, ...]) -> None:
    most = len(families) + 2
    for index in range(20):
        case = make_case(suite(families, recipe=Recipe(sentences=most)), index)
        assert len(case.sentences) <= most


def test_redundant_sentences_say_nothing_new() -> None:
    repeated = 0
    for index in range(60):
        case = make_case(suite(("order", "data"), recipe=Recipe(redundancy=1.0)), index)
        for number in case.redundant:
            said = [c for c in case.constraints if c.sentence != number]
            ids = [action.id for action in case.actions]
            assert survey(ids, said, case.world).chance == pytest.approx(case.chance)
            repeated += 1
    assert repeated > 20


TOOLS = (
    Tool(
        "search",
        "Search.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    ),
    Tool("ping", "Ping.", {"type": "object", "properties": {}}),
    Tool("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": ()}, "no family was named"),
        ({"exhaustive": True, "distractors": 15, "low": 2, "high": 7}, "with 15 distractors"),
        ({"tools": (*TOOLS, Tool("ask_price", "", {})), "high": 4}, "a name that misstep reserves"),
        (
            {"tools": (*TOOLS, Tool("odd", "", {"required": ["x"], "properties": {"x": False}})), "high": 4},
            "tool odd",
        ),
    ],
)
def test_what_would_break_later_is_refused_at_once(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        msgspec.structs.replace(Suite(0, 3, 5), **changes).validate()
    assert message in str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_largest_problems_can_be_made(family: Family) -> None:
    for index in range(3):
        assert len(make_case(Suite(7, 10, 10, families=(family,)), index).actions) == 10


SCRIPT = """
import hashlib, msgspec
from misstep.core.agent import Tool
from misstep.core.constraint import FAMILIES
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case
digest = hashlib.sha256()
schema = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["city"]}
tools = tuple(Tool(f"tool_{number}", "", schema) for number in range(6))
mixtures = [("order",), *((family,) for family in FAMILIES[1:]), ("order", "time"), FAMILIES]
for families in mixtures:
    suite = Suite(2024, 5, 7, families=families, distractors=2, recipe=Recipe(redundancy=0.2, relative=0.4))
    for index in range(20):
        digest.update(msgspec.json.encode(make_case(suite, index)))
for index in range(20):
    suite = Suite(1, 4, 4, families=("order", "choice"), tools=tools, distractors=1)
    digest.update(msgspec.json.encode(make_case(suite, index)))
print(digest.hexdigest())
"""


@pytest.mark.full
def test_same_bytes_in_every_process() -> None:
    """Pinned, so that a change of the bytes is a decision; hash randomisation must not matter."""
    digests = printed_by(SCRIPT)
    assert len(digests) == 1
    path = Path(__file__).parent / "golden_families.sha256"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(f"{min(digests)}\n")
    assert digests == {path.read_text().strip()}
