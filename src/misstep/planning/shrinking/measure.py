"""How small and plain a problem is, so that making it smaller comes to an end."""

from collections.abc import Sequence
from typing import TypeAlias

from misstep.core.case import World
from misstep.planning.language.remarks import Neighbours, Repeated, Timed, TimedRelative
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Clause, Form, Group, Relative, Sentence, SubSentence
from misstep.planning.language.wording import Option
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.editing.cutting import actions_in
from misstep.planning.variation.phrasing import options_of

Measure: TypeAlias = tuple[int, ...]

# The plainest first: "A precedes B" takes the fewest words, and opening phrases turn their order round.
PLAINNESS: tuple[Form, ...] = (
    "verb",
    "preposition",
    "conjunction",
    "fronted preposition",
    "fronted conjunction",
)


def measure(anatomy: Anatomy) -> Measure:
    """Compared from left to right, smaller is smaller or plainer; nothing has endlessly many below it.

    What there is to do comes first, then what is demanded, then how it is said.
    """
    parts = [part for sentence in anatomy.paragraph for part in sentence.parts]
    relatives = [relative for part in parts for relative in _relatives_in(part)]
    announced = [(announcement.sentence, announcement.words) for announcement in anatomy.announcements]
    worded = [*zip(anatomy.paragraph, anatomy.words, strict=True), *announced]
    return (
        len(anatomy.actions),
        len(anatomy.distractors),
        len(anatomy.announced) + sum([_demands(part, anatomy) for part in parts]),
        _trouble(anatomy.world) + sum(map(_figure, parts)),
        len(relatives),
        sum([len(sentence.joins) for sentence in anatomy.paragraph]),
        sum([len(actions_in(part)) for part in parts]),
        len(anatomy.paragraph),
        sum(map(stiffness, [*parts, *relatives, *[sentence.parts[0] for sentence, _ in announced]])),
        sum([_rarity(sentence, words) for sentence, words in worded]),
    )


def _relatives_in(part: SubSentence) -> list[Relative | TimedRelative]:
    """The relative clauses of a sub-sentence, outer ones first."""
    return [*_hanging_on(part.subject), *_hanging_on(part.object)] if isinstance(part, Clause) else []


def stiffness(said: SubSentence | Relative | TimedRelative) -> int:
    """How far its form is from the plainest of its kind."""
    match said:
        case Clause(form=form) | Relative(form=form) | Neighbours(form=form):
            return PLAINNESS.index(form)
        case Timed(form=form):
            return int(form != "verb")
        case _:
            return 0


def _hanging_on(group: Group) -> list[Relative | TimedRelative]:
    relative = group.relative
    if relative is None:
        return []
    return [relative, *(_hanging_on(relative.object) if isinstance(relative, Relative) else ())]


def _demands(part: SubSentence, anatomy: Anatomy) -> int:
    return len(constraints_of(Sentence((part,)), [action.id for action in anatomy.actions], 0))


def _trouble(world: World) -> int:
    """What goes wrong in a world, and how much of a day there is to plan."""
    return (world.day is not None) + world.attempts + sum(world.failures.values()) + len(world.broken)


def _figure(part: SubSentence) -> int:
    return part.times if isinstance(part, Repeated) else 0


def _rarity(sentence: Sentence, words: Sequence[Option]) -> int:
    """How far the phrases stand from the first of their lists."""
    offered = zip(options_of(sentence), words, strict=True)
    return sum([options.index(word) for options, word in offered])
