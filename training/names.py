"""Replaces the names of actions in a conversation with random ones.

The shipped topics have a thousand activities, few enough for a model to memorise. So in most conversations,
actions, values and findings are named after random words of the tokenizer. Words that occur only in held-out
topics are not used, nor are words that the language of the problems needs.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from misstep.core.case import Case
from misstep.core.constraint import Condition, Handover
from misstep.core.model import Chat
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.parts import topics_of

_WORD = re.compile("[a-z]{3,12}")
ALIKE = 0.35  # share of conversations with names from a few words only, which are easily confused
FEW = 9


class Words:
    """Words that may be used in names, from a tokenizer's vocabulary, in which `Ġ` is a space."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        known = {token[1:] for token in vocabulary if token.startswith("Ġ") and _WORD.fullmatch(token[1:])}
        self.all = sorted(known - _of_the_language() - _kept_back())
        self._by_article = {
            article: [word for word in self.all if (word[0] in "aeiou") == (article == "an")]
            for article in ("a", "an")
        }

    def noun(self, old: str, dice: Dice) -> str:
        """As many words as `old` has, with the same article."""
        first = dice.pick(self._by_article["an" if old[0] in "aeiou" else "a"])
        return " ".join([first, *[dice.pick(self.all) for _ in old.split()[1:]]])


def rename(chat: Chat, case: Case, words: Words, dice: Dice) -> Chat:
    """The same conversation with other names."""
    everyone = (*case.actions, *case.distractors)
    names = _invent(len(everyone), words.all, dice)
    changes = {action.name: name for action, name in zip(everyone, names, strict=True)}
    changes |= {noun: words.noun(noun, dice) for noun in _things(case)}
    changes |= {old.replace(" ", "_"): new.replace(" ", "_") for old, new in changes.items()}
    longest_first = sorted(changes, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
    text = msgspec.json.encode(chat).decode()
    return msgspec.json.decode(pattern.sub(lambda found: changes[found[0]], text), type=Chat)


def _things(case: Case) -> Iterator[str]:
    """The names of values that are passed on, and of findings."""
    for constraint in case.constraints:
        if isinstance(constraint, Handover):
            yield constraint.parameter.replace("_", " ")
        elif isinstance(constraint, Condition):
            yield constraint.finding.partition(" ")[2]


def _invent(count: int, words: Sequence[str], dice: Dice) -> list[str]:
    """`count` different names of two to four words."""
    pool = dice.sample(words, FEW) if dice.chance(ALIKE) else words
    names = dict[str, None]()
    while len(names) < count:
        length = 2 + dice.chance(0.4) + dice.chance(0.1)
        names[" ".join([dice.pick(pool) for _ in range(length)])] = None
    return list(names)


def _of_the_language() -> set[str]:
    return set(_WORD.findall(msgspec.json.encode(load_lexicon()).decode().lower()))


def _kept_back() -> set[str]:
    """Words that occur only in held-out topics."""
    return _words_of(topics_of("unseen")) - _words_of(topics_of("seen"))


def _words_of(names: Sequence[str]) -> set[str]:
    topics = [load_topics()[name] for name in names]
    return {word for topic in topics for text in (topic.role, *topic.activities) for word in text.split()}
