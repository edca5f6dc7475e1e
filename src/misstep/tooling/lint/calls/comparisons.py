"""Values of a parameter that the code was seen to know while it was called."""

import re

from misstep.core.finding import Comparisons, Constant
from misstep.tooling.judging.runners import runs_what_it_is_given
from misstep.tooling.lint.calls.answers import answers_of
from misstep.tooling.lint.calls.crashes import want_of
from misstep.tooling.lint.code.comparisons import Compared
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

MOST = 30  # values of a collection that choices are made from; more are data
ENOUGH_TAKEN = 2  # values with which calls went well
ENOUGH_REFUSED = 3  # other values with which none did

# Names of what stands for a thing among many that come and go, rather than for a choice.
_THINGS = re.compile(
    r"(?:^|_)(?:ids?|name|key|path|file|filename|title|user|url|email|number)$", re.IGNORECASE
)
# Words of refusals that are about the world, or about how something is written.
_ELSEWHERE = re.compile(
    r"\bnot found\b|\bnot exist|n't exist|\bErrno\b|\bdenied\b|\balready\b|\bavailable\b|\bunable to\b"
    r"|\bfailed\b|\bcould(?: not|n't)\b|\bconnect|\bnetwork\b|\btime[ds]? ?out\b|\bauthori[sz]|\bcredential"
    r"|\bapi key\b|\bpars(?:e|ing)\b|\b\w*format\b|\bconver(?:t|sion)\b|\bsyntax|ConversionSyntax",
    re.IGNORECASE,
)


def values_seen(subject: Subject, part: Part) -> Compared:
    """What calls leave no doubt about.

    A collection that has a value which the schema offers has nothing but such values. Constants that stand
    alone prove something only where calls go well with them and with nothing else.
    """
    found = next((each for each in subject.compared if each.path == part.path), None)
    if found is None or runs_what_it_is_given(subject.described):
        return Compared()
    closed = _is_closed(found)
    known = dict.fromkeys([*_together(found, part), *(found.taken if closed else ())])
    if part.choices:
        offered = [_folded(each) for each in part.choices]
        return Compared(tuple(each for each in known if _folded(each) not in offered))
    return Compared(
        tuple(known), tuple(known) if closed and not _is_about_things(subject, part, found) else None
    )


def _together(found: Comparisons, part: Part) -> list[Constant]:
    """All but refused ones of a collection that has one which is taken, and offered where any are."""
    offered = [value for value in found.taken if value in (part.choices or found.taken)]
    small = [each for each in found.collections if len(each) <= MOST and any(one in offered for one in each)]
    return [value for each in small for value in each if value not in found.refused]


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _is_closed(found: Comparisons) -> bool:
    enough = len(found.taken) >= ENOUGH_TAKEN and len(found.others_refused) >= ENOUGH_REFUSED
    return enough and not found.others_taken and not found.more


def _is_about_things(subject: Subject, part: Part, found: Comparisons) -> bool:
    """Whether other values may only not be there at the moment, or not be written as they should."""
    if _THINGS.search(part.name):
        return True
    refused = [each for each in answers_of(subject) if each.values.get(part.path[0]) not in found.taken]
    return any(_ELSEWHERE.search(each.message) or want_of(each) for each in refused)
