"""Checks whether a reply in natural language gives the right answer: a number or a list of files."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

from misstep.benchmarks.files.operations import files_of, name_of
from misstep.benchmarks.tree import Tree, visible

LONGEST = 20  # characters of a number; longer ones are cut and can't be right
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

# Digits inside words or after a word and a hyphen are not numbers; after digits and a hyphen they are.
_IN_DIGITS = re.compile(
    r"(?<![^\W_])(?<![^\W\d_][_-])(?P<sign>[-−])?(?P<digits>\d+(?:[.,]\d+)*)(?P<unit> ?[kmg]i?b\b|[^\W\d_]*)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")
_SIZE = re.compile(r"(?P<amount>\d+(?:\.(?P<places>\d+))?)(?P<prefix>[KMG])I?B")
_UNITS = ("", "b", "byte", "bytes", "file", "files", "folder", "folders", "line", "lines")
_PLACE = re.compile(r"st|nd|rd|th", re.IGNORECASE)  # ordinal suffixes
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_ONE = re.compile(r"(?i)\bone\b(?![\s-]+(?:hundred|thousand))")
_BETWEEN = re.compile(r"(?i)-(to|or|and)-")
_ITEM = re.compile(r"[ \t]*(\d{1,4})[.)][ \t]+(?=\S)")
_SHARE = re.compile(r"(?i)\W*of\W+(?:them|those|these|which)\b")
_DOUBT = "maybe|perhaps|possibly|probably|even|rather|else|about|around|just|only"
_OR = re.compile(rf"(?i)[-–]|\s+to\s+|(?:\W+\w+){{0,3}}\W+or\b(?:\W+(?:{_DOUBT})\b)*\W*")
_APART = 60  # characters; numbers farther apart are unrelated


class Mention(msgspec.Struct, frozen=True):
    """A number in a text, formatted as by `str`."""

    value: str
    is_share: bool = False  # "of them" follows, or it is the word "one" beside other numbers
    rivals: bool = False  # only "or", "to" or a hyphen is between the number before and this one


def numbers_in(text: str) -> list[Mention]:
    """All numbers in a text, in order, without dates, ordinals (`3rd`) and the numbering of lists."""
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
    """Whether a size such as `1.2KB` is this many bytes, up to its last digit. A kilobyte is 1000 or 1024."""
    found = _SIZE.fullmatch(size)
    if not found:
        return False
    factors = [base ** ("KMG".index(found["prefix"]) + 1) for base in (1000, 1024)]
    last = 10 ** -len(found["places"] or "")
    return any([abs(float(found["amount"]) - whole / factor) <= last for factor in factors])


def _without_places(text: str) -> str:
    """The text without the numbering of lists, which starts at 1 and has at least two items."""
    lines = text.split("\n")
    places = [(row, int(match[1])) for row, line in enumerate(lines) if (match := _ITEM.match(line))]
    listed, last = set[int](), 0
    for (row, number), (_, following) in zip(places, [*places, (0, 0)][1:], strict=True):
        goes_on = number > 1 and number == last + 1
        begins = number == 1 and following == 2
        last = number if goes_on or begins else 0
        if last:
            listed.add(row)
    for row in listed:
        lines[row] = _ITEM.sub("", lines[row], count=1)
    return "\n".join(lines)


def _in_digits(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _IN_DIGITS.finditer(text):
        sign, digits, unit = match["sign"] or "", match["digits"], match["unit"].strip()
        if unit.lower() in _UNITS:
            yield from ((*match.span(), f"{sign}{value}") for value in _values(digits))
        elif not _PLACE.fullmatch(unit):
            yield *match.span(), f"{sign}{digits}{unit.upper()}"[:LONGEST]


def _values(digits: str) -> Iterator[str]:
    """The number that digits with points and commas stand for; several if they can't be one."""
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


MOST_READ = 100_000  # characters
MOST_GIVEN = 5  # numbers quoted in a message
_MARKED = re.compile(r"(?im)^[ \t*_>#-]*(?:final )?answer\b[\s*_]*:[\s*_]*(.+)$")
_ESCAPED = re.compile(r"\\([^\w\s]|[ _])")  # escapes of Markdown or a shell
_AROUND = 8  # characters
_BEFORE = re.compile(r"(?:\A|[^\w/.–-]|(?:\A|\n)[ \t]*[–-])(?:\./)?\Z")
_AFTER = re.compile(r"(?![\w/–-]|\.\w)")
_ABSOLUTE = re.compile(r"(?:\A|[^\w/.])[/~][^\n]*\Z")
_FOLDER = 300  # characters of an absolute path to a folder
_GONE = "\0"  # replaces a name that has been read


