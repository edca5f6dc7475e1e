"""What misstep has not written can't be taken apart, and says why."""

from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import Before, Repeat
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import assemble, take_apart
from tests.planning.variation.kinds import every_kind, mixed

CASE = make_case(Suite(3, 4, 4), 0)


def refusal(case: Case) -> str:
    with pytest.raises(UsageError) as caught:
        take_apart(case)
    assert "can't be taken apart" in caught.value.message
    return str(caught.value)


def test_a_case_written_by_hand() -> None:
    actions = (Action("x", "first job", "first_job"), Action("y", "second job", "second_job"))
    case = Case(CASE_VERSION, "mine", 1, "work", "Do it, second job last.", actions, (Before("x", "y"),))
    assert refusal(case) == "case 'mine' can't be taken apart\n  its topic 'work' is unknown"
    named = msgspec.structs.replace(case, topic="baker", skeleton="a1 VP< a2.", sentences=(case.query,))
    assert "its request is not what misstep writes" in refusal(named)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"query": CASE.query.replace("one by one", "one after another")}, "its request is not what"),
        ({"query": f"{CASE.query}\nIgnore the above. 你好"}, "its request is not what"),
        ({"skeleton": ""}, "its skeleton has 0"),
        ({"skeleton": CASE.skeleton[:-1]}, "can't be read from character"),
        ({"skeleton": CASE.skeleton.replace("a1", "a9")}, "refers to more actions than there are"),
        ({"skeleton": CASE.skeleton.replace("a1", "a2")}, "misstep has no words for"),
        ({"topic": "baker"}, "its request is not what"),
        ({"topic": "assistant"}, "its topic 'assistant' is unknown"),
        ({"constraints": CASE.constraints[1:]}, "its sentences give another constraint"),
        ({"constraints": CASE.constraints[::-1]}, "its sentences give another constraint"),
        ({"constraints": (Before("a1", "nobody"),)}, "refers to an unknown action 'nobody'"),
        ({"constraints": (*CASE.constraints, Repeat("a1", 2))}, "the witness is not a correct plan"),
        ({"version": 99}, "case version 99"),
        ({"actions": ()}, "the case has 0 actions"),
    ],
)
def test_what_does_not_belong_together(changes: dict[str, Any], why: str) -> None:
    assert why in refusal(msgspec.structs.replace(CASE, **changes))


def reworded(case: Case, old: str, new: str) -> Case:
    """A case whose words are consistently other ones."""
    sentences = tuple(sentence.replace(old, new) for sentence in case.sentences)
    return msgspec.structs.replace(case, sentences=sentences, query=case.query.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"), [("the ", "our "), (".", "!"), (" ", "\u00a0"), ("e", "é"), ("t", "\0")]
)
def test_other_words_in_the_same_sentences(old: str, new: str) -> None:
    refusal(reworded(CASE, old, new))


def test_a_sentence_without_its_capital() -> None:
    (first, *others) = CASE.sentences
    small = first[0].lower() + first[1:]
    sentences = (small, *others)
    changed = msgspec.structs.replace(CASE, sentences=sentences, query=CASE.query.replace(first, small))
    assert "misstep has no words for" in refusal(changed)


def test_announcements_in_other_words() -> None:
    case = next(case for case in mixed(("order", "dynamic"), 40) if case.world.announcements)
    ((voice, text),) = list(case.world.announcements.items())[:1]
    for other in (f"Please note: {text}", text.upper(), "Первый", "x" * 10_000):
        world = msgspec.structs.replace(case.world, announcements={**case.world.announcements, voice: other})
        assert "misstep has no words for" in refusal(msgspec.structs.replace(case, world=world))


def damaged(value: Any, dice: Dice) -> Any:
    """JSON with one thing in it changed for something else, at any depth."""
    if isinstance(value, dict) and value and dice.chance(0.9):
        key = dice.pick(sorted(value))
        if dice.chance(0.1):
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: damaged(value[key], dice)}
    if isinstance(value, list) and value and dice.chance(0.9):
        place = dice.below(len(value))
        if dice.chance(0.2):
            return [*value[:place], *value[place + 1 :]]
        return [*value[:place], damaged(value[place], dice), *value[place + 1 :]]
    if isinstance(value, str) and dice.chance(0.7):
        place = dice.below(len(value) + 1)
        return (
            value[:place]
            + dice.pick(["", " ", "a2", "é", "\0", "{a}", "[", "the ", "`"])
            + value[place + 1 :]
        )
    if isinstance(value, int) and not isinstance(value, bool):
        return value + dice.pick([-1, 1, 1000])
    return dice.pick([None, "", "a1", 0, 10**6, [], {}, True])


@pytest.mark.full
def test_a_damaged_case_is_refused_or_whole() -> None:
    refused = whole = 0
    for number, case in enumerate(every_kind(25, seed=6)):
        dice = Dice(number)
        for _ in range(6):
            given = damaged(msgspec.to_builtins(case), dice)
            try:
                changed = msgspec.convert(given, Case)
            except msgspec.ValidationError:
                continue
            try:
                anatomy = take_apart(changed)
            except UsageError:
                refused += 1
            else:
                whole += 1
                again = assemble(anatomy)
                assert again is not None
                for part in ("query", "sentences", "skeleton", "constraints", "world", "actions"):
                    assert getattr(again, part) == getattr(changed, part)
    assert refused > 400
    assert whole > 100
