"""Numbers as people write them in a reply."""

import re
from collections.abc import Iterator

import msgspec

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
_SIZE = re.compile(r"(?P<amount>\d+(?:\.(?P<places>\d+))?)(?P<prefix>[KMG])I?B")
_UNITS = ("", "b", "byte", "bytes", "file", "files", "folder", "folders", "line", "lines")
_PLACE = re.compile(r"st|nd|rd|th", re.IGNORECASE)  # in a row
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_ONE = re.compile(r"(?i)\bone\b(?![\s-]+(?:hundred|thousand))")
_BETWEEN = re.compile(r"(?i)-(to|or|and)-")
_ITEM = re.compile(r"[ \t]*(\d{1,4})[.)][ \t]+(?=\S)")
_SHARE = re.compile(r"(?i)\W*of\W+(?:them|those|these|which)\b")
_DOUBT = "maybe|perhaps|possibly|probably|even|rather|else|about|around|just|only"
_OR = re.compile(rf"(?i)[-–]|\s+to\s+|(?:\W+\w+){{0,3}}\W+or\b(?:\W+(?:{_DOUBT})\b)*\W*")
_APART = 60  # characters; what is farther away has nothing to do with it


class Mention(msgspec.Struct, frozen=True):
    """A number that a text names, as `str` would write it.

    It is a `share` of another where "of them" follows, or where it is the word "one" beside other numbers. It
    `rivals` the one before it if "or", "to" or a hyphen is all that is between the two.
    """

    value: str
    is_share: bool = False
    rivals: bool = False


def numbers_in(text: str) -> list[Mention]:
    """All numbers that a text names, in digits and in words, in their order.

    Dates, places in a row (`3rd`), and what only numbers the lines of a list are left out.
    """
    plain = _BETWEEN.sub(r" \1 ", _DATE.sub(" ", _without_places(text)))
    found = sorted([*_in_digits(plain), *_in_words(plain)])
    ones = {match.start() for match in _ONE.finditer(plain)} & {start for start, _, _ in found}
    asides = ones if len(ones) < len(found) else set[int]()
    mentions, last = list[Mention](), len(plain)
    for start, end, value in found:
        is_share = start in asides or _SHARE.match(plain, end) is not None
        rivals = 0 <= start - last <= _APART and _OR.fullmatch(plain, last, start) is not None
        mentions.append(Mention(value, is_share, rivals))
        last = end
    return mentions


def is_rounded(size: str, whole: int) -> bool:
    """Whether a size such as `1.2KB` is so many bytes, up to its last digit. A kilobyte is 1000 or 1024."""
    found = _SIZE.fullmatch(size)
    if not found:
        return False
    factors = [base ** ("KMG".index(found["prefix"]) + 1) for base in (1000, 1024)]
    last = 10 ** -len(found["places"] or "")
    return any([abs(float(found["amount"]) - whole / factor) <= last for factor in factors])


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


def _in_digits(text: str) -> Iterator[tuple[int, int, str]]:
    """Each with where it begins and ends; so in words."""
    for match in _IN_DIGITS.finditer(text):
        sign, digits, unit = match["sign"] or "", match["digits"], match["unit"].strip()
        if unit.lower() in _UNITS:
            yield from ((*match.span(), f"{sign}{value}") for value in _values(digits))
        elif not _PLACE.fullmatch(unit):
            yield *match.span(), f"{sign}{digits}{unit.upper()}"[:LONGEST]


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


def _in_words(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _IN_WORDS.finditer(text):
        total, current = 0, 0
        for word in re.findall("[a-z]+", match[0].lower()):
            if word == "hundred":
                current = 100 * max(1, current)
            elif word == "thousand":
                total, current = 1000 * max(1, current), 0
            else:
                current += _VALUES.get(word, 0)
        yield *match.span(), str(total + current)
