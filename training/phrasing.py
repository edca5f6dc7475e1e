"""Says ordering sentences in more ways than misstep's own lexicon does.

A model that has seen eight ways to say "before" knows those eight. These are more, none of them kept back,
some of them in worse English than misstep would ever write: they are for reading only.
"""

import msgspec

from misstep.core.case import Case
from misstep.core.dice import Dice
from misstep.planning.language.rendering import write
from misstep.planning.language.skeletons import read_skeleton
from misstep.planning.language.wording import Option, Words

RATE = 0.45  # of the slots for which there are more phrases

# By a phrase of the lexicon in the same slot: verbs with their plural where it differs.
MORE: dict[str, tuple[str, ...]] = {
    "precedes": (
        "is followed by|are followed by",
        "is succeeded by|are succeeded by",
        "has to be followed by|have to be followed by",
        "must be followed later by",
        "is later followed by|are later followed by",
        "is followed sooner or later by|are followed sooner or later by",
        "will be succeeded by",
        "is ahead of|are ahead of",
        "ought to precede",
        "should precede",
        "should come before",
        "is due before|are due before",
        "has to be done before|have to be done before",
        "must be finished before",
        "is scheduled before|are scheduled before",
        "has to be complete before|have to be complete before",
        "comes earlier than|come earlier than",
        "paves the way for|pave the way for",
        "is needed before|are needed before",
    ),
    "follows": (
        "must be preceded by",
        "has to be preceded by|have to be preceded by",
        "is preceded earlier by|are preceded earlier by",
        "is preceded sooner or later by|are preceded sooner or later by",
        "will be preceded by",
        "succeeds|succeed",
        "ought to follow",
        "should follow",
        "should come after",
        "is due after|are due after",
        "must wait for",
        "waits for|wait for",
        "depends on|depend on",
        "has to be done after|have to be done after",
        "is scheduled after|are scheduled after",
        "comes behind|come behind",
        "builds on|build on",
        "requires|require",
    ),
    "must take place": (
        "should take place",
        "ought to happen",
        "gets done|get done",
        "is performed|are performed",
        "is executed|are executed",
        "is due|are due",
        "has to be done|have to be done",
        "is scheduled|are scheduled",
        "will be held",
        "is meant to happen|are meant to happen",
    ),
    "takes place": (
        "gets done|get done",
        "is performed|are performed",
        "is executed|are executed",
        "starts|start",
        "begins|begin",
        "is held|are held",
        "goes ahead|go ahead",
    ),
    "prior to": (
        "previous to",
        "preceding",
        "in the run-up to",
        "some time ahead of",
        "well before",
        "any time before",
        "at any time prior to",
        "at an earlier point than",
        "at an earlier stage than",
        "sooner than",
        "in preparation for",
        "at some stage before",
        "earlier on than",
    ),
    "subsequent to": (
        "following",
        "behind",
        "in the wake of",
        "well after",
        "any time after",
        "at a later point than",
        "at a later stage than",
        "at some stage after",
        "at any moment after",
        "some time after",
        "further on than",
        "at a moment after",
    ),
    "before the time at which": (
        "well before",
        "some time before",
        "at some stage before",
        "at a moment before",
        "at any point before",
        "earlier than the moment when",
    ),
    "after the time at which": (
        "once",
        "as soon as",
        "well after",
        "some time after",
        "at some stage after",
        "at a moment after",
        "at any point after",
        "later than the moment when",
    ),
    "sometime before": ("well before", "some time before", "at some stage before", "at any point before"),
    "sometime after": ("well after", "some time after", "at some stage after", "at any point after"),
}


class MoreWords(Words):
    """Draws from the lexicon or from what is added to it."""

    def __init__(self, dice: Dice) -> None:
        super().__init__(dice, "seen")
        self._more_dice = dice

    def draw(self, options: tuple[Option, ...]) -> Option:
        known = {option.one for option in options}
        found = next((more for phrase, more in MORE.items() if phrase in known), None)
        if found is None or not self._more_dice.chance(RATE):
            return super().draw(options)
        one, _, many = self._more_dice.pick(found).partition("|")
        return Option(one, many or one, (one,))


def reworded(case: Case, dice: Dice) -> Case:
    """The same problem, its sentences said anew."""
    paragraph = read_skeleton(case.skeleton, case.constraints)
    sentences = write(paragraph, [action.name for action in case.actions], MoreWords(dice))
    query = case.query
    for old, new in zip(case.sentences, sentences, strict=True):
        query = query.replace(old, new, 1)
    return msgspec.structs.replace(case, query=query, sentences=sentences)
