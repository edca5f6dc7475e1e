"""Finds values that a description mentions: quoted ones, examples, lists of allowed values."""

import re
from collections.abc import Iterator

from misstep.core.secrets import mask_shapes

LONGEST_TEXT = 20_000  # characters of a description
LONGEST = 200  # characters of a value
MOST = 60  # values from one description

_QUOTED = re.compile(
    r"""
    (?<![\w\\]) '([^'\n]{1,200})' (?!\w)
    | "([^"\n]{1,200})"
    | `{1,3}([^`\n]{1,200})`{1,3}
    | “([^”\n]{1,200})”
    | ‘([^’\n]{1,200})’
    """,
    re.VERBOSE,
)
_LISTED = re.compile(
    r"(?:one of|either|can be|must be|such as|allowed values(?: are)?|valid values(?: are)?|options(?: are)?"
    r"|possible values(?: are)?|choices(?: are)?|supported(?: \w+)?(?: are)?)[:\s]+([^.\n;)]{1,300})",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.,?|\bi\.\s?e\.,?|\bfor example,?|\bfor instance,?|\bexamples?\b|\blike\b)"
    r"\s*:?\s*([^\n;)]{1,200})",
    re.IGNORECASE,
)
_GIVEN_AS_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.,?|\bfor example,?|\bfor instance,?|\bexamples?:|\bsuch as)\s*"
    r"""(?:(-?\d{1,12}(?:\.\d{1,6})?)(?![\w.]*\w)|'([^'\n]{1,200})'(?!\w)|"([^"\n]{1,200})"|`([^`\n]{1,200})`"""
    r"|“([^”\n]{1,200})”|‘([^’\n]{1,200})’)",
    re.IGNORECASE,
)
_PAIR = re.compile(r"^\s*[\w-]{1,40}\s*[:=]\s*(.{1,200})$")
_PROMPT = re.compile(r"^\s*>>>\s*(.{1,200})$", re.MULTILINE)
_BETWEEN = re.compile(r"\s*(?:,|/|\||\bor\b|\band\b)\s*")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,12}(?:\.\d{1,6})?(?![\w.]*\w)")


def find_texts(description: str) -> list[str]:
    """Texts that a description gives as values, quoted ones first."""
    text = description[:LONGEST_TEXT]
    found = dict.fromkeys(value for value in _mentioned(text) if 0 < len(value) <= LONGEST)
    return list(found)[:MOST]


def find_examples(description: str) -> list[str | int | float]:
    """Values that a description explicitly gives as examples of what to pass."""
    found = list[str | int | float]()
    for example in _GIVEN_AS_EXAMPLE.finditer(description[:LONGEST_TEXT]):
        number, *texts = example.groups()
        text = next((each for each in texts if each is not None), "")
        found.append(text if number is None else float(number) if "." in number else int(number))
    return [each for each in dict.fromkeys(found) if mask_shapes(str(each)) == str(each)][:MOST]


def find_numbers(description: str) -> list[int | float]:
    numbers = _NUMBER.findall(description[:LONGEST_TEXT])
    return list(dict.fromkeys(float(each) if "." in each else int(each) for each in numbers))[:MOST]


def _mentioned(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        value = next(part for part in quoted.groups() if part is not None)
        yield from _with_value_alone(value)
    for prompt in _PROMPT.finditer(text):
        yield prompt[1].strip()
    for example in _EXAMPLE.finditer(text):
        value = _stripped(re.split(r"\.\s|\.$", example[1])[0])
        yield from _with_value_alone(value)
        if "," in value:
            yield from (_stripped(part) for part in _BETWEEN.split(value))
    for listing in _LISTED.finditer(text):
        parts = [_stripped(part) for part in _BETWEEN.split(listing[1])]
        yield from (part for part in parts if len(part) <= 40)


def _with_value_alone(text: str) -> Iterator[str]:
    """The text and, if it is a pair such as `query: libraries`, its value alone."""
    yield text
    if pair := _PAIR.match(text):
        yield _stripped(pair[1])


def _stripped(text: str) -> str:
    return text.strip().strip("'\"`“”‘’ ").rstrip(".,:")