class Number(msgspec.Struct, frozen=True, tag=True):
    value: int

    @property
    def text(self) -> str:
        return str(self.value)


class Paths(msgspec.Struct, frozen=True, tag=True):
    """Files, in any order."""

    paths: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.paths)


Answer: TypeAlias = Number | Paths


def objections(answer: Answer, said: str, request: str, tree: Tree) -> tuple[str, ...]:
    """What is wrong with a reply; empty if it gives the right answer and no other.

    If a line says `Answer: …`, the last such line that names something is the reply. A number has to be an
    integer, in digits with or without commas, or in words. Other numbers are allowed only if they don't
    compete with it: see `_of_number`. Files have to be named by their paths, or by their names if no other
    file has the same name; of all files in the tree, only the right ones may be named.
    """
    said = said[:MOST_READ]
    if not any("\\" in path for path in tree):
        said = _ESCAPED.sub(r"\1", said)
    if isinstance(answer, Number):
        plain = _without_names(said, request, tree)
        numbers = next(filter(None, map(numbers_in, (*_MARKED.findall(plain)[::-1], plain))), list[Mention]())
        return _of_number(answer, numbers, _harmless(request, tree))
    marked = _MARKED.findall(said)
    named = _named(marked[-1], tree) if marked and len(answer.paths) == 1 else set[str]()
    return tuple(_of_paths(answer, named or _named(said, tree), said))


def _of_number(answer: Number, numbers: Sequence[Mention], harmless: set[str]) -> tuple[str, ...]:
    """Harmless numbers, shares of it and parts that add up to it are allowed; "3 or 4" is not."""
    if not numbers:
        return (f"the reply names no number, should be {answer.value}",)
    values = [each.value for each in numbers]
    rivals = [{*pair} for pair, each in zip(pairwise(values), numbers[1:], strict=True) if each.rivals]
    unclear = [each.value for each in numbers if not each.is_share and each.value not in harmless]
    others = [each for each in unclear if each != answer.text and not is_rounded(each, answer.value)]
    is_hedged = any([answer.text in pair and len(pair) > 1 for pair in rivals])
    add_up = all(map(str.isdecimal, others)) and sum(map(int, others)) == answer.value
    if answer.text not in values or is_hedged or (others and not add_up):
        given = ", ".join([*dict.fromkeys(values)][:MOST_GIVEN])
        return (f"the reply says {given}, should say {answer.value} alone",)
    return ()


def _without_names(said: str, request: str, tree: Tree) -> str:
    """The reply without quotes from the request and names of files and folders."""
    names = {*tree, *map(name_of, tree), *re.findall(r"'([^']+)'", request)}
    for name in sorted((name for name in names if not name.isdigit()), key=len, reverse=True):
        said = said.replace(name, " ")
    return said


def _harmless(request: str, tree: Tree) -> set[str]:
    """Numbers that may be repeated: those in the request, and years that are names of folders."""
    years = {name for name in map(name_of, tree) if re.fullmatch(r"[1-9][0-9]{3}", name)}
    return years | {each.value for each in numbers_in(_without_names(request, request, tree))}


def _of_paths(answer: Paths, named: set[str], said: str) -> Iterator[str]:
    missing = [path for path in answer.paths if path not in named]
    yield from (f"the reply does not name {visible(path)}" for path in missing)
    for path in sorted(named - {*answer.paths}):
        yield f"the reply names {visible(path)}, which is not one of them"
    for path in missing:
        start = said.find(f"/{path}")
        if start >= 0 and _ABSOLUTE.search(said[max(0, start - _FOLDER) : start + 1]):
            yield f"{visible(path)} is named by an absolute path, should be relative to the current folder"


def _named(said: str, tree: Tree) -> set[str]:
    """The files that a text names; a longer name does not count as a mention of a shorter one inside it."""
    paths = list(files_of(tree))
    names = [name_of(path) for path in paths]
    known = {name_of(path): path for path in paths if names.count(name_of(path)) == 1}
    known |= {path: path for path in paths}
    found = set[str]()
    for name in sorted(known, key=len, reverse=True):
        for start in _mentions(name, said):
            said = f"{said[:start]}{_GONE * len(name)}{said[start + len(name) :]}"
            found.add(known[name])
    return found


def _mentions(name: str, said: str) -> Iterator[int]:
    """Positions where a name stands alone, not as part of a longer one."""
    start = said.find(name)
    while start >= 0:
        before, after = said[max(0, start - _AROUND) : start], said[start + len(name) :][:_AROUND]
        while before.endswith("_") and after.startswith("_"):  # Markdown emphasis
            before, after = before[:-1], after[1:]
        if _BEFORE.search(before) and _AFTER.match(after):
            yield start
        start = said.find(name, start + len(name))
