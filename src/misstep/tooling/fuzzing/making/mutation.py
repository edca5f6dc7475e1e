"""Changes arguments that reached something into others that may reach more."""

from collections.abc import Callable
from typing import Any, TypeAlias

from misstep.core.dice import Dice
from misstep.tooling.fuzzing.making.numbers import changed_number
from misstep.tooling.fuzzing.making.texts import LONGEST, TIMES, any_token, changed_text
from misstep.tooling.fuzzing.subject import Subject

_UNLISTED = 0.05  # chance that a parameter with listed values gets another one

_Change: TypeAlias = Callable[[dict[str, Any], Subject, Dice], dict[str, Any]]


def mutated(arguments: dict[str, Any], subject: Subject, dice: Dice, more: int = 0) -> dict[str, Any]:
    """Other arguments, one to four changes away, and so many more. What was given stays as it is."""
    changed = arguments
    for _ in range(1 + dice.below(2) + dice.below(2) * dice.below(3)):
        changed = dice.pick(_CHANGES)(changed, subject, dice)
    for _ in range(more):
        changed = _one_value(changed, subject, dice)
    return changed


def spliced(one: dict[str, Any], other: dict[str, Any], dice: Dice) -> dict[str, Any]:
    """Each parameter from either of two; those that only one has, mostly."""
    joined = dict[str, Any]()
    for name in {**one, **other}:
        source = other if (name in other and dice.chance(0.5)) or name not in one else one
        if name in one and name in other:
            joined[name] = _joined(one[name], other[name], dice) if dice.chance(0.1) else source[name]
        elif name in one or dice.chance(0.7):
            joined[name] = source[name]
    return joined


def changed_value(value: Any, subject: Subject, dice: Dice) -> Any:
    """Another value, of the same type as a rule."""
    if isinstance(value, str):
        return changed_text(value, subject, dice)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return (
            dice.pick(subject.numbers)
            if subject.numbers and dice.chance(0.2)
            else changed_number(value, dice)
        )
    if isinstance(value, list):
        return _list(value, subject, dice)
    if isinstance(value, dict):
        return _object(value, subject, dice)
    return dice.pick(("", 0, False, [], {}))


def _one_value(arguments: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    if not arguments:
        return arguments
    name = dice.pick(list(arguments))
    choices = subject.choices.get(name)
    if choices and not dice.chance(_UNLISTED):
        return {**arguments, name: dice.pick(choices)}
    return {**arguments, name: changed_value(arguments[name], subject, dice)}


def _known_value(arguments: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    """A parameter has a value that was seen before; one that was left out may come in."""
    if not subject.parameters:
        return arguments
    name = dice.pick(subject.parameters).name
    values = subject.values(name)
    return {**arguments, name: dice.pick(values)} if values else arguments


def _without(arguments: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    optional = [name for name in arguments if name not in subject.required]
    if not optional:
        return _one_value(arguments, subject, dice)
    left_out = dice.pick(optional)
    return {name: value for name, value in arguments.items() if name != left_out}


def _two_equal(arguments: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    if len(arguments) < 2:
        return _one_value(arguments, subject, dice)
    one, other = dice.sample(list(arguments), 2)
    if type(arguments[one]) is not type(arguments[other]):
        return _one_value(arguments, subject, dice)
    return {**arguments, one: arguments[other]}


def _two_swapped(arguments: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    if len(arguments) < 2:
        return _one_value(arguments, subject, dice)
    one, other = dice.sample(list(arguments), 2)
    if type(arguments[one]) is not type(arguments[other]):
        return _known_value(arguments, subject, dice)
    return {**arguments, one: arguments[other], other: arguments[one]}


_CHANGES: tuple[_Change, ...] = (
    *(_one_value,) * 8, *(_known_value,) * 3, _without, _two_equal, _two_swapped
)  # fmt: skip


def _joined(one: Any, other: Any, dice: Dice) -> Any:
    """The beginning of one with the end of the other."""
    if isinstance(one, str) and isinstance(other, str):
        return one[: dice.below(len(one) + 1)] + other[dice.below(len(other) + 1) :]
    if isinstance(one, list) and isinstance(other, list):
        return one[: dice.below(len(one) + 1)] + other[dice.below(len(other) + 1) :]
    return other


def _list(items: list[Any], subject: Subject, dice: Dice) -> list[Any]:
    if not items:
        return [dice.pick(("", 0, "a", None))]
    place = dice.below(len(items))
    way = dice.below(8)
    if way <= 2:
        return [*items[:place], changed_value(items[place], subject, dice), *items[place + 1 :]]
    if way == 3:
        return items[:place] + items[place + 1 :]
    if way == 4:
        return [*items, items[place]]
    if way == 5:
        return [*items, changed_value(items[place], subject, dice)]
    if way == 6:
        return items[::-1] if dice.chance(0.5) else items[:place]
    times = dice.pick(TIMES)
    return items * min(times, LONGEST // (8 * len(items)) + 1)


def _object(value: dict[str, Any], subject: Subject, dice: Dice) -> dict[str, Any]:
    way = dice.below(6)
    if not value or way == 0:
        return {**value, any_token(subject, dice): dice.pick(("", 0, None, [], {}))}
    key = dice.pick(list(value))
    if way == 1:
        return {name: each for name, each in value.items() if name != key}
    if way == 2 and len(value) > 1:
        return {**value, key: value[dice.pick(list(value))]}
    return {**value, key: changed_value(value[key], subject, dice)}
