"""Positions in a request: of sentences in the paragraph, of tools in the list, and of first mentions."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from misstep.core.case import MOST_ACTIONS
from misstep.core.constraint import Before, Constraint, StandIn
from misstep.planning.admission.constraints import optional_in
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Duty, Sentence, renumbered
from misstep.planning.plans.order import relations_of
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import (
    Anatomy,
    Worded,
    assemble,
    demands_of,
    is_about_order,
    said_in,
    saying,
)
from misstep.planning.variation.phrasing import Choosing, Drawn, NothingLeft, draw_words, say

_NUMBER = re.compile(r"\0(\d+)\0")
_MARKS = tuple(f"\0{number}\0" for number in range(MOST_ACTIONS))


def mentions(sentence: Sentence, words: Drawn) -> list[int]:
    """The actions in the order in which a sentence first names them."""
    (text,) = say((sentence,), _MARKS, (words,))
    return list(dict.fromkeys([int(number) for number in _NUMBER.findall(text)]))


def misplaced(
    constraints: Iterable[Constraint], ids: Sequence[str], mentioned: Sequence[int]
) -> list[Constraint]:
    """The constraints of the request whose actions the text first names in the opposite order."""
    places = {ids[action]: place for place, action in enumerate(mentioned)}
    return [
        constraint
        for constraint in constraints
        if not (isinstance(constraint, Before) and constraint.announced)
        and any(
            [
                first in places and then in places and places[then] < places[first]
                for first, then in relations_of(constraint)
            ]
        )
    ]


LAST = "last sentence"
TOOL_LIST = "order of the tool list"


def positions_of(anatomy: Anatomy) -> Iterator[str]:
    """The positions of sentences that demand something, and the tool list if its order is not a plan."""
    demanding = _demanding(anatomy)
    for number in demanding:
        yield sentence_position(number)
    if len(anatomy.paragraph) - 1 in demanding:
        yield LAST
    if misplaced_tools(anatomy):
        yield TOOL_LIST


def sentence_position(number: int) -> str:
    return f"sentence {number + 1}"


def sentences_at(anatomy: Anatomy, position: str) -> list[int]:
    if position == TOOL_LIST:
        return misplaced_tools(anatomy)
    number = len(anatomy.paragraph) - 1 if position == LAST else int(position.split()[1]) - 1
    return [number] if number in _demanding(anatomy) else []


def misplaced_tools(anatomy: Anatomy) -> list[int]:
    """The sentences whose constraints are broken by calling the tools in listed order.

    If there are distractors, tools are listed by name, so their order can't be changed; it is also ignored if
    there is more than plain order.
    """
    if anatomy.distractors or not is_about_order(anatomy):
        return []
    ids = anatomy.ids
    wrong = misplaced(demands_of(anatomy), ids, range(len(ids)))
    return [constraint.sentence for constraint in wrong if constraint.sentence is not None]


def without_positions(anatomy: Anatomy, positions: Collection[str], choosing: Choosing) -> Anatomy:
    """The case with sentences that demand nothing at these positions, and tools listed as a plan."""
    if TOOL_LIST in positions and misplaced_tools(anatomy):
        anatomy = _listed_as_plan(anatomy)
    told = said_in(anatomy)
    for number in range(len(told) + len(positions)):
        if sentence_position(number) in positions and number < len(told):
            told.insert(number, _mention(anatomy, choosing))
    if LAST in positions and _demands(told[-1].sentence):
        told.append(_mention(anatomy, choosing))
    return saying(anatomy, told)


def _listed_as_plan(anatomy: Anatomy) -> Anatomy:
    """The same case with its actions, and so its tools, in a correct order."""
    case = assemble(anatomy)
    if case is None:
        raise NothingLeft("there is no plan to list the tools by")
    old = anatomy.ids
    places = {old.index(name): place for place, name in enumerate(case.witness)}
    actions = [replace(anatomy.actions[number], id=IDS[place]) for number, place in places.items()]
    paragraph = [
        replace(said, parts=tuple([renumbered(part, places) for part in said.parts]))
        for said in anatomy.paragraph
    ]
    return replace(anatomy, actions=tuple(actions), paragraph=tuple(paragraph))


def _demanding(anatomy: Anatomy) -> list[int]:
    return [number for number, said in enumerate(anatomy.paragraph) if _demands(said)]


def _demands(sentence: Sentence) -> bool:
    return bool(constraints_of(sentence, IDS, 0))


def _mention(anatomy: Anatomy, choosing: Choosing) -> Worded:
    demands = demands_of(anatomy)
    optional = {action for demand in demands for action in optional_in(demand)}
    optional |= {demand.action for demand in demands if isinstance(demand, StandIn)}
    due = [number for number, action in enumerate(anatomy.actions) if action.id not in optional]
    if not due:
        raise NothingLeft("no action is due whatever happens")
    sentence = Sentence((Duty((choosing.dice.pick(due),)),))
    return Worded(sentence, draw_words(sentence, choosing.draw))
