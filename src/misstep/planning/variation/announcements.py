"""The sentences that results announce, taken apart like those of the request."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from misstep.core.case import Action
from misstep.core.constraint import Before
from misstep.errors import UsageError
from misstep.planning.language.skeletons import shown
from misstep.planning.language.syntax import DIRECTIONS, FORMS, Clause, Group, Sentence
from misstep.planning.variation.phrasing import Drawn, find_words, say


class Announcement(msgspec.Struct, frozen=True):
    """What the result of the action `voice` adds to the request, with its words."""

    voice: str
    sentence: Sentence
    words: Drawn


def read_announcements(
    actions: Sequence[Action], announced: Sequence[Before], texts: Mapping[str, str]
) -> list[Announcement]:
    """The announcements of a case; a `UsageError` where one is not in misstep's own words."""
    ids, names = [action.id for action in actions], [action.name for action in actions]
    found = list[Announcement]()
    for voice in dict.fromkeys(said.announced for said in announced):
        pairs = [(ids.index(c.first), ids.index(c.then)) for c in announced if c.announced == voice]
        found.append(_read(voice, texts[voice], pairs, names))
    return found


def write_announcements(announcements: Iterable[Announcement], names: Sequence[str]) -> dict[str, str]:
    """What is announced, by its voice."""
    return {each.voice: say((each.sentence,), names, (each.words,))[0] for each in announcements}


def _read(voice: str, text: str, pairs: Sequence[tuple[int, int]], names: Sequence[str]) -> Announcement:
    firsts, thens = [tuple(dict.fromkeys(side)) for side in zip(*pairs, strict=True)]
    for form in FORMS:
        for direction in DIRECTIONS:
            subject, object_ = (firsts, thens) if direction == "<" else (thens, firsts)
            sentence = Sentence((Clause(form, direction, Group(subject), Group(object_)),))
            words = find_words(sentence, names, text)
            if words is not None:
                return Announcement(voice, sentence, words)
    raise UsageError(f"misstep has no words for {shown(text)}")
