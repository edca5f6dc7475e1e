"""The wall for readings: what gets past it speaks of real tools, in words of the request, and makes sense."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from math import prod

import msgspec

from misstep.core.answer_schema import AnswerSchema, FormatError
from misstep.core.constraint import Choice, Constraint, Repeat
from misstep.errors import UsageError
from misstep.planning.admission.constraints import actions_of, check_constraints
from misstep.planning.admission.size import MOST_WAYS
from misstep.planning.language.skeletons import shown
from misstep.planning.repair.forms import Manner, reading_form
from misstep.planning.repair.reading import Reading, Rule, problem

MOST_CALLS = 60  # with repetitions
LEAST_QUOTED = 2  # letters or digits: less is in any request
SHOWN_NAMES = 100
SHOWN_TEXT = 200  # characters of it

_MARKS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "\u2011": "-"})


def checked_form(manner: Manner, tools: Sequence[str], request: str) -> AnswerSchema[Reading]:
    """Readings that are held against the request; the complaint is the first thing that is wrong with one."""

    def check(reading: Reading) -> Reading | FormatError:
        for complaint in _complaints(reading, tools, request):
            return FormatError(complaint)
        reading = _tidied(reading)
        complaint = why_senseless(reading.tools, reading.constraints)
        return FormatError(complaint) if complaint else reading

    return reading_form(manner).then(check)


def why_senseless(tools: Sequence[str], constraints: Sequence[Constraint]) -> str:
    """What makes no sense about constraints, or is too much, in words; nothing where all is well."""
    calls = len(tools) + sum([c.times - 1 for c in constraints if isinstance(c, Repeat)])
    if calls > MOST_CALLS:
        return f"With repetitions there are {calls} calls; at most {MOST_CALLS} can be planned."
    if prod([len(c.options) for c in constraints if isinstance(c, Choice)]) > MOST_WAYS:
        return f"There are more than {MOST_WAYS} ways to choose."
    try:
        check_constraints(problem(tools, constraints))
    except UsageError as error:
        listed = "; ".join([f"{i}: {msgspec.json.encode(c).decode()}" for i, c in enumerate(constraints)])
        hints = f" ({'; '.join(error.hints)})" if error.hints else ""
        return (
            f"The constraints make no sense together: {error.message}{hints}. They are numbered so: {listed}."
            " What can't be said by constraints belongs into `beyond`."
        )
    return ""


def is_quoted(quote: str, request: str) -> bool:
    """Whether the words are in the request, whatever their case, spaces and kinds of marks."""
    words = _folded(quote).strip(" .\"'")
    return sum(map(str.isalnum, words)) >= LEAST_QUOTED and words in _folded(request)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS).casefold()
    return re.sub(r"\s+", " ", plain)


def _complaints(reading: Reading, tools: Sequence[str], request: str) -> Iterator[str]:
    needed = reading.tools
    for tool in needed:
        if tool not in tools:
            yield f"There is no tool {shown(tool, SHOWN_TEXT)}. The tools are {_listed(tools)}."
        if needed.count(tool) > 1:
            yield f"{tool!r} is listed twice among the tools that are needed."
    for rule in reading.rules:
        named = actions_of(rule.constraint)
        for tool in named:
            if tool not in needed:
                yield (
                    f"A constraint speaks of {shown(tool, SHOWN_TEXT)}, which is not among the tools "
                    f"that are needed: {_listed(needed)}."
                )
        if len(set(named)) < len(named):
            yield f"A constraint names {named[0]!r} twice."
    quotes = [need.quote for need in reading.needs] + [rule.quote for rule in reading.rules]
    for quote in (*quotes, *reading.beyond):
        if not is_quoted(quote, request):
            cited = shown(quote, SHOWN_TEXT)
            yield f"The quote {cited} is not in the request. Copy words of the request as they are."


def _tidied(reading: Reading) -> Reading:
    """Each constraint once, options in the order of the tools, so that what means the same is the same."""
    rules: dict[Constraint, Rule] = {}
    for rule in reading.rules:
        constraint = rule.constraint
        if isinstance(constraint, Choice):
            constraint = Choice(tuple(sorted(constraint.options)))
        rules.setdefault(constraint, Rule(constraint, rule.quote))
    return msgspec.structs.replace(reading, rules=tuple(rules.values()))


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return (", ".join(names[:SHOWN_NAMES]) or "none") + more
