"""The two manners in which models are asked for a reading, each a strict JSON schema.

One lists relations, the other goes from tool to tool: who fills in both has to look at the request twice.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from misstep.core.answer_schema import AnswerSchema, FormatError, form_of
from misstep.core.case import MOST_ACTIONS
from misstep.core.constraint import Adjacent, Before, Choice, Limit, Place, Repeat
from misstep.planning.admission.constraints import MOST_TIMES
from misstep.planning.repair.reading import Need, Reading, Rule

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


def reading_form(manner: Manner) -> AnswerSchema[Reading]:
    """Readings that are not yet held against the request."""
    if manner == "relations":
        return form_of(_Relations).then(_from_relations)
    return form_of(_Tools).then(_from_tools)


def _from_relations(filled: _Relations) -> Reading:
    needs = [Need(each.tool, each.quote) for each in filled.needed]
    return Reading(tuple(needs), tuple([_rule(each) for each in filled.constraints]), filled.beyond)


def _rule(relation: _Any) -> Rule:
    match relation:
        case _Before(quote, first, then):
            return Rule(Before(first, then), quote)
        case _Adjacent(quote, first, then):
            return Rule(Adjacent(first, then), quote)
        case _Place(quote, tool, place):
            return Rule(Place(tool, place), quote)
        case _Choice(quote, tools):
            return Rule(Choice(tools), quote)
        case _Repeat(quote, tool, times):
            return Rule(Repeat(tool, times), quote)
        case _Limit(quote, tool, most):
            return Rule(Limit(tool, most), quote)


def _from_tools(filled: _Tools) -> Reading | FormatError:
    needs = [Need(each.tool, each.quote) for each in filled.tools]
    rules = [rule for each in filled.tools for rule in _rules_of(each)]
    rules += [Rule(Choice(each.tools), each.quote) for each in filled.choices]
    if len(rules) > MOST_RULES:
        return FormatError(f"There are {len(rules)} constraints, at most {MOST_RULES} are read.")
    return Reading(tuple(needs), tuple(rules), filled.beyond)


def _rules_of(described: _Described) -> Iterator[Rule]:
    tool = described.tool
    for earlier in described.after:
        yield Rule(Before(earlier.tool, tool), earlier.quote)
    if described.right_after:
        yield Rule(Adjacent(described.right_after.tool, tool), described.right_after.quote)
    if described.place:
        yield Rule(Place(tool, described.place.place), described.place.quote)
    if described.times:
        yield Rule(Repeat(tool, described.times.times), described.times.quote)
    if described.at_most_before:
        yield Rule(Limit(tool, described.at_most_before.most), described.at_most_before.quote)
