"""A written skeleton is read back into the very tree, and anything else is refused."""

from collections.abc import Iterator

import pytest

from misstep.core.constraint import Condition, Constraint, Given
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.skeletons import read_skeleton
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    JOINS,
    Clause,
    Conditional,
    Free,
    Giving,
    Group,
    Paragraph,
    Relative,
    Sentence,
    SubSentence,
    Timed,
    skeleton,
)
from tests.planning.language.test_round_trip import MAKERS, group

IDS = [f"a{number}" for number in range(1, 41)]
NAMES = [f"job {number}" for number in range(40)]


def sentences(dice: Dice) -> Iterator[Sentence]:
    """Sentences of every production, remarks among them."""
    for _ in range(1 + dice.below(4)):
        if dice.chance(0.5):
            yield Sentence((dice.pick(MAKERS)(dice, NAMES)[0],))
            continue
        pool = dice.shuffled(range(40))
        parts: list[SubSentence] = [
            Clause(dice.pick(FORMS), dice.pick(DIRECTIONS), group(dice, pool), group(dice, pool))
            for _ in range(1 + dice.below(3))
        ]
        if dice.chance(0.2):
            parts.append(Free(group(dice, pool, depth=0)))
        yield Sentence(tuple(parts), tuple(dice.pick(JOINS) for _ in parts[1:]))


def demands(paragraph: Paragraph) -> list[Constraint]:
    return [c for number, said in enumerate(paragraph) for c in constraints_of(said, IDS, number)]


def test_every_paragraph_is_read_back() -> None:
    seen = set[str]()
    for seed in range(1500):
        paragraph = tuple(sentences(Dice(seed)))
        written = skeleton(paragraph)
        assert read_skeleton(written, demands(paragraph)) == paragraph, written
        seen |= {type(part).__name__ for said in paragraph for part in said.parts}
    assert len(seen) == len(MAKERS) + 2


def test_relative_clauses_nest() -> None:
    inner = Group((3, 4), Relative("preposition", ">", Group((5,))))
    clause = Clause("verb", "<", Group((0,)), Group((1, 2), Relative("verb", "<", inner)))
    written = "a1 VP< a2+a3[which VP< a4+a5[which VP0 P> a6]]."
    assert skeleton((Sentence((clause,)),)) == written
    assert read_skeleton(written) == (Sentence((clause,)),)


def test_what_a_skeleton_leaves_out_comes_from_the_constraints_of_its_sentence() -> None:
    odd = {"x. a1 VP< a2": 1, "y; a3 free, and z": [2], "]": None}
    written = "a1 DUE. IF a1 THEN a2. a2 GIVEN x. a1 VP< a2,y; a3 free, and z,]. IF a3 THEN a4 ELSE a5."
    said = [
        Condition("a3", "a gap", "a4", "a5", sentence=3),
        Given("a2", odd, sentence=2),
        Condition("a1", "a flaw", "a2", sentence=1),
    ]
    paragraph = read_skeleton(written, said)
    assert [sentence.parts[0] for sentence in paragraph[1:]] == [
        Conditional(0, "a flaw", 1),
        Giving(1, odd),
        Conditional(2, "a gap", 3, 4),
    ]
    with pytest.raises(UsageError, match="from character 21 on"):
        read_skeleton(written, said[:2])


def test_a_time_is_read_to_the_minute() -> None:
    remark = Timed("fronted", "end", "before", 23 * 60 + 59, (0, 1))
    assert read_skeleton("BEFORE 23:59, a1+a2 ENDS.") == (Sentence((remark,)),)


def test_nothing_is_no_sentence() -> None:
    assert read_skeleton("") == ()


@pytest.mark.parametrize(
    "text",
    [
        " ",
        ".",
        "a1",
        "a1 VP< a2",
        "a1 VP< a2. ",
        "a1 VP<a2.",
        "a1 VP= a2.",
        "a0 VP< a2.",
        "a01 VP< a2.",
        "a100 VP< a2.",
        "a1+ VP< a2.",
        "a1 VP< a2, a3 VP< a4.",
        "a1 VP< a2;a3 VP< a4.",
        "a1[which VP< a2 VP< a3.",
        "a1[which VP< a2]] VP< a3.",
        "a1[which VP< a2] DUE.",
        "a1+a2 FIRST.",
        "a1+a2 OR a3.",
        "a1 OR a2+a3.",
        "a1[which VP< a2] VP0 NEXT< a3.",
        "a1 TIMES 02.",
        "a1 TIMES ².",
        "a1 TIMES 99999999999999999999.",
        "a1 STARTS>24:30.",
        "a1 STARTS>9:30.",
        "IF a1 THEN a2.",
        "a1 GIVEN .",
        "a1 GIVES  TO a2.",
        "ａ1 VP< a2.",
        "\0",
        "a1" + "[which VP< a2" * 3000,
        "a1 VP< a2. " * 10_000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_skeleton(text)


def test_a_damaged_skeleton_is_refused_or_stands_for_itself() -> None:
    refused = 0
    for seed in range(3000):
        dice = Dice(seed)
        paragraph = tuple(sentences(dice))
        written = skeleton(paragraph)
        at = dice.below(len(written))
        middle = dice.pick(
            ["", "", " ", "a1", "[", "]", ".", "; ", "VP", "é", "٣", written[: dice.below(20)]]
        )
        damaged = written[:at] + middle + written[at + dice.below(4) :]
        try:
            read = read_skeleton(damaged, demands(paragraph))
        except UsageError:
            refused += 1
        else:
            assert skeleton(read) == damaged
    assert 1000 < refused < 3000
