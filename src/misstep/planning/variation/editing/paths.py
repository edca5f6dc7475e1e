"""Paths to the phrases of a sub-sentence, so that they can be kept when the sentence around them changes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

import msgspec

from misstep.planning.language.clarity import spoken_order
from misstep.planning.language.syntax import (
    Alternative,
    BudgetRemark,
    Clause,
    Conditional,
    Duty,
    End,
    Free,
    Giving,
    Group,
    HandOver,
    Limited,
    Neighbours,
    Relative,
    Remark,
    RepeatRemark,
    Replacing,
    Sentence,
    SubSentence,
    Timed,
    TimedRelative,
)
from misstep.planning.language.wording import Option
from misstep.planning.variation.phrasing import Drawn, draw_words

# The path from a sub-sentence to a phrase, e.g. ("subject", "relative", "linker").
Path: TypeAlias = tuple[str, ...]
Wording: TypeAlias = Mapping[Path, Option]


class Piece(msgspec.Struct, frozen=True):
    """A sub-sentence with its phrases; missing ones become the plainest phrase that fits."""

    part: SubSentence
    words: Wording


def paths(part: SubSentence) -> tuple[Path, ...]:
    """The paths to the phrases of a sub-sentence, in the order in which they are drawn."""
    match part:
        case Clause():
            return _clause_paths(part)
        case Free(subject):
            return (*_group_paths(subject, ("subject",)), ("verb",))
        case _:
            return tuple([(name,) for name in _remark_paths(part)])


def attribute(sentence: Sentence, words: Sequence[Option]) -> tuple[Piece, ...]:
    """The sub-sentences of a sentence, each with its own words."""
    left = iter(words)
    return tuple([Piece(part, {path: next(left) for path in paths(part)}) for part in sentence.parts])


def fill(sentence: Sentence, said: Sequence[Piece]) -> Drawn:
    """The words of a sentence: those of its sub-sentences if they fit, else the plainest."""
    return draw_words(
        sentence, _Filling([each.words.get(path) for each in said for path in paths(each.part)])
    )


class _Filling:
    """Gives every slot the wanted phrase, if it is one of those that fit."""

    def __init__(self, wanted: Iterable[Option | None]) -> None:
        self._wanted = iter(wanted)

    def draw(self, options: tuple[Option, ...]) -> Option:
        wanted = next(self._wanted)
        return wanted if wanted is not None and wanted in options else options[0]


def _clause_paths(clause: Clause) -> tuple[Path, ...]:
    """A linker stands before its object; a neutral verb stands directly after its subject."""
    subject, object_ = _group_paths(clause.subject, ("subject",)), _group_paths(clause.object, ("object",))
    if clause.form == "verb":
        return (*subject, ("order",), *object_)
    main = (*subject, ("verb",))
    verb: tuple[Path, ...] = (("object", "verb"),) if clause.form.endswith("conjunction") else ()
    one, other = spoken_order(clause.form, main, (("linker",), *object_, *verb))
    return (*one, *other)


def _group_paths(group: Group, at: Path) -> tuple[Path, ...]:
    relative = group.relative
    if relative is None:
        return ()
    inside = (*at, "relative")
    own = tuple([(*inside, name) for name in _relative_paths(relative)])
    if isinstance(relative, TimedRelative):
        return own
    return (*own, *_group_paths(relative.object, (*inside, "object")))


def _relative_paths(relative: Relative | TimedRelative) -> tuple[str, ...]:
    if isinstance(relative, TimedRelative):
        return ("edge", "linker")
    return ("order",) if relative.form == "verb" else ("verb", "linker")


def _remark_paths(remark: Remark) -> tuple[str, ...]:
    match remark:
        case Timed(form="verb"):
            return ("edge", "linker")
        case Timed():
            return ("linker", "edge")
        case Neighbours(form="preposition"):
            return ("verb", "linker")
        case Neighbours(form="fronted preposition"):
            return ("linker", "verb")
        case Neighbours() | End():
            return ("order",)
        case Alternative():
            return ("verb", "frame")
        case Conditional():
            last = "skip" if remark.otherwise is None else "other"
            if remark.form == "then first":
                return ("verb", "opener", "report", "otherwise", last)
            return ("opener", "report", "obligation", "otherwise", last)
        case RepeatRemark():
            return ("verb", "count")
        case Limited():
            return ("count", "frame")
        case Duty():
            return ("verb",)
        case BudgetRemark() | HandOver() | Replacing() | Giving():
            return ("frame",)
        case _:
            assert_never(remark)
