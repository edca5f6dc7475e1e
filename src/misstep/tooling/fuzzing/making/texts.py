"""Changes one text into another."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from misstep.core.dice import Dice
from misstep.tooling.fuzzing.making.numbers import INTERESTING, changed_number
from misstep.tooling.fuzzing.subject import Subject

LONGEST = 1 << 16  # characters of a text, items of a list
TIMES = (2, 3, 8, 64, 600)  # that something is repeated
_READ = 4000  # characters of a text in which numbers are looked for
_DIGITS = re.compile("[0-9]{1,40}")
SPECIAL = (
    "\0", "\ud800", "\n", "\r\n", "\t", " ", "'", '"', "`", "\\", "/", "//", "..", "../", "%", "%00", "%s",
    "{0}", "{", "}", "[", "]", "(", ")", "<", ">", "&", "|", ";", ":", ",", "=", "#", "?", "*", "$", "@", "~",
    "-", "+", "0", "1", "-1", "e", ".", "\u00e9", "\u0130", "\u202e", "\U0001f600", "\ufeff",
    "null", "true", "NaN",
)  # fmt: skip


def changed_text(text: str, subject: Subject, dice: Dice) -> str:
    """Another text, one change away."""
    changed = dice.pick(_TEXT_CHANGES)(text, subject, dice)
    return changed[:LONGEST]


def _inserted(text: str, subject: Subject, dice: Dice) -> str:
    place = dice.below(len(text) + 1)
    return text[:place] + any_token(subject, dice) + text[place:]


def _appended(text: str, subject: Subject, dice: Dice) -> str:
    token = any_token(subject, dice)
    return text + token if dice.chance(0.5) else token + text


def _replaced(text: str, subject: Subject, dice: Dice) -> str:
    start, end = _span(text, dice)
    return text[:start] + any_token(subject, dice) + text[end:]


def any_token(subject: Subject, dice: Dice) -> str:
    """Something that the tool knows, or that means something to somebody."""
    if subject.tokens and dice.chance(0.5):
        return dice.pick(list(subject.tokens))
    return dice.pick(SPECIAL)


def _cut_out(text: str, _subject: Subject, dice: Dice) -> str:
    start, end = _span(text, dice)
    return text[:start] + text[end:]


def _truncated(text: str, _subject: Subject, dice: Dice) -> str:
    return text[: dice.below(len(text) + 1)]


def _repeated(text: str, _subject: Subject, dice: Dice) -> str:
    times = dice.pick(TIMES)
    if dice.chance(0.4) or not text:
        return (text or "a") * min(times, LONGEST // (len(text) or 1) + 1)
    start, end = _span(text, dice)
    return text[:start] + text[start:end] * min(times, LONGEST // (end - start or 1)) + text[end:]


def _other_character(text: str, _subject: Subject, dice: Dice) -> str:
    if not text:
        return dice.pick(SPECIAL)
    place = dice.below(len(text))
    other = chr((ord(text[place]) + dice.pick((-1, 1, 32, -32, 128))) % 0x110000)
    return text[:place] + other + text[place + 1 :]


def _as_number(text: str, _subject: Subject, dice: Dice) -> str:
    digits = text.strip()
    if digits.isdecimal() and len(digits) < 40:
        return str(changed_number(int(digits), dice))
    return str(dice.pick(INTERESTING))


def renumbered(text: str, number: int) -> Iterator[str]:
    """The text with this number in the place of each of the numbers in it."""
    for found in _DIGITS.finditer(text[:_READ]):
        if int(found[0]) != abs(number):
            yield f"{text[: found.start()]}{abs(number)}{text[found.end() :]}"


def _other_number(text: str, subject: Subject, dice: Dice) -> str:
    """Another number in the place of one in the text, of as many digits every other time."""
    places = [found.span() for found in _DIGITS.finditer(text[:_READ])]
    if not places:
        return _inserted(text, subject, dice)
    start, end = dice.pick(places)
    known = dice.pick(subject.numbers) if subject.numbers and dice.chance(0.4) else None
    number = str(abs(changed_number(int(text[start:end]), dice)) if known is None else known)
    if dice.chance(0.5):
        number = number[-(end - start) :].zfill(end - start)
    return text[:start] + number + text[end:]


def _other_case(text: str, _subject: Subject, dice: Dice) -> str:
    return dice.pick((text.upper, text.lower, text.swapcase, text.strip))()


def _wrapped(text: str, _subject: Subject, dice: Dice) -> str:
    pair = dice.pick(('""', "''", "()", "[]", "{}", "<>", "  ", "//"))
    return pair[0] + text + pair[1]


def _turned(text: str, _subject: Subject, _dice: Dice) -> str:
    return text[::-1]


_TEXT_CHANGES: tuple[Callable[[str, Subject, Dice], str], ...] = (
    _inserted, _inserted, _appended, _appended, _replaced, _cut_out, _cut_out, _truncated, _repeated,
    _other_character, _as_number, _other_number, _other_number, _other_case, _wrapped, _turned,
)  # fmt: skip


def _span(items: Sequence[Any], dice: Dice) -> tuple[int, int]:
    """A stretch, mostly a short one."""
    start = dice.below(len(items) + 1)
    length = 1 + dice.below(3) if dice.chance(0.6) else dice.below(len(items) - start + 1)
    return start, min(start + length, len(items))
