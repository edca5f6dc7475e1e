"""Gives the actions of a problem names that nobody has heard of.

The shipped topics have a thousand activities, far too few to learn what a name is: a model would know them by
heart. So most problems get names made of words that the tokenizer knows, whatever they mean. Words that are found
only in topics that are kept back are never among them, nor are those that the language of the problems needs.
"""

import re
from collections.abc import Sequence

import msgspec

from misstep.core.case import Case
from misstep.core.dice import Dice
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.parts import topics_of
from misstep.planning.language.topics import load_topics

_WORD = re.compile("[a-z]{3,12}")
ALIKE = 0.35  # of the problems have names out of a few words, so that they are easily confused
FEW = 9


def known_words(vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Words that may stand in names, out of a tokenizer's vocabulary, in which `Ġ` is a space."""
    words = {token[1:] for token in vocabulary if token.startswith("Ġ") and _WORD.fullmatch(token[1:])}
    return tuple(sorted(words - _of_the_language() - _kept_back()))


def rename(case: Case, words: Sequence[str], dice: Dice) -> Case:
    """The same problem on actions with other names."""
    everyone = (*case.actions, *case.distractors)
    names = invent(len(everyone), words, dice)
    old = {action.name: new for action, new in zip(everyone, names, strict=True)}
    tools = {action.tool: new.replace(" ", "_") for action, new in zip(everyone, names, strict=True)}
    changes = old | tools
    longest_first = sorted(changes, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
    text = msgspec.json.encode(case).decode()
    return msgspec.json.decode(pattern.sub(lambda found: changes[found[0]], text), type=Case)


def invent(count: int, words: Sequence[str], dice: Dice) -> list[str]:
    """So many different names of two to four words."""
    pool = dice.sample(words, FEW) if dice.chance(ALIKE) else words
    names = dict[str, None]()
    while len(names) < count:
        length = 2 + dice.chance(0.4) + dice.chance(0.1)
        names[" ".join([dice.pick(pool) for _ in range(length)])] = None
    return list(names)


def _of_the_language() -> set[str]:
    return set(_WORD.findall(msgspec.json.encode(load_lexicon()).decode().lower()))


def _kept_back() -> set[str]:
    """Words of topics that no training has seen, unless others have them too."""
    return _words_of(topics_of("unseen")) - _words_of(topics_of("seen"))


def _words_of(names: Sequence[str]) -> set[str]:
    topics = [load_topics()[name] for name in names]
    return {word for topic in topics for text in (topic.role, *topic.activities) for word in text.split()}
