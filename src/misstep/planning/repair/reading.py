"""What a model extracts from a request, each part with a quote: answer schemas, and their validation.

Models are asked in two ways, each with a strict JSON schema: one lists relations, the other goes through the
tools one by one, so a model that answers both has to look at the request twice. A valid reading names real
tools, quotes the request, and makes sense.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from misstep.core.case import CASE_VERSION, MOST_ACTIONS, Action, Case
from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.errors import UsageError
from misstep.planning.admission.constraints import MOST_TIMES, actions_of, check_constraints
from misstep.planning.admission.validation import MOST_WAYS
from misstep.planning.language.skeletons import shown
from misstep.schemas.answers import AnswerSchema, FormatError, form_of


class Need(msgspec.Struct, frozen=True):
    """A tool that the request asks for. It is an action of its own, with the tool's name."""

    tool: str
    quote: str


class ReadingRule(msgspec.Struct, frozen=True):
    constraint: Constraint
    quote: str


class RequestReading(msgspec.Struct, frozen=True):
    """One interpretation of a request. `beyond` are words that demand something no constraint can express."""

    needs: tuple[Need, ...]
    rules: tuple[ReadingRule, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple([need.tool for need in self.needs])

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return tuple([rule.constraint for rule in self.rules])


def problem(tools: Sequence[str], constraints: Sequence[Constraint]) -> Case:
    """The planning problem in a reading: which calls, in which order. Arguments are not part of it."""
    actions = tuple([Action(tool, tool, tool) for tool in tools])
    return Case(CASE_VERSION, "request", 0, "", "", actions, tuple(constraints))


Manner = Literal["relations", "tools"]
MANNERS: tuple[Manner, ...] = ("relations", "tools")

MOST_RULES = 100

Quote = Annotated[str, Meta(min_length=1, max_length=2_000)]
Name = Annotated[str, Meta(max_length=64)]
Times = Annotated[int, Meta(ge=2, le=MOST_TIMES)]
Most = Annotated[int, Meta(ge=1, le=MOST_ACTIONS * MOST_TIMES)]
Options = Annotated[tuple[Name, ...], Meta(min_length=2, max_length=MOST_ACTIONS)]
Beyond = Annotated[tuple[Quote, ...], Meta(max_length=MOST_RULES)]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Quoted(_Strict, frozen=True):
    tool: Name
    quote: Quote


class _Relation(_Strict, frozen=True, tag_field="kind"):
    quote: Quote


class _Before(_Relation, frozen=True, tag="before"):
    first: Name
    then: Name


class _Adjacent(_Relation, frozen=True, tag="adjacent"):
    first: Name
    then: Name


class _Place(_Relation, frozen=True, tag="place"):
    tool: Name
    place: Literal["first", "last"]


class _Choice(_Relation, frozen=True, tag="choice"):
    tools: Options


class _Repeat(_Relation, frozen=True, tag="repeat"):
    tool: Name
    times: Times


class _Limit(_Relation, frozen=True, tag="limit"):
    tool: Name
    most: Most


_Any = _Before | _Adjacent | _Place | _Choice | _Repeat | _Limit
# The constraints that they stand for, whose fields have the same order.
_MEANINGS: dict[type[_Any], Callable[..., Constraint]] = {
    _Before: Before,
    _Adjacent: Adjacent,
    _Place: Place,
    _Choice: Choice,
    _Repeat: Repeat,
    _Limit: Limit,
}


class _Relations(_Strict, frozen=True):
    needed: Annotated[tuple[_Quoted, ...], Meta(max_length=MOST_ACTIONS)]
    constraints: Annotated[tuple[_Any, ...], Meta(max_length=MOST_RULES)]
    beyond: Beyond = ()


class _Placed(_Strict, frozen=True):
    place: Literal["first", "last"]
    quote: Quote


class _Often(_Strict, frozen=True):
    times: Times
    quote: Quote


class _Soon(_Strict, frozen=True):
    most: Most
    quote: Quote


class _Either(_Strict, frozen=True):
    tools: Options
    quote: Quote


class _Described(_Strict, frozen=True):
    tool: Name
    quote: Quote
    after: Annotated[tuple[_Quoted, ...], Meta(max_length=MOST_ACTIONS)] = ()
    right_after: _Quoted | None = None
    place: _Placed | None = None
    times: _Often | None = None
    at_most_before: _Soon | None = None


class _Tools(_Strict, frozen=True):
    tools: Annotated[tuple[_Described, ...], Meta(max_length=MOST_ACTIONS)]
    choices: Annotated[tuple[_Either, ...], Meta(max_length=MOST_ACTIONS)] = ()
    beyond: Beyond = ()


def _from_relations(filled: _Relations) -> RequestReading:
    needs = [Need(each.tool, each.quote) for each in filled.needed]
    return RequestReading(tuple(needs), tuple([_rule(each) for each in filled.constraints]), filled.beyond)


def _rule(relation: _Any) -> ReadingRule:
    quote, *said = msgspec.structs.astuple(relation)
    return ReadingRule(_MEANINGS[type(relation)](*said), quote)


def _from_tools(filled: _Tools) -> RequestReading | FormatError:
    needs = [Need(each.tool, each.quote) for each in filled.tools]
    rules = [rule for each in filled.tools for rule in _rules_of(each)]
    rules += [ReadingRule(Choice(each.tools), each.quote) for each in filled.choices]
    if len(rules) > MOST_RULES:
        return FormatError(f"There are {len(rules)} constraints, at most {MOST_RULES} are read.")
    return RequestReading(tuple(needs), tuple(rules), filled.beyond)


def _rules_of(described: _Described) -> Iterator[ReadingRule]:
    tool = described.tool
    for earlier in described.after:
        yield ReadingRule(Before(earlier.tool, tool), earlier.quote)
    if described.right_after:
        yield ReadingRule(Adjacent(described.right_after.tool, tool), described.right_after.quote)
    if described.place:
        yield ReadingRule(Place(tool, described.place.place), described.place.quote)
    if described.times:
        yield ReadingRule(Repeat(tool, described.times.times), described.times.quote)
    if described.at_most_before:
        yield ReadingRule(Limit(tool, described.at_most_before.most), described.at_most_before.quote)


MOST_CALLS = 60  # including repetitions
LEAST_QUOTED = 2  # letters or digits: fewer occur in any request
SHOWN_NAMES = 100
SHOWN_TEXT = 200  # characters of it in a message

_MARKS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "\u2011": "-"})


