"""Numbers as people write them in a reply."""

import re
from collections.abc import Iterator

LONGEST = 20  # characters of a number; what is longer is cut, and no right one
_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_TEENS = ("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: value for value, word in enumerate((*_ONES, *_TEENS))}
_VALUES |= {word: 20 + 10 * place for place, word in enumerate(_TENS)}

_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-]+(?:{'|'.join(_ONES[1:10])})\b)?|(?:{'|'.join((*_TEENS, *_ONES))}))"
)
_HUNDREDS = rf"(?:(?:{_SMALL}[\s-]+)?hundred(?:[\s-]+(?:and[\s-]+)?{_SMALL}\b)?|{_SMALL})"
_IN_WORDS = re.compile(
    rf"(?i)\b(?:(?:{_HUNDREDS}[\s-]+)?thousand(?:,?[\s-]+(?:and[\s-]+)?{_HUNDREDS}\b)?|{_HUNDREDS})\b"
)

# Digits within words and behind a hyphen of one are no numbers; behind digits and a hyphen, they are.
_IN_DIGITS = re.compile(
    r"(?<![^\W_])(?<![^\W\d_][_-])(?P<sign>[-−])?(?P<digits>\d+(?:[.,]\d+)*)(?P<unit> ?[kmg]i?b\b|[^\W\d_]*)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")
_UNITS = ("", "b", "byte", "bytes", "file", "files", "folder", "folders", "line", "lines")
_NONE_OF_ITS_OWN = re.compile(r" ?[kmg]i?b|st|nd|rd|th", re.IGNORECASE)  # the same, rounded; a place in a row
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_BETWEEN = re.compile(r"(?i)-(to|or|and)-")
_ITEM = re.compile(r"[ \t]*(\d{1,4})[.)][ \t]+(?=\S)")


def numbers_in(text: str) -> list[str]:
    """All numbers that a text names, as `str` would write them, in digits and in words.

    Dates, places in a row (`3rd`), sizes in kB and more, and what only numbers the lines of a list are left
    out; so is the word "one" beside another number.
    """
    plain = _BETWEEN.sub(r" \1 ", _DATE.sub(" ", _without_places(text)))
    found = dict.fromkeys([*_in_digits(plain), *_in_words(plain)])
    only_ones = all(each == "1" for each in found)
    if not only_ones and "1" not in _in_digits(plain):
        found.pop("1", None)
    return list(found)


def _without_places(text: str) -> str:
    """The text without the numbers of the lines of lists, which begin with 1 and go on to 2 at least."""
    lines = text.split("\n")
    places = [(row, int(match[1])) for row, line in enumerate(lines) if (match := _ITEM.match(line))]
    listed, last = set[int](), 0
    for (row, number), (_, following) in zip(places, [*places, (0, 0)][1:], strict=True):
        goes_on = number > 1 and number == last + 1
        begins = number == 1 and following == 2
        last = number if goes_on or begins else 0
        if last:
            listed.add(row)
    return "\n".join(
        _ITEM.sub("", line, count=1) if row in listed else line for row, line in enumerate(lines)
    )


def _in_digits(text: str) -> Iterator[str]:
    for match in _IN_DIGITS.finditer(text):
        sign, digits, unit = match["sign"] or "", match["digits"], match["unit"]
        if unit.lower() in _UNITS:
            yield from (f"{sign}{value}" for value in _values(digits))
        elif not _NONE_OF_ITS_OWN.fullmatch(unit):
            yield f"{sign}{digits}{unit}"[:LONGEST]


def _values(digits: str) -> Iterator[str]:
    """The number that digits with points and commas are; several if they can't be one."""
    decimal = _DECIMAL.fullmatch(digits)
    if not decimal:
        yield from map(_whole, re.split("[.,]", digits))
        return
    whole, fraction = _whole(decimal[1].replace(",", "")), (decimal[2] or "").rstrip("0")
    yield f"{whole}.{fraction}"[:LONGEST] if fraction else whole


def _whole(digits: str) -> str:
    return str(int(digits)) if len(digits) < LONGEST else digits[:LONGEST]


def _in_words(text: str) -> Iterator[str]:
    for match in _IN_WORDS.finditer(text):
        total, current = 0, 0
        for word in re.findall("[a-z]+", match[0].lower()):
            if word == "hundred":
                current = 100 * max(1, current)
            elif word == "thousand":
                total, current = 1000 * max(1, current), 0
            else:
                current += _VALUES.get(word, 0)
        yield str(total + current)
