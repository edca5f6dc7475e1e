"""Mutates arguments that reached something into others that may reach more."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from misstep.core.rng import Dice
from misstep.fuzzing.search.subject import FuzzSubject

_WIDEST = 10**40  # limit of numbers; longer ones cannot all be parsed again
INTERESTING = (
    0, 1, -1, 2, 3, 10, 16, 64, 100, 127, 128, 255, 256, 1000, 4096, 65535, 2**31, 2**32, 2**63, -(2**31),
)  # fmt: skip


def changed_number(number: int | float, dice: Dice) -> int | float:
    """A nearby number, or one that often causes errors."""
    changed: int | float = dice.pick(_NUMBER_CHANGES)(number, dice)
    if isinstance(number, int) and isinstance(changed, float) and changed.is_integer():
        changed = int(changed)
    if isinstance(changed, float) and not math.isfinite(changed):
        return 1e308
    return max(-_WIDEST, min(_WIDEST, changed))


_NUMBER_CHANGES: tuple[Callable[[Any, Dice], Any], ...] = (
    lambda n, _: n + 1,
    lambda n, _: n - 1,
    lambda n, _: -n,
    lambda n, _: n * 2,
    lambda n, _: n // 2 if isinstance(n, int) else n / 2,
    lambda n, _: n * 10,
    lambda n, dice: n + dice.below(33) - 16,
    lambda _, dice: dice.pick(INTERESTING),
    lambda _, dice: dice.pick(INTERESTING) + dice.below(3) - 1,
    lambda n, dice: (-1) ** dice.below(2) * dice.below(1 << 4 * (1 + dice.below(12))) + n * 0,
    lambda n, dice: dice.below(100) if isinstance(n, int) else dice.below(1000) / 10,
)


LONGEST = 1 << 16  # characters of a text, items of a list
TIMES = (2, 3, 8, 64, 600)  # repetitions
_READ = 4000  # characters of a text that are searched for numbers
_DIGITS = re.compile("[0-9]{1,40}")
SPECIAL = (
    "\0", "\ud800", "\n", "\r\n", "\t", " ", "'", '"', "`", "\\", "/", "//", "..", "../", "%", "%00", "%s",
    "{0}", "{", "}", "[", "]", "(", ")", "<", ">", "&", "|", ";", ":", ",", "=", "#", "?", "*", "$", "@", "~",
    "-", "+", "0", "1", "-1", "e", ".", "\u00e9", "\u0130", "\u202e", "\U0001f600", "\ufeff",
    "null", "true", "NaN",
)  # fmt: skip


def _inserted(text: str, subject: FuzzSubject, dice: Dice) -> str:
    place = dice.below(len(text) + 1)
    return text[:place] + any_token(subject, dice) + text[place:]


def _appended(text: str, subject: FuzzSubject, dice: Dice) -> str:
    token = any_token(subject, dice)
    return text + token if dice.chance(0.5) else token + text


def _replaced(text: str, subject: FuzzSubject, dice: Dice) -> str:
    start, end = _span(text, dice)
    return text[:start] + any_token(subject, dice) + text[end:]


def _cut_out(text: str, _subject: FuzzSubject, dice: Dice) -> str:
    start, end = _span(text, dice)
    return text[:start] + text[end:]


def any_token(subject: FuzzSubject, dice: Dice) -> str:
    """A token from the tool's source or observations, or one with a special meaning somewhere."""
    if subject.tokens and dice.chance(0.5):
        return dice.pick(list(subject.tokens))
    return dice.pick(SPECIAL)