def checked_form(manner: Manner, tools: Sequence[str], request: str) -> AnswerSchema[RequestReading]:
    """The answer schema of readings checked against the request; the error is the first thing wrong."""

    def check(reading: RequestReading) -> RequestReading | FormatError:
        for complaint in _complaints(reading, tools, request):
            return FormatError(complaint)
        reading = _tidied(reading)
        complaint = why_senseless(reading.tools, reading.constraints)
        return FormatError(complaint) if complaint else reading

    if manner == "relations":
        return form_of(_Relations).then(_from_relations).then(check)
    return form_of(_Tools).then(_from_tools).then(check)


def why_senseless(tools: Sequence[str], constraints: Sequence[Constraint]) -> str:
    """What is wrong with constraints, or too large; empty if they are fine."""
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
            f"The constraints are not valid together: {error.message}{hints}. Their numbers: {listed}."
            " What constraints can't express belongs in `beyond`."
        )
    return ""


def is_quoted(quote: str, request: str) -> bool:
    """Whether the words are in the request, ignoring case, spaces and kinds of quotation marks."""
    words = _folded(quote).strip(" .\"'")
    return sum(map(str.isalnum, words)) >= LEAST_QUOTED and words in _folded(request)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS).casefold()
    return re.sub(r"\s+", " ", plain)


def _complaints(reading: RequestReading, tools: Sequence[str], request: str) -> Iterator[str]:
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
                    f"A constraint mentions {shown(tool, SHOWN_TEXT)}, which is not among the tools "
                    f"that are needed: {_listed(needed)}."
                )
        if len(set(named)) < len(named):
            yield f"A constraint names {named[0]!r} twice."
    quotes = [need.quote for need in reading.needs] + [rule.quote for rule in reading.rules]
    for quote in (*quotes, *reading.beyond):
        if not is_quoted(quote, request):
            cited = shown(quote, SHOWN_TEXT)
            yield f"The quote {cited} is not in the request. Copy words of the request as they are."


def _tidied(reading: RequestReading) -> RequestReading:
    """Each constraint once, with sorted options, so that equal readings compare equal."""
    rules: dict[Constraint, ReadingRule] = {}
    for rule in reading.rules:
        constraint = rule.constraint
        if isinstance(constraint, Choice):
            constraint = Choice(tuple(sorted(constraint.options)))
        rules.setdefault(constraint, ReadingRule(constraint, rule.quote))
    return msgspec.structs.replace(reading, rules=tuple(rules.values()))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return (", ".join(names[:SHOWN_NAMES]) or "none") + more