def _repeated(text: str, _subject: FuzzSubject, dice: Dice) -> str:
    times = dice.pick(TIMES)
    if dice.chance(0.4) or not text:
        return (text or "a") * min(times, LONGEST // (len(text) or 1) + 1)
    start, end = _span(text, dice)
    return text[:start] + text[start:end] * min(times, LONGEST // (end - start or 1)) + text[end:]


def _other_character(text: str, _subject: FuzzSubject, dice: Dice) -> str:
    if not text:
        return dice.pick(SPECIAL)
    place = dice.below(len(text))
    other = chr((ord(text[place]) + dice.pick((-1, 1, 32, -32, 128))) % 0x110000)
    return text[:place] + other + text[place + 1 :]


def _as_number(text: str, _subject: FuzzSubject, dice: Dice) -> str:
    digits = text.strip()
    if digits.isdecimal() and len(digits) < 40:
        return str(changed_number(int(digits), dice))
    return str(dice.pick(INTERESTING))


def renumbered(text: str, number: int) -> Iterator[str]:
    """The text with each of its numbers in turn replaced by this one."""
    for found in _DIGITS.finditer(text[:_READ]):
        if int(found[0]) != abs(number):
            yield f"{text[: found.start()]}{abs(number)}{text[found.end() :]}"


def _other_number(text: str, subject: FuzzSubject, dice: Dice) -> str:
    """Replace a number in the text, half of the time by one with as many digits."""
    places = [found.span() for found in _DIGITS.finditer(text[:_READ])]
    if not places:
        return _inserted(text, subject, dice)
    start, end = dice.pick(places)
    known = dice.pick(subject.numbers) if subject.numbers and dice.chance(0.4) else None
    number = str(abs(changed_number(int(text[start:end]), dice)) if known is None else known)
    if dice.chance(0.5):
        number = number[-(end - start) :].zfill(end - start)
    return text[:start] + number + text[end:]


def respelled(file: str, dice: Dice) -> str:
    """Another name of the same file or folder, which tools that compare names often take for another one."""
    folder, _, name = file.rpartition("/")
    names = [f"{folder}/./{name}", f"{folder}//{name}", f"{folder}/../{folder.rpartition('/')[2]}/{name}"]
    names = names if folder else [f".//{name}"]
    names += [] if file.startswith("/") else [f"./{file}", f"././{file}"]
    return dice.pick([*names, *([] if "." in name else [f"{file}/", f"{file}/."])])


def _wrapped(text: str, _subject: FuzzSubject, dice: Dice) -> str:
    pair = dice.pick(('""', "''", "()", "[]", "{}", "<>", "  ", "//"))
    return pair[0] + text + pair[1]


_TEXT_CHANGES: tuple[Callable[[str, FuzzSubject, Dice], str], ...] = (
    *(_inserted,) * 2,
    *(_appended,) * 2,
    _replaced,
    *(_cut_out,) * 2,
    lambda text, _, dice: text[: dice.below(len(text) + 1)],
    _repeated,
    _other_character,
    _as_number,
    *(_other_number,) * 2,
    lambda text, _, dice: dice.pick((text.upper, text.lower, text.swapcase, text.strip))(),
    _wrapped,
    lambda text, _, _dice: text[::-1],
)


def _span(items: Sequence[Any], dice: Dice) -> tuple[int, int]:
    """A random slice, mostly a short one."""
    start = dice.below(len(items) + 1)
    length = 1 + dice.below(3) if dice.chance(0.6) else dice.below(len(items) - start + 1)
    return start, min(start + length, len(items))


_UNLISTED = 0.05  # chance of another value for a parameter with listed ones

_Change: TypeAlias = Callable[[dict[str, Any], FuzzSubject, Dice], dict[str, Any]]


def mutated(arguments: dict[str, Any], subject: FuzzSubject, dice: Dice, more: int = 0) -> dict[str, Any]:
    """A copy of the arguments with one to four mutations, plus `more`."""
    changed = arguments
    for _ in range(1 + dice.below(2) + dice.below(2) * dice.below(3)):
        changed = dice.pick(_CHANGES)(changed, subject, dice)
    for _ in range(more):
        changed = _one_value(changed, subject, dice)
    return changed


def spliced(one: dict[str, Any], other: dict[str, Any], dice: Dice) -> dict[str, Any]:
    """Each parameter from either of two calls; one that only one call has may be left out."""
    joined = dict[str, Any]()
    for name in {**one, **other}:
        source = other if (name in other and dice.chance(0.5)) or name not in one else one
        if name in one and name in other:
            joined[name] = _joined(one[name], other[name], dice) if dice.chance(0.1) else source[name]
        elif name in one or dice.chance(0.7):
            joined[name] = source[name]
    return joined


def changed_value(value: Any, subject: FuzzSubject, dice: Dice) -> Any:
    """Another value, usually of the same type."""
    if isinstance(value, str):
        return dice.pick(_TEXT_CHANGES)(value, subject, dice)[:LONGEST]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        if subject.numbers and dice.chance(0.2):
            return dice.pick(subject.numbers)
        return changed_number(value, dice)
    if isinstance(value, list):
        return _list(value, subject, dice)
    if isinstance(value, dict):
        return _object(value, subject, dice)
    return dice.pick(("", 0, False, [], {}))


def _one_value(arguments: dict[str, Any], subject: FuzzSubject, dice: Dice) -> dict[str, Any]:
    if not arguments:
        return arguments
    name = dice.pick(list(arguments))
    choices = subject.choices.get(name)
    if choices and not dice.chance(_UNLISTED):
        return {**arguments, name: dice.pick(choices)}
    return {**arguments, name: changed_value(arguments[name], subject, dice)}


def _known_value(arguments: dict[str, Any], subject: FuzzSubject, dice: Dice) -> dict[str, Any]:
    """Set a parameter to a value seen before; it may have been absent."""
    if not subject.parameters:
        return arguments
    name = dice.pick(subject.parameters).name
    values = subject.values(name)
    return {**arguments, name: dice.pick(values)} if values else arguments


def _without(arguments: dict[str, Any], subject: FuzzSubject, dice: Dice) -> dict[str, Any]:
    optional = [name for name in arguments if name not in subject.required]
    if not optional:
        return _one_value(arguments, subject, dice)
    left_out = dice.pick(optional)
    return {name: value for name, value in arguments.items() if name != left_out}


def _two_equal(
    arguments: dict[str, Any], subject: FuzzSubject, dice: Dice, swap: bool = False
) -> dict[str, Any]:
    """Set one parameter to the value of another of the same type."""
    if len(arguments) < 2:
        return _one_value(arguments, subject, dice)
    one, other = dice.sample(list(arguments), 2)
    if type(arguments[one]) is not type(arguments[other]):
        return (_known_value if swap else _one_value)(arguments, subject, dice)
    return {**arguments, one: arguments[other]} | ({other: arguments[one]} if swap else {})


_CHANGES: tuple[_Change, ...] = (
    *(_one_value,) * 8, *(_known_value,) * 3, _without, _two_equal, partial(_two_equal, swap=True)
)  # fmt: skip


def _joined(one: Any, other: Any, dice: Dice) -> Any:
    """The start of one with the end of the other."""
    if type(one) is not type(other) or not isinstance(one, str | list):
        return other
    return one[: dice.below(len(one) + 1)] + other[dice.below(len(other) + 1) :]


def _list(items: list[Any], subject: FuzzSubject, dice: Dice) -> list[Any]:
    if not items:
        return [dice.pick(("", 0, "a", None))]
    place = dice.below(len(items))
    match dice.below(8):
        case 3:
            return items[:place] + items[place + 1 :]
        case 4:
            return [*items, items[place]]
        case 5:
            return [*items, changed_value(items[place], subject, dice)]
        case 6:
            return items[::-1] if dice.chance(0.5) else items[:place]
        case 7:
            return items * min(dice.pick(TIMES), LONGEST // (8 * len(items)) + 1)
    return [*items[:place], changed_value(items[place], subject, dice), *items[place + 1 :]]


def _object(value: dict[str, Any], subject: FuzzSubject, dice: Dice) -> dict[str, Any]:
    way = dice.below(6)
    if not value or way == 0:
        return {**value, any_token(subject, dice): dice.pick(("", 0, None, [], {}))}
    key = dice.pick(list(value))
    if way == 1:
        return {name: each for name, each in value.items() if name != key}
    if way == 2 and len(value) > 1:
        return {**value, key: value[dice.pick(list(value))]}
    return {**value, key: changed_value(value[key], subject, dice)}
